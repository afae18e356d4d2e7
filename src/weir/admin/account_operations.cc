// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/account_operations.h"

#include <fmt/format.h>

#include <utility>

#include "weir/admin/answers.h"
#include "weir/base/log.h"
#include "weir/config/scalars.h"
#include "weir/limit/ranges.h"
#include "weir/partners/fields.h"
#include "weir/partners/time_text.h"

namespace weir::admin {
namespace {

using accounts::Accounts;

constexpr Question::Numbers kCosts{.usual = 0, .least = 1, .most = limit::kMaxUnits};
constexpr nanoseconds kNow = std::chrono::seconds(60);

// A report, or a counter of one.
template <class T>
server::Answer answer_of(const Result<T>& found) {
  if (!found) return problem(found.error());
  server::Answer answer = json(200, {});
  answer.body = accounts::to_json(*found);
  return answer;
}

io::Task<server::Answer> inspect(Accounts& accounts, const Question& question) {
  const auto cost = question.number("cost", kCosts);
  if (!cost) co_return problem(400, "bad-parameter", "`cost` is a whole number above 0.");
  auto inspecting = accounts.inspect(question.names.front(), *cost);
  co_return answer_of(co_await inspecting);
}

// Whoever changes what is counted stands in the log, as those who change rows stand in the database: in JSON texts,
// which cannot look like other lines.
void audit(const Question& question, std::string_view what) {
  write_audit(fmt::format("account {} {} by {}", partners::compact(question.names.front()), what,
                          partners::compact(question.by)));
}

// What went wrong may have happened nevertheless.
void audit_failure(const Question& question, const std::string& what, const Error& error) {
  if (error.kind != ErrorKind::kInvalid) audit(question, what + ", without an answer of the store,");
}

io::Task<server::Answer> reset(Accounts& accounts, const Question& question) {
  auto resetting = accounts.reset(question.names.front());
  const auto existed = co_await resetting;
  if (!existed) {
    audit_failure(question, "reset", existed.error());
    co_return problem(existed.error());
  }
  audit(question, *existed ? "reset" : "reset, in which nothing was counted,");
  co_return json(200, {{"account", question.names.front()}, {"existed", *existed}});
}

Result<accounts::Return> return_of(const partners::Json& body) {
  partners::FieldReader fields(body);
  accounts::Return what{.counter = {.limit = fields.required("limit"),
                                    .endpoint = fields.text("endpoint"),
                                    .method = fields.text("method"),
                                    .shadow = fields.truth("shadow")},
                        .amount = fields.number("amount").value_or(0)};
  if (what.amount <= 0 || what.amount > limit::kMaxUnits) fields.fault("amount", "is a whole number above 0");
  partners::Faults faults = fields.take_faults();
  for (partners::Fault& fault : faults) fault.row = "what is given back";
  if (!faults.empty()) return invalid(to_text(faults));
  return what;
}

io::Task<server::Answer> give_back(Accounts& accounts, const Question& question) {
  auto what = return_of(question.body);
  if (!what) co_return problem(what.error());
  const std::string text =
      fmt::format("given back {} by limit {}", what->amount, partners::compact(what->counter.limit));
  auto giving = accounts.give_back(question.names.front(), *std::move(what));
  const auto counter = co_await giving;
  if (counter) {
    audit(question, text);
  } else {
    audit_failure(question, text, counter.error());
  }
  co_return answer_of(counter);
}

partners::Json json_of(const accounts::RefusedAccount& one) {
  partners::Json json{
      {"limit", one.limit}, {"account", one.account}, {"shadow", one.shadow}, {"refused", one.refused}};
  json["first"] = partners::time_text(one.first);
  json["last"] = partners::time_text(one.last);
  json["until"] = one.until ? partners::Json(partners::time_text(*one.until)) : partners::Json();
  return json;
}

bool is_asked_for(const accounts::RefusedAccount& one, const Question& question) {
  const std::string &limit = question.parameter("limit"), &shadow = question.parameter("shadow");
  return (limit.empty() || limit == one.limit) && (shadow.empty() || (shadow == "true") == one.shadow);
}

io::Task<server::Answer> list_limited(const RefusedSince& refused, const Question& question, WallTime now) {
  const std::string& text = question.parameter("within");
  const auto within = text.empty() ? config::Parsed<nanoseconds>(kNow) : config::parse_duration(text);
  if (!within) co_return problem(400, "bad-parameter", "within: " + within.error().message);
  partners::Json items = partners::Json::array();
  for (const accounts::RefusedAccount& one : refused(now - *within)) {
    if (is_asked_for(one, question)) items.push_back(json_of(one));
  }
  co_return json(200, {{"items", std::move(items)}});
}

}  // namespace

void add_account_operations(Operations& operations, Accounts& accounts) {
  using Body = Operations::Body;
  const std::string one = "/v1/accounts/{account}";
  operations.add({"GET", one, {"cost"}, Body::kNone, [&accounts](const Question& question) {
                    return inspect(accounts, question);
                  }});
  operations.add(
      {"DELETE", one, {}, Body::kNone, [&accounts](const Question& question) { return reset(accounts, question); }});
  operations.add({"POST", one + "/give-back", {}, Body::kObject, [&accounts](const Question& question) {
                    return give_back(accounts, question);
                  }});
}

void add_limited_operation(Operations& operations, RefusedSince refused, const Clock& clock) {
  operations.add({"GET",
                  "/v1/limited",
                  {"within", "limit", "shadow"},
                  Operations::Body::kNone,
                  [refused = std::move(refused), &clock](const Question& question) {
                    return list_limited(refused, question, clock.wall());
                  }});
}

}  // namespace weir::admin
