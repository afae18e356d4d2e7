// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/rate_limit_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "weir/http/structured_fields.h"

namespace weir::gateway {
namespace {

using http::FieldId;

constexpr std::size_t kMostShown = 8;
constexpr limit::Ticks kTicksPerSecond = 1'000'000'000;
constexpr std::int64_t kMostOnWire = 999'999'999'999'999;  // an Integer of Structured Fields
constexpr std::int64_t kLeastEpoch = 1'000'000'000;        // smaller reset values are seconds from now

constexpr std::uint64_t bit(FieldId id) { return std::uint64_t{1} << static_cast<unsigned>(id); }

constexpr std::array kXIds{FieldId::kXRateLimitLimit, FieldId::kXRateLimitRemaining, FieldId::kXRateLimitReset};
constexpr std::array kLegacyIds{FieldId::kRateLimitLimit, FieldId::kRateLimitRemaining, FieldId::kRateLimitReset};
constexpr std::uint64_t kXBits = bit(kXIds[0]) | bit(kXIds[1]) | bit(kXIds[2]);
constexpr std::uint64_t kLegacyBits = bit(kLegacyIds[0]) | bit(kLegacyIds[1]) | bit(kLegacyIds[2]);
constexpr std::uint64_t kStructuredBits = bit(FieldId::kRateLimit) | bit(FieldId::kRateLimitPolicy);

std::int64_t ceil_seconds(limit::Ticks ticks) { return (ticks + kTicksPerSecond - 1) / kTicksPerSecond; }

template <std::size_t N>
void append_line(Text& out, const char (&name)[N], std::int64_t value) {
  out.append(name).number(value).append("\r\n");
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + '"';
}

// A rate as units per whole seconds, exact where the numbers allow it: 10 per 100 ms is 100 per second.
std::pair<std::int64_t, std::int64_t> whole_seconds(const config::Rate& rate) {
  const std::int64_t period = rate.period.count();
  const std::int64_t scale = kTicksPerSecond / std::gcd(period, kTicksPerSecond);
  const auto units = static_cast<__int128>(rate.count) * scale;
  const std::int64_t window = period / std::gcd(period, kTicksPerSecond);
  const std::int64_t shrink = std::gcd(static_cast<std::int64_t>(std::min<__int128>(units, kMostOnWire)), window);
  if (units > kMostOnWire)
    return {std::min(rate.count, kMostOnWire), std::max<std::int64_t>(1, ceil_seconds(period))};
  // 5 per 500 ms is 10 per second; 20 per minute stays 20 per minute.
  const std::int64_t factor = scale == 1 ? 1 : shrink;
  return {static_cast<std::int64_t>(units) / factor, window / factor};
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// All lines of a field joined as RFC 9110 section 5.3 says.
std::string joined(const http::ResponseHead& head, FieldId id) {
  std::string out;
  for (const http::Field& field : head.fields) {
    if (field.id != id) continue;
    if (!out.empty()) out += ", ";
    out += head.value(field);
  }
  return out;
}

bool is_amount(const http::sf::BareItem* value) {
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return number != nullptr && *number >= 0;
}

// The members of an upstream's RateLimit or RateLimit-Policy; nothing when one of them is not named by a String or
// lacks its amount (`r` or `q`), because then the whole field counts as absent.
http::sf::List named_items(const http::ResponseHead& head, FieldId id) {
  const std::string_view amount = id == FieldId::kRateLimit ? "r" : "q";
  auto list = http::sf::parse_list(joined(head, id));
  if (!list) return {};
  const bool usable = std::ranges::all_of(*list, [&](const http::sf::Member& member) {
    const auto* item = std::get_if<http::sf::Item>(&member);
    return item != nullptr && std::holds_alternative<std::string>(item->value) && is_amount(item->parameter(amount));
  });
  return usable ? *list : http::sf::List{};
}

bool names(const http::sf::List& list, std::string_view quoted) {
  return std::ranges::any_of(list, [&](const http::sf::Member& member) {
    return quoted_name(std::get<std::string>(std::get<http::sf::Item>(member).value)) == quoted;
  });
}

// `item`, which begins with the name `quoted`; prefixed by gw- until no name of the upstream is the same.
std::string renamed(std::string item, std::string quoted, const http::sf::List& policies,
                    const http::sf::List& limits) {
  for (; names(policies, quoted) || names(limits, quoted); item.insert(1, "gw-")) quoted.insert(1, "gw-");
  return item;
}

}  // namespace

std::int64_t wire_seconds(limit::Ticks ticks) { return std::max<std::int64_t>(1, ceil_seconds(ticks)); }

class RateLimitFields::Shown {
 public:
  Shown(const RateLimitFields& fields, const decide::Decision& decision, WallTime now)
      : decided_at_(decision.wall), age_(std::max<limit::Ticks>(0, now.time_since_epoch().count() - decision.wall)) {
    for (const auto& outcome : decision.outcomes) {
      if (count_ < kMostShown && fields.prepared(outcome).advertise) outcomes_[count_++] = &outcome;
    }
  }
  bool empty() const { return count_ == 0; }
  // Durations of outcomes begin at the decision: this is what is left of one now, and when it ends.
  limit::Ticks left(limit::Ticks duration) const { return std::max<limit::Ticks>(0, duration - age_); }
  std::int64_t epoch_second(limit::Ticks duration) const { return ceil_seconds(decided_at_ + duration); }
  // Until one unit more; not after the time that a refused client is told to wait.
  std::optional<limit::Ticks> next_after(const limit::Outcome& outcome) const {
    if (!outcome.next_after) return std::nullopt;
    const bool waits = !outcome.admitted && outcome.retry_after.has_value();
    return left(waits ? std::min(*outcome.next_after, *outcome.retry_after) : *outcome.next_after);
  }
  const decide::LimitOutcome& binding() const { return *outcomes_[0]; }
  const decide::LimitOutcome* const* begin() const { return outcomes_.data(); }
  const decide::LimitOutcome* const* end() const { return outcomes_.data() + count_; }

  // In configuration order, which is the same on every answer of a route.
  Shown in_order() const {
    Shown sorted = *this;
    std::sort(sorted.outcomes_.begin(), sorted.outcomes_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const auto* a, const auto* b) { return a->limit < b->limit; });
    return sorted;
  }

 private:
  limit::Ticks decided_at_;
  limit::Ticks age_;
  std::array<const decide::LimitOutcome*, kMostShown> outcomes_;
  std::size_t count_ = 0;
};

RateLimitFields::RateLimitFields(const config::Responses& responses, const std::vector<policy::LimitInfo>& limits)
    : responses_(responses) {
  for (const policy::LimitInfo& info : limits) {
    PreparedLimit& limit = limits_.emplace_back();
    if (info.rows) {
      limit.info = &info;
      limit.met = std::make_unique<Memo<policy::VariantIndex, Prepared>>();
    }
    for (policy::VariantIndex i = 0; i < info.variants.size(); ++i) limit.variants.push_back(prepare(info, i));
  }
}

RateLimitFields::Prepared RateLimitFields::prepare(const policy::LimitInfo& info, policy::VariantIndex variant) {
  const limit::Limit& limit = info.variant(variant);
  const config::Rate rate = info.rate(variant);
  Prepared prepared{.advertise = info.advertise,
                    .quoted = quoted_name(info.name),
                    .policy_item = {},
                    .legacy_item = {},
                    .capacity = limit.capacity(),
                    .calendar = {}};
  const auto write = [&](std::string_view shared, std::string_view structured = {}) {
    prepared.legacy_item = shared;
    prepared.policy_item = fmt::format("{};q={}{}", prepared.quoted, shared, structured);
  };
  if (limit.holds<limit::Concurrency>()) {
    write(fmt::format("{}", rate.count), ";qu=\"concurrent-requests\"");
  } else if (const auto* quota = std::get_if<limit::CalendarQuota>(&limit.algorithm())) {
    prepared.calendar = quota->calendar();
    write(fmt::format("{}", rate.count));
  } else if (limit.holds<limit::TokenBucket>() || limit.holds<limit::LeakyBucket>()) {
    const auto [quota_units, window] = whole_seconds(rate);
    const bool bursts = prepared.capacity != quota_units;
    write(fmt::format("{};w={}", quota_units, window),
          bursts ? fmt::format(";weir-burst={}", prepared.capacity) : std::string());
  } else {
    write(fmt::format("{};w={}", rate.count, wire_seconds(rate.period.count())));
  }
  return prepared;
}

void RateLimitFields::append_policy(Text& out, const Prepared& one, std::string_view item, WallTime now) {
  out.append(item);
  if (!one.calendar) return;
  const auto period = one.calendar->period_of(now.time_since_epoch().count() / kTicksPerSecond);
  out.append(";w=").number(period.end - period.start);
}

bool RateLimitFields::emits(const Shown& shown, int status) const {
  if (shown.empty() || responses_.merge == config::Merge::kOff) return false;
  // A client might wait before it follows the redirect.
  return status < 300 || status > 399 || shown.binding().outcome.remaining > 0;
}

RateLimitFields::Triple RateLimitFields::triple(const Shown& shown, bool epoch) const {
  const limit::Outcome& outcome = shown.binding().outcome;
  Triple triple{prepared(shown.binding()).capacity, outcome.remaining, 0};
  if (epoch) {
    triple.reset = shown.epoch_second(outcome.reset_after);
  } else {
    const limit::Ticks left = shown.left(outcome.reset_after);
    triple.reset = outcome.admitted ? ceil_seconds(left) : wire_seconds(left);
  }
  return triple;
}

void RateLimitFields::append_structured(Text& out, const Shown& shown, WallTime now) const {
  out.append("RateLimit-Policy: ");
  std::string_view separator;
  for (const auto* outcome : shown.in_order()) {
    out.append(separator);
    append_policy(out, prepared(*outcome), prepared(*outcome).policy_item, now);
    separator = ", ";
  }
  out.append("\r\nRateLimit: ");
  separator = {};
  for (const auto* outcome : shown) {
    out.append(separator).append(prepared(*outcome).quoted).append(";r=");
    out.number(outcome->outcome.remaining);
    if (const auto next = shown.next_after(outcome->outcome)) {
      out.append(";t=");
      out.number(wire_seconds(*next));
    }
    separator = ", ";
  }
  out.append("\r\n");
}

void RateLimitFields::append_legacy(Text& out, const Shown& shown) const {
  const Triple numbers = triple(shown, /*epoch=*/false);
  append_line(out, "RateLimit-Limit: ", numbers.limit);
  append_line(out, "RateLimit-Remaining: ", numbers.remaining);
  append_line(out, "RateLimit-Reset: ", numbers.reset);
}

// `theirs`: further items, or nothing.
void RateLimitFields::append_legacy_policy(Text& out, const Shown& shown, std::string_view theirs,
                                           WallTime now) const {
  out.append("RateLimit-Policy: ");
  std::string_view separator;
  for (const auto* outcome : shown.in_order()) {
    out.append(separator);
    append_policy(out, prepared(*outcome), prepared(*outcome).legacy_item, now);
    separator = ", ";
  }
  if (!theirs.empty()) out.append(separator).append(theirs);
  out.append("\r\n");
}

void RateLimitFields::append_ratelimit(Text& out, const Shown& shown, WallTime now) const {
  if (responses_.ratelimit == config::RateLimitFields::kStructured) append_structured(out, shown, now);
  if (responses_.ratelimit != config::RateLimitFields::kLegacy) return;
  append_legacy(out, shown);
  append_legacy_policy(out, shown, {}, now);
}

void RateLimitFields::append_x(Text& out, const Shown& shown) const {
  const Triple numbers = triple(shown, responses_.reset == config::ResetFormat::kEpoch);
  append_line(out, "X-RateLimit-Limit: ", numbers.limit);
  append_line(out, "X-RateLimit-Remaining: ", numbers.remaining);
  append_line(out, "X-RateLimit-Reset: ", numbers.reset);
}

void RateLimitFields::append(Text& out, const decide::Decision& decision, int status, WallTime now) const {
  const Shown shown(*this, decision, now);
  if (!emits(shown, status)) return;
  append_ratelimit(out, shown, now);
  if (responses_.x_ratelimit) append_x(out, shown);
}

std::uint64_t RateLimitFields::replaced(const decide::Decision& decision, const http::ResponseHead& upstream) const {
  const std::uint64_t present = upstream.known & (kXBits | kLegacyBits | kStructuredBits);
  if (present == 0 || responses_.merge == config::Merge::kKeep) return 0;
  if (!emits(Shown(*this, decision, {}), upstream.status)) return 0;
  if (responses_.merge == config::Merge::kReplace) return present;
  std::uint64_t ours = responses_.x_ratelimit ? kXBits : 0;
  if (responses_.ratelimit != config::RateLimitFields::kOff) ours |= kLegacyBits | kStructuredBits;
  return present & ours;
}

void RateLimitFields::merge_structured(Text& out, const Shown& shown, const http::ResponseHead& upstream,
                                       WallTime now) const {
  const auto policies = named_items(upstream, FieldId::kRateLimitPolicy);
  const auto limits = named_items(upstream, FieldId::kRateLimit);
  const auto theirs = [](const http::sf::List& list) {
    return list.empty() ? std::string() : ", " + http::sf::serialize(list).value_or("");
  };
  std::string_view separator = "RateLimit-Policy: ";
  for (const auto* outcome : shown.in_order()) {
    const Prepared& one = prepared(*outcome);
    out.append(std::exchange(separator, ", "));
    append_policy(out, one, renamed(one.policy_item, one.quoted, policies, limits), now);
  }
  std::string ours;
  for (const auto* outcome : shown) {
    const Prepared& one = prepared(*outcome);
    ours += fmt::format("{}{};r={}", ours.empty() ? "" : ", ", renamed(one.quoted, one.quoted, policies, limits),
                        outcome->outcome.remaining);
    if (const auto next = shown.next_after(outcome->outcome)) ours += fmt::format(";t={}", wire_seconds(*next));
  }
  out.append(theirs(policies)).append("\r\nRateLimit: ").append(ours).append(theirs(limits)).append("\r\n");
}

// One triple survives as a whole: the one with less remaining; on a tie the later reset.
void RateLimitFields::merge_triple(Text& out, const Shown& shown, const http::ResponseHead& upstream, bool x_family,
                                   WallTime now) const {
  const auto& ids = x_family ? kXIds : kLegacyIds;
  std::array<std::optional<std::int64_t>, 3> theirs;
  for (std::size_t i = 0; i < ids.size(); ++i) theirs[i] = integer(joined(upstream, ids[i]));
  const Triple ours = triple(shown, /*epoch=*/true);
  bool upstream_wins = theirs[0] && theirs[1] && theirs[2] && *theirs[1] <= ours.remaining;
  if (upstream_wins && *theirs[1] == ours.remaining) {
    const std::int64_t epoch =
        *theirs[2] >= kLeastEpoch ? *theirs[2] : ceil_seconds(now.time_since_epoch().count()) + *theirs[2];
    upstream_wins = epoch > ours.reset;
  }
  if (upstream_wins) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      out.append(http::field_name(ids[i])).append(": ").number(*theirs[i]).append("\r\n");
    }
  } else if (x_family) {
    append_x(out, shown);
  } else if (responses_.ratelimit == config::RateLimitFields::kLegacy) {
    append_legacy(out, shown);
  }
}

void RateLimitFields::merge_ratelimit(Text& out, const Shown& shown, const http::ResponseHead& upstream,
                                      WallTime now) const {
  const bool structured = responses_.ratelimit == config::RateLimitFields::kStructured;
  if (structured) merge_structured(out, shown, upstream, now);
  if (responses_.ratelimit == config::RateLimitFields::kLegacy) {
    // Items of the other syntax, which have the same field name, do not fit in here.
    const std::string theirs = joined(upstream, FieldId::kRateLimitPolicy);
    const bool fits = http::sf::parse_list(theirs) && named_items(upstream, FieldId::kRateLimitPolicy).empty();
    append_legacy_policy(out, shown, fits ? std::string_view(theirs) : std::string_view{}, now);
  }
  if (!structured || (upstream.known & kLegacyBits) != 0) merge_triple(out, shown, upstream, /*x_family=*/false, now);
}

void RateLimitFields::append_merged(Text& out, const decide::Decision& decision, const http::ResponseHead& upstream,
                                    WallTime now) const {
  const std::uint64_t present = upstream.known & (kXBits | kLegacyBits | kStructuredBits);
  if (present == 0 || responses_.merge == config::Merge::kReplace) return append(out, decision, upstream.status, now);
  const Shown shown(*this, decision, now);
  if (!emits(shown, upstream.status)) return;
  const bool keep = responses_.merge == config::Merge::kKeep;  // ours only where the upstream has none
  if ((present & (kStructuredBits | kLegacyBits)) == 0) {
    append_ratelimit(out, shown, now);
  } else if (!keep && responses_.ratelimit != config::RateLimitFields::kOff) {
    merge_ratelimit(out, shown, upstream, now);
  }
  if (!responses_.x_ratelimit) return;
  if ((present & kXBits) == 0) {
    append_x(out, shown);
  } else if (!keep) {
    merge_triple(out, shown, upstream, /*x_family=*/true, now);
  }
}

void RateLimitFields::append_violated(Text& out, const decide::Decision& decision) const {
  std::string_view separator;
  for (const auto& outcome : decision.outcomes) {
    if (outcome.outcome.admitted) continue;
    out.append(separator).append(prepared(outcome).quoted);
    separator = ",";
  }
}

}  // namespace weir::gateway
