// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/gateway_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "weir/accounts/limit_text.h"
#include "weir/base/percent.h"
#include "weir/limit/ranges.h"

namespace weir::explain {
namespace {

using nlohmann::json;
using store::Foreseen;

constexpr std::size_t kLargest = 4U << 20;
constexpr auto kTime = std::chrono::seconds(3);
constexpr limit::Ticks kMilli = 1'000'000;

// Longer than anything of a limit takes (limit/ranges.h), and short enough to be added to.
constexpr std::int64_t kMostMillis = std::int64_t{100} * 366 * 86'400'000;
constexpr std::int64_t kMostUnits = 2 * limit::kMaxUnits;  // with a debt

// Members of an object that somebody else wrote. What is not as it has to be makes all of it wrong.
class Members {
 public:
  explicit Members(const json& object) : object_(object), right_(object.is_object()) {}

  bool right() const { return right_; }

  // Null: it is not there, or null.
  const json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  bool has(const char* name) const { return object_.is_object() && object_.contains(name); }

  std::optional<std::int64_t> number(const char* name, std::int64_t most) {
    const json* found = find(name);
    if (found == nullptr) return std::nullopt;
    const bool fits = found->is_number_unsigned() && found->get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
    right_ = right_ && fits;
    return fits ? std::optional(static_cast<std::int64_t>(found->get<std::uint64_t>())) : std::nullopt;
  }
  std::optional<limit::Ticks> ticks(const char* name) {
    const auto millis = number(name, kMostMillis);
    return millis ? std::optional(*millis * kMilli) : std::nullopt;
  }
  std::string text(const char* name) {
    const json* found = find(name);
    if (found == nullptr) return {};
    right_ = right_ && found->is_string();
    return found->is_string() ? found->get<std::string>() : std::string();
  }
  bool flag(const char* name) {
    const json* found = find(name);
    if (found == nullptr) return false;
    right_ = right_ && found->is_boolean();
    return found->is_boolean() && found->get<bool>();
  }
  // Absent, and wrong, unless it is a list.
  const json::array_t* list(const char* name) {
    const json* found = find(name);
    right_ = right_ && found != nullptr && found->is_array();
    return right_ ? found->get_ptr<const json::array_t*>() : nullptr;
  }
  // Which has to be there.
  template <class T>
  T needed(std::optional<T> value) {
    right_ = right_ && value.has_value();
    return value.value_or(T{});
  }

 private:
  const json& object_;
  bool right_;
};

// Of a report, the counter that a request would be counted by.
struct Search {
  bool right = true;
  const json* counter = nullptr;  // null: none that was used
};

bool is_counter(Members& counter, const CounterQuestion& question) {
  const policy::Finding& finding = question.finding;
  return counter.text("limit") == question.name && counter.flag("shadow") == finding.shadow &&
         counter.has("endpoint") == finding.by_endpoint && counter.text("endpoint") == finding.endpoint &&
         counter.text("method") == finding.method;
}

Search find_in_group(const json::array_t& counters, const CounterQuestion& question) {
  for (const json& one : counters) {
    Members counter(one);
    const bool found = is_counter(counter, question);
    if (!counter.right()) return {.right = false};
    if (found) return {.counter = &one};
  }
  return {};
}

Search find_counter(const json& report, const CounterQuestion& question) {
  const json::array_t* groups = Members(report).list("groups");
  if (groups == nullptr) return {.right = false};
  for (const json& one : *groups) {
    Members group(one);
    const json::array_t* counters = group.list("limits");
    const json::array_t* per = group.list("per");
    if (counters == nullptr || per == nullptr) return {.right = false};
    if (json(*per) != json(question.finding.per)) continue;
    const Search found = find_in_group(*counters, question);
    if (!found.right || found.counter != nullptr) return found;
  }
  return {};
}

// In place of what was computed from the peek, what the gateway says itself. False: it makes no sense.
bool take_asked(const json& counter, limit::Cost cost, limit::Cost capacity, limit::Outcome& asked) {
  const json* found = Members(counter).find("asked");
  if (found == nullptr) return true;
  Members answer(*found);
  if (answer.needed(answer.number("cost", kMostUnits)) != cost) return answer.right();
  asked.admitted = answer.flag("admitted");
  asked.retry_after = answer.ticks("retry_after_ms");
  asked.remaining = answer.needed(answer.number("remaining", capacity));
  asked.reset_after = answer.needed(answer.ticks("full_after_ms"));
  if (answer.has("next_after_ms")) asked.next_after = answer.ticks("next_after_ms");
  return answer.right();
}

std::optional<CounterAnswer> read_counter(const json& report, const CounterQuestion& question) {
  const limit::Cost cost = question.finding.cost;
  const Search found = find_counter(report, question);
  if (!found.right) return std::nullopt;
  const auto unused = [&] { return CounterAnswer{fresh(question.limit, question.wall, question.phase, cost)}; };
  if (found.counter == nullptr) return unused();
  Members counter(*found.counter);
  const bool never_used = counter.flag("never_used");
  if (never_used && counter.right()) return unused();
  const limit::Cost used = counter.needed(counter.number("used", kMostUnits));
  const limit::Cost remaining = counter.needed(counter.number("remaining", kMostUnits));
  const limit::Ticks full_after = counter.needed(counter.ticks("full_after_ms"));
  if (!counter.right()) return std::nullopt;
  const limit::Cost capacity = question.limit.capacity();
  const bool same_numbers = used + remaining == capacity;
  Foreseen foreseen;
  foreseen.seen = {.admitted = true,
                   .remaining = same_numbers ? remaining : std::max<limit::Cost>(0, capacity - used),
                   .retry_after = 0,
                   .reset_after = full_after,
                   .next_after = {}};
  const limit::Call call{.now = 0, .wall = question.wall, .phase = question.phase};
  foreseen.asked = store::foresee(question.limit, foreseen.seen, call, cost);
  if (same_numbers && !take_asked(*found.counter, cost, capacity, foreseen.asked)) return std::nullopt;
  const bool same_algorithm = question.algorithm.empty() || counter.text("algorithm") == question.algorithm;
  return CounterAnswer{foreseen, !same_algorithm || counter.text("numbers") != question.numbers};
}

CounterQuestion question_of(const policy::Finding& finding, const policy::LimitInfo& info, limit::Ticks wall,
                            std::uint64_t phase) {
  const limit::Limit& limit = info.variant(finding.variant);
  return {.finding = finding,
          .name = info.name,
          .limit = limit,
          .algorithm = info.rows == nullptr ? "" : accounts::algorithm_text(limit),
          .numbers = accounts::numbers_text(limit, info.rate(finding.variant)),
          .wall = wall,
          .phase = phase};
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

std::optional<CounterAnswer> read_counter(const std::string& report, const CounterQuestion& question) {
  const json parsed = json::parse(report, nullptr, /*allow_exceptions=*/false);
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
  estimated_.clear();
  std::vector<std::vector<Foreseen>> all;
  for (const AccountQuestion& question : questions) {
    auto& told = all.emplace_back();
    for (std::size_t i = 0; i < question.charges.size(); ++i) {
      const policy::Finding& finding = *question.findings[i];
      const auto report = ask(finding.account, finding.cost);
      if (!report) return std::unexpected(report.error());
      const policy::LimitInfo& info = *question.limits[i];
      const auto counter = read_counter(*report, question_of(finding, info, wall, question.account.phase));
      if (!counter) {
        return failure(fmt::format("counters cannot be read: what the gateway at {} says of limit {} makes no sense",
                                   admin_->address.text, info.name));
      }
      told.push_back(counter->foreseen);
      if (counter->other_numbers) estimated_ = info.name;
    }
  }
  return all;
}

SourceFacts GatewayCounters::source(const Error* failure) const {
  if (failure == nullptr) {
    const std::string estimate = fmt::format(
        "; limit {} has counted by other numbers last, which will be turned into those of this request", estimated_);
    return {"gateway",
            fmt::format("as the gateway at {} has them{}", admin_->address.text, is_exact() ? "" : estimate)};
  }
  return {"none", fmt::format("{}: the answer is that for accounts that were never used", failure->message)};
}

}  // namespace weir::explain
