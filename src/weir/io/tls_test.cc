// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "weir/io/testing/certificates.h"
#include "weir/io/tls_context.h"
#include "weir/io/tls_session.h"

namespace weir::io {
namespace {

std::string path_of(const std::string& name) {
  return ::testing::TempDir() + "weir-tls-" + std::to_string(::getpid()) + "-" + name;
}

TEST(TlsContext, TrustsTheSystemOrAFile) {
  EXPECT_TRUE(TlsContext::client({}));
  const std::string path = path_of("ca.pem");
  testing::Authority().write(path);
  const auto made = TlsContext::client({.ca_file = path, .verify = true});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE((*made)->verifies());
  ::unlink(path.c_str());
}

TEST(TlsContext, SaysWhyAFileCannotBeUsed) {
  const auto missing = TlsContext::client({.ca_file = "/nowhere/ca.pem"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(missing.error().message, "cannot use the certificates of /nowhere/ca.pem: No such file or directory");

  const std::string path = path_of("empty.pem");
  std::ofstream(path) << "nothing of the kind\n";
  const auto empty = TlsContext::client({.ca_file = path});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "cannot use the certificates of " + path + ": no certificate or crl found");
  EXPECT_EQ(ERR_peek_error(), 0U) << "nothing is left for whoever comes next";
  ::unlink(path.c_str());
}

TEST(TlsSession, BeginsWithAHelloThatNamesTheServer) {
  const auto context = TlsContext::client({});
  Buffer out;
  TlsSession named(**context, "redis.test.", out);
  EXPECT_EQ(named.handshake(), Transfer::kWouldBlock);
  EXPECT_TRUE(out.view().contains(std::string("\x00\x0aredis.test\x00", 13))) << "without the dot of the root";
  out.clear();
  TlsSession addressed(**context, "127.0.0.1", out);
  EXPECT_EQ(addressed.handshake(), Transfer::kWouldBlock);
  EXPECT_FALSE(out.view().contains("127.0.0.1")) << "RFC 6066, section 3";
}

TEST(TlsSession, RefusesNamesThatNothingCanBeVerifiedAgainst) {
  const auto strict = TlsContext::client({});
  const auto lax = TlsContext::client({.verify = false});
  for (const std::string& name : {std::string(), std::string("."), std::string(".test"), std::string("a\0b", 3)}) {
    Buffer out;
    TlsSession session(**strict, name, out);
    EXPECT_EQ(session.handshake(), Transfer::kBroken);
    EXPECT_TRUE(session.fault().starts_with("no certificate can be for the server name")) << session.fault();
    EXPECT_TRUE(out.empty());
  }
  Buffer out;
  EXPECT_EQ(TlsSession(**lax, "", out).handshake(), Transfer::kWouldBlock) << "where nothing is verified";
}

TEST(TlsSession, IsBrokenByWhatIsNotTls) {
  const auto context = TlsContext::client({});
  Buffer out;
  TlsSession session(**context, "redis.test", out);
  ASSERT_EQ(session.handshake(), Transfer::kWouldBlock);
  session.feed(std::string_view("-ERR unknown command\r\n"));
  EXPECT_EQ(session.handshake(), Transfer::kBroken);
  EXPECT_EQ(session.fault(), "TLS: wrong version number");
  EXPECT_EQ(session.handshake(), Transfer::kBroken) << "a second time too";
  std::array<char, 8> room;
  EXPECT_EQ(session.read(room).status, Transfer::kBroken);
  EXPECT_FALSE(session.write("x"));
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST(TlsSession, OutlivesTheContext) {
  Buffer out;
  auto context = TlsContext::client({});
  TlsSession session(**context, "redis.test", out);
  context->reset();
  EXPECT_EQ(session.handshake(), Transfer::kWouldBlock);
  EXPECT_FALSE(out.empty());
}

}  // namespace
}  // namespace weir::io
