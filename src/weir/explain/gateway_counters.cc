// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/gateway_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "weir/base/percent.h"

namespace weir::explain {
namespace {

using nlohmann::json;
using store::Foreseen;

constexpr std::size_t kLargest = 4U << 20;
constexpr auto kTime = std::chrono::seconds(3);
constexpr limit::Ticks kMilli = 1'000'000;

std::optional<std::int64_t> number(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<limit::Ticks> ticks(const json& object, const char* name) {
  const auto millis = number(object, name);
  return millis ? std::optional(*millis * kMilli) : std::nullopt;
}

std::string text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_counter(const json& counter, const CounterQuestion& question) {
  const policy::Finding& finding = question.finding;
  return counter.is_object() && text(counter, "limit") == question.name &&
         counter.value("shadow", json()) == json(finding.shadow) &&
         counter.contains("endpoint") == finding.by_endpoint && text(counter, "endpoint") == finding.endpoint &&
         text(counter, "method") == finding.method;
}

// Null: none that was used.
const json* find_counter(const json& report, const CounterQuestion& question) {
  for (const json& group : report.at("groups")) {
    if (group.value("per", json()) != json(question.finding.per)) continue;
    const auto limits = group.find("limits");
    if (limits == group.end()) continue;
    for (const json& counter : *limits) {
      if (is_counter(counter, question)) return &counter;
    }
  }
  return nullptr;
}

// In place of what was computed from the peek, what the gateway says itself.
void take_asked(const json& counter, limit::Cost cost, limit::Outcome& asked) {
  const auto found = counter.find("asked");
  if (found == counter.end() || !found->is_object() || number(*found, "cost") != cost) return;
  asked.admitted = found->value("admitted", json()) == json(true);
  asked.retry_after = ticks(*found, "retry_after_ms");
  asked.remaining = number(*found, "remaining").value_or(asked.remaining);
  asked.reset_after = ticks(*found, "full_after_ms").value_or(asked.reset_after);
  if (found->contains("next_after_ms")) asked.next_after = ticks(*found, "next_after_ms");
}

std::optional<Foreseen> read_counter(const json& report, const CounterQuestion& question) {
  const limit::Cost cost = question.finding.cost;
  const json* counter = find_counter(report, question);
  if (counter == nullptr || counter->value("never_used", json()) == json(true)) {
    return fresh(question.limit, question.wall, question.phase, cost);
  }
  const auto used = number(*counter, "used");
  const auto remaining = number(*counter, "remaining");
  const auto full_after = ticks(*counter, "full_after_ms");
  if (!used || !remaining || !full_after) return std::nullopt;
  const limit::Cost capacity = question.limit.capacity();
  const bool same_numbers = *used + *remaining == capacity;
  Foreseen foreseen;
  foreseen.seen = {.admitted = true,
                   .remaining = same_numbers ? *remaining : std::max<limit::Cost>(0, capacity - *used),
                   .retry_after = 0,
                   .reset_after = *full_after,
                   .next_after = {}};
  const limit::Call call{.now = 0, .wall = question.wall, .phase = question.phase};
  foreseen.asked = store::foresee(question.limit, foreseen.seen, call, cost);
  if (same_numbers) take_asked(*counter, cost, foreseen.asked);
  return foreseen;
}

// Where to connect to whoever listens on all addresses.
std::string authority_of(const config::Endpoint& address) {
  if (!address.unix_path.empty()) return "localhost";
  std::string host = address.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, address.port)
                                             : fmt::format("[{}]:{}", host, address.port);
}

std::unexpected<Error> failure(std::string message) {
  return std::unexpected(Error{ErrorKind::kUnavailable, Origin::kStore, std::move(message)});
}

}  // namespace

std::optional<Foreseen> read_counter(const std::string& report, const CounterQuestion& question) {
  const json parsed = json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object() || !parsed.contains("groups") || !parsed.at("groups").is_array()) return std::nullopt;
  return read_counter(parsed, question);
}

Result<std::string> GatewayCounters::ask(const std::string& account, limit::Cost cost) {
  const config::Endpoint& address = admin_->address;
  std::vector<std::string> fields;
  if (admin_->token) fields.push_back("Authorization: Bearer " + *admin_->token);
  std::string target = "/v1/accounts/" + percent_encoded(account);
  if (cost > 0) target += fmt::format("?cost={}", cost);
  auto answer = client_.get({authority_of(address), address.unix_path}, target, std::move(fields), kLargest, kTime);
  if (!answer) return failure(fmt::format("no gateway answers at {} ({})", address.text, answer.error().message));
  if (answer->status == 200) return std::move(answer->body);
  return failure(
      fmt::format("the gateway at {} answers {} when it is asked for an account", address.text, answer->status));
}

Result<std::vector<std::vector<Foreseen>>> GatewayCounters::look(std::span<const AccountQuestion> questions,
                                                                 limit::Ticks wall) {
  if (!admin_) return failure("the gateway has no admin listener that could be asked");
  std::vector<std::vector<Foreseen>> all;
  for (const AccountQuestion& question : questions) {
    auto& told = all.emplace_back();
    for (std::size_t i = 0; i < question.charges.size(); ++i) {
      const policy::Finding& finding = *question.findings[i];
      const auto report = ask(finding.account, finding.cost);
      if (!report) return std::unexpected(report.error());
      const policy::LimitInfo& info = *question.limits[i];
      const auto counter = read_counter(*report, {.finding = finding,
                                                  .name = info.name,
                                                  .limit = info.variant(finding.variant),
                                                  .wall = wall,
                                                  .phase = question.account.phase});
      if (!counter) return failure(fmt::format("the gateway does not say what limit {} has counted", info.name));
      told.push_back(*counter);
    }
  }
  return all;
}

SourceFacts GatewayCounters::source(const Error* failure) const {
  if (failure == nullptr) return {"gateway", fmt::format("as the gateway at {} has them", admin_->address.text)};
  return {"none", fmt::format("{}: the answer is that for accounts that were never used", failure->message)};
}

}  // namespace weir::explain
