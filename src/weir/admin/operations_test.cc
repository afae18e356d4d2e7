// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/operations.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "weir/base/percent.h"
#include "weir/http/parser.h"

namespace weir::admin {
namespace {

using Body = Operations::Body;

// Requests as they arrive, and what was understood of the last one.
class OperationsTest : public ::testing::Test {
 protected:
  OperationsTest() {
    add("GET", "/v1/partners/{name}", {"after"}, Body::kNone);
    add("PUT", "/v1/partners/{name}", {"dry_run"}, Body::kObject);
    add("POST", "/v1/import", {}, Body::kText);
    add("GET", "/v1/limits", {}, Body::kNone);
  }

  void add(const char* method, const char* path, std::vector<std::string> parameters, Body body) {
    const auto answer = [this](const Question& question) -> io::Task<server::Answer> {
      asked_ = question;
      co_return server::Answer{};
    };
    operations_.add({method, path, std::move(parameters), body, answer, /*conditional=*/body == Body::kObject});
  }

  server::Answer ask(const std::string& line, const std::string& fields = {}, const std::string& body = {}) {
    const std::string bytes = line + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    http::RequestParser parser{http::RequestRules{}};
    std::string padded = bytes;
    padded.resize(bytes.size() + 64);
    EXPECT_EQ(parser.parse(std::string_view(padded).substr(0, bytes.size())), http::Parsed::kComplete) << line;
    const server::Request request{parser.head(), body, body.size(), "192.0.2.1"};
    std::optional<server::Answer> answer;
    run(request, answer);
    return *std::move(answer);
  }
  int status(const std::string& line, const std::string& fields = {}, const std::string& body = {}) {
    return ask(line, fields, body).status;
  }

  Question asked_;

 private:
  io::Detached run(const server::Request& request, std::optional<server::Answer>& answer) {
    io::Task<server::Answer> task = operations_.answer(request);
    answer = co_await task;
  }

  Operations operations_;
};

constexpr const char* kJson = "Content-Type: application/json\r\n";

TEST_F(OperationsTest, NamesInThePathAreDecoded) {
  EXPECT_EQ(status("GET /v1/partners/a%2Fb%20c"), 200);
  EXPECT_EQ(asked_.names, std::vector<std::string>{"a/b c"});
  EXPECT_EQ(asked_.by, "admin API from 192.0.2.1");
}

TEST_F(OperationsTest, PathsThatAreNotThereAndMethodsThatAreNotServedAreTold) {
  EXPECT_EQ(status("GET /v1/partners"), 404);
  EXPECT_EQ(status("GET /v1/partners/"), 404);
  EXPECT_EQ(status("GET /v1/partners/a/b"), 404);
  EXPECT_EQ(status("GET /v1/partners/%zz"), 400);
  const server::Answer refused = ask("DELETE /v1/partners/a");
  EXPECT_EQ(refused.status, 405);
  const std::pair<std::string, std::string> allow("Allow", "GET, HEAD, PUT");
  EXPECT_NE(std::ranges::find(refused.fields, allow), refused.fields.end());
  EXPECT_EQ(status("HEAD /v1/partners/a"), 200);
}

TEST_F(OperationsTest, AParameterCountsOnceAndOnlyWhereItIsKnown) {
  EXPECT_EQ(status("GET /v1/partners/a?after=x%26y"), 200);
  EXPECT_EQ(asked_.parameter("after"), "x&y");
  EXPECT_EQ(asked_.parameter("dry_run"), "");
  EXPECT_EQ(status("GET /v1/partners/a?after=1&after=2"), 400);
  EXPECT_EQ(status("GET /v1/partners/a?dry_run=true"), 400);
  EXPECT_EQ(status("GET /v1/partners/a?after=%0"), 400);
  EXPECT_EQ(status("PUT /v1/partners/a?dry_run=yes", kJson, "{}"), 400);
  EXPECT_EQ(status("PUT /v1/partners/a?dry_run=true", kJson, "{}"), 200);
  EXPECT_TRUE(asked_.is_set("dry_run"));
}

TEST_F(OperationsTest, ABodyIsOneJsonObjectAndSaysSo) {
  EXPECT_EQ(status("PUT /v1/partners/a", kJson, R"({"note": "n"})"), 200);
  EXPECT_EQ(asked_.body["note"], "n");
  EXPECT_EQ(status("PUT /v1/partners/a", "Content-Type: text/plain\r\n", "{}"), 415);
  EXPECT_EQ(status("PUT /v1/partners/a", {}, "{}"), 415);
  EXPECT_EQ(status("PUT /v1/partners/a", kJson, "[]"), 400);
  EXPECT_EQ(status("PUT /v1/partners/a", kJson, "{\"a\":"), 400);
  EXPECT_EQ(status("GET /v1/limits", kJson, "{}"), 400);
  EXPECT_EQ(status("POST /v1/import", "Content-Type: application/yaml; charset=utf-8\r\n", "plans: []"), 200);
  EXPECT_EQ(asked_.text, "plans: []");
  EXPECT_EQ(status("POST /v1/import", "Content-Type: text/html\r\n", "plans: []"), 415);
}

TEST_F(OperationsTest, ConditionsAreRevisionsOrThatThereIsNone) {
  const std::string put = "PUT /v1/partners/a";
  EXPECT_EQ(status(put, std::string(kJson) + "If-Match: \"17\"\r\n", "{}"), 200);
  EXPECT_EQ(asked_.expected, 17);
  EXPECT_EQ(status(put, std::string(kJson) + "If-None-Match: *\r\n", "{}"), 200);
  EXPECT_EQ(asked_.expected, 0);
  EXPECT_EQ(status(put, kJson, "{}"), 200);
  EXPECT_EQ(asked_.expected, std::nullopt);
  for (const std::string wrong : {"17", "\"\"", "\"x\"", "W/\"17\"", "\"17\", \"18\"", "*", "\"-1\"", "\""}) {
    EXPECT_EQ(status(put, std::string(kJson) + "If-Match: " + wrong + "\r\n", "{}"), 400) << wrong;
  }
  EXPECT_EQ(status(put, std::string(kJson) + "If-None-Match: \"17\"\r\n", "{}"), 400);
  EXPECT_EQ(status(put, std::string(kJson) + "If-Match: \"17\"\r\nIf-Match: \"18\"\r\n", "{}"), 400);
  EXPECT_EQ(status("POST /v1/import", std::string(kJson) + "If-Match: \"17\"\r\n", "{}"), 400);
  EXPECT_EQ(status("GET /v1/partners/a", "If-None-Match: \"17\"\r\n"), 200);
}

TEST(EscapesTest, WhatIsEncodedIsDecodedAgain) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(decode(percent_encoded(all)), all);
  EXPECT_EQ(decode("%00"), std::nullopt);
  EXPECT_EQ(decode("%4"), std::nullopt);
}

}  // namespace
}  // namespace weir::admin
