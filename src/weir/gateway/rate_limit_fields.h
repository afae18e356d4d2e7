// SPDX-License-Identifier: Apache-2.0
//
// What a client is told about its limits: RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers-11, or the older three fields), X-RateLimit-*, Retry-After. All parts that
// do not change are written when a configuration is compiled; an answer costs copies and a few numbers.
// Thread safety: RateLimitFields is immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/memo.h"
#include "weir/base/text.h"
#include "weir/config/config.h"
#include "weir/decide/decision.h"
#include "weir/http/message.h"
#include "weir/limit/civil_calendar.h"
#include "weir/policy/policy.h"

namespace weir::gateway {

// Whole seconds for the wire: rounded up, at least 1.
std::int64_t wire_seconds(limit::Ticks ticks);

class RateLimitFields {
 public:
  // `limits` outlive this object.
  RateLimitFields(const config::Responses& responses, const std::vector<policy::LimitInfo>& limits);

  // Appends the fields of an answer that weir itself gives. `status` >= 300 and < 400 with nothing remaining: none.
  void append(Text& out, const decide::Decision& decision, int status, WallTime now) const;

  // Appends the fields of an upstream's answer, merged with what the upstream sent: one set, never looser than
  // either. Requires: the fields for which `replaces` is true are left out when the head is copied.
  void append_merged(Text& out, const decide::Decision& decision, const http::ResponseHead& upstream,
                     WallTime now) const;

  // A bit per FieldId that append_merged takes over from this answer; 0 for answers without such fields.
  std::uint64_t replaced(const decide::Decision& decision, const http::ResponseHead& upstream) const;

  // Of the limit behind an outcome.
  std::int64_t capacity(const decide::LimitOutcome& outcome) const { return prepared(outcome).capacity; }

  // Names of the refusing limits as the inside of a JSON array, the binding one first.
  void append_violated(Text& out, const decide::Decision& decision) const;

 private:
  struct Prepared {
    bool advertise = true;
    std::string quoted;       // "name" as a Structured Field String; JSON writes the same for these names
    std::string policy_item;  // "name";q=20;w=1
    std::string legacy_item;  // 20;w=1
    std::int64_t capacity = 0;
    std::optional<limit::CivilCalendar> calendar;  // the window is the period of now: `;w=` follows the items
  };
  // The limit that binds, as one triple.
  struct Triple {
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::int64_t reset = 0;
  };
  // The limits that are shown: the binding one first, at most kMostShown.
  class Shown;

  struct PreparedLimit {
    std::vector<Prepared> variants;
    const policy::LimitInfo* info = nullptr;  // with `rate: policies`: they are prepared when they are met
    std::unique_ptr<Memo<policy::VariantIndex, Prepared>> met;
  };

  const Prepared& prepared(const decide::LimitOutcome& outcome) const {
    const PreparedLimit& limit = limits_[outcome.limit];
    if (limit.info == nullptr) return limit.variants[outcome.variant];
    return limit.met->get(outcome.variant, [&] { return prepare(*limit.info, outcome.variant); });
  }
  bool emits(const Shown& shown, int status) const;
  Triple triple(const Shown& shown, bool epoch) const;
  static Prepared prepare(const policy::LimitInfo& info, policy::VariantIndex variant);
  // `item` of one limit, complete.
  static void append_policy(Text& out, const Prepared& one, std::string_view item, WallTime now);
  void append_structured(Text& out, const Shown& shown, WallTime now) const;
  void append_legacy(Text& out, const Shown& shown) const;
  void append_legacy_policy(Text& out, const Shown& shown, std::string_view theirs, WallTime now) const;
  void append_ratelimit(Text& out, const Shown& shown, WallTime now) const;
  void append_x(Text& out, const Shown& shown) const;
  void merge_structured(Text& out, const Shown& shown, const http::ResponseHead& upstream, WallTime now) const;
  void merge_ratelimit(Text& out, const Shown& shown, const http::ResponseHead& upstream, WallTime now) const;
  void merge_triple(Text& out, const Shown& shown, const http::ResponseHead& upstream, bool x_family,
                    WallTime now) const;

  config::Responses responses_;
  std::vector<PreparedLimit> limits_;  // by LimitIndex
};

}  // namespace weir::gateway
