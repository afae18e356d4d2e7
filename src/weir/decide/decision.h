// SPDX-License-Identifier: Apache-2.0
//
// The decision about one request: admitted or not, which limit binds, and every limit's outcome. Shadow limits are
// reported apart and influence nothing. Some limits are not done with their answer: the request may have to wait in
// line, it holds a place among those that run, or its true cost shows only in the answer; this is what is `held`.
// Thread safety: a plain value, reused from request to request.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/decide/lines.h"
#include "weir/limit/outcome.h"
#include "weir/policy/policy.h"

namespace weir::decide {

// How a decision was reached.
enum class Reached : std::uint8_t {
  kNoLimit,     // no enforced limit applies, or the caller is on the bypass list
  kEvaluated,   // the store answered
  kRemembered,  // a refusal of the shared store that holds still
  kAhead,       // what it takes was taken from the shared store in advance
  kMissing,     // a limit with `missing: refuse` lacks an attribute
  // The shared store did not answer, about one account at least; what the limits there say about that:
  kOpen,    // admit
  kLocal,   // this gateway's share decides
  kClosed,  // refuse
};

// The words for them in metrics and logs.
inline constexpr std::array<std::string_view, 8> kReachedWords{"no_limit", "evaluated", "remembered", "ahead",
                                                               "missing",  "open",      "local",      "closed"};
constexpr std::string_view word_of(Reached reached) { return kReachedWords[static_cast<std::size_t>(reached)]; }

// The shared store was to be asked, and was not or did not answer.
constexpr bool is_without_store(Reached reached) {
  return reached == Reached::kRemembered || reached == Reached::kAhead || reached >= Reached::kOpen;
}

struct LimitOutcome {
  policy::LimitIndex limit = 0;
  policy::VariantIndex variant = 0;
  std::uint16_t breadth = 0;  // as policy::ChargedLimit::breadth
  limit::Outcome outcome;
};

// A charge of an admitted request about which something is still to be done. It was taken from the shared store if
// `shared` is set, else from memory.
struct Held {
  store::MemoryStore::Kind kind;
  Fingerprint subject;
  std::shared_ptr<const store::RedisKind> shared;
  std::string name;  // of the account there
  std::uint64_t phase = 0;
  store::Charge charge;
  policy::LimitIndex limit = 0;
  bool shadow = false;
  const policy::LimitInfo* info = nullptr;
  limit::Cost taken = 0;                // what is charged now: the charge's cost, until it is settled
  limit::Ticks at = 0;                  // Outcome::at of the charge
  limit::Ticks starts_at = 0;           // of a queue, by its arithmetic; a place in a line may move
  limit::Ticks empty_at = 0;            // of a queue: when nobody waits any more, on the store's clock
  std::unique_ptr<Lines::Place> place;  // in a line of this process, while it waits

  const limit::Limit& rule() const { return info->variant(charge.variant); }
};

struct Decision {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool admitted = true;
  Reached reached = Reached::kNoLimit;
  // Enforced limits whose state is known, the binding one first, then configuration order; limits that are not
  // advertised bind, too. Refused: the limits of the account that refused, the refusing ones with outcome.admitted
  // == false. What was taken from accounts before it is given back, so their states are not in here.
  std::vector<LimitOutcome> outcomes;
  std::vector<LimitOutcome> shadow;  // configuration order within an account; empty after a refusal
  policy::LimitIndex missing = policy::Charges::kNone;  // of kMissing
  std::vector<limit::Outcome> room;                     // for what a store answers

  limit::LeaseId lease{};       // of the request, in all its concurrency limits
  std::vector<Held> held;       // empty after a refusal
  limit::Ticks renewal = 0;     // how often its leases are to be renewed; 0: it has none
  limit::Ticks decided_at = 0;  // on the monotonic clock
  limit::Ticks wall = 0;        // the same instant, since 1970: the durations of all outcomes begin at it
  bool settled = false;

  const LimitOutcome* binding() const { return outcomes.empty() ? nullptr : outcomes.data(); }
  // Of a refusal: the longest wait of the refusing limits; absent: no wait can help. 0 when admitted.
  std::optional<limit::Ticks> retry_after() const;
  // When the request may start: until then it waits in line. Never later than it was before.
  limit::Ticks starts_at() const;
  bool waits() const { return starts_at() > decided_at; }

  void clear();
};

}  // namespace weir::decide
