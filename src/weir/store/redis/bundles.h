// SPDX-License-Identifier: Apache-2.0
//
// Tokens that were taken in advance for accounts that are asked about often, and are spent here without asking. They
// were charged when the store granted them, so whoever spends them takes nothing from others.
//
// A bundle is for requests of one account that are charged alike. It comes in portions, the next of which is asked
// for before the last one is spent. Their size follows the requests: as many as came in the last tenth of a second,
// if that is often, and never more than this gateway may hold of a limit (RedisKind). What is not spent within a
// portion's life, or within the window that it was counted in, goes back; until the store has taken it back, or
// cannot do so any more, it counts as held.
//
// Lives begin before the store was asked, so that no delay of an answer makes them longer. Accounts beyond the most
// that are watched are asked about one by one. Thread safety: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/counter.h"
#include "weir/limit/outcome.h"
#include "weir/store/account.h"
#include "weir/store/redis/acquisition.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::store {

class Bundles {
 public:
  static constexpr nanoseconds kLife = std::chrono::milliseconds(300);
  // The store takes something back for so long after it was granted, by its own clock; and longer than the second
  // is not known here, since the instant of the grant may be by a gateway's clock, a second from the store's.
  static constexpr nanoseconds kReturnedWithin = std::chrono::seconds(3);
  static constexpr nanoseconds kUnknownFor = std::chrono::seconds(4);
  // How often sweep() is to be called while there is anything.
  static constexpr nanoseconds kSweep = std::chrono::milliseconds(100);

  // Requests whose charges were taken in advance, and what has become of them.
  struct Counters {
    OwnedCounter taken, spent, returned, lost;
    std::uint64_t held() const { return taken.value() - spent.value() - returned.value() - lost.value(); }
  };

  class Bundle;

  // What is to go back to the store.
  struct Rest {
    std::shared_ptr<const RedisKind> kind;
    std::string account;
    std::vector<Charge> charges;
    std::vector<Adjustment> adjustments;
    std::uint64_t phase = 0;
    std::uint32_t count = 0;  // of requests
    Micros until = 0;         // on the store's clock: then it takes nothing back any more
    Instant known_by{};       // the same here, at the latest
  };
  enum class Returned : std::uint8_t { kDone, kLost, kUnknown };

  // `workers`: of this gateway; each has bundles of its own, and an equal share of what the gateway may hold.
  explicit Bundles(std::uint32_t workers = 1, std::size_t most = 16'384);
  ~Bundles();
  Bundles(const Bundles&) = delete;
  Bundles& operator=(const Bundles&) = delete;

  // Null: there is none.
  Bundle* find(std::string_view name, const RedisKind& kind, std::span<const Charge> charges);
  // Null: such charges are not taken in advance, or too many accounts are watched. Requires: a shared_ptr has `kind`.
  // `phase`: limit::Call::phase of the account's subject.
  Bundle* find_or_add(std::string_view name, const RedisKind& kind, std::span<const Charge> charges,
                      std::uint64_t phase);

  static bool can_spend(const Bundle& bundle, Instant now);
  // Fills the outcomes. Requires: can_spend. True: it is time to ask for more.
  bool spend(Bundle& bundle, Instant now, std::span<limit::Outcome> outcomes);

  // How many are to be taken in advance when `wanted` requests ask the store. Unless it is 0, keep() or
  // keep_nothing() is called for this bundle, which lives until then.
  std::uint32_t ask(Bundle& bundle, std::uint32_t wanted, Instant now);
  // What is to be asked when no request does. Valid as long as the bundle.
  struct Question {
    const RedisKind& kind;
    std::string_view account;
    std::span<const Charge> charges;
    std::uint64_t phase;
  };
  static Question question_of(const Bundle& bundle);
  // `granted`: after the steps of those who asked.
  void keep(Bundle& bundle, Acquisition&& granted, Instant now);
  void keep_nothing(Bundle& bundle);
  // Everybody who may hold something of such an account.
  std::uint32_t holders(const RedisKind& kind) const {
    return static_cast<std::uint32_t>(kind.gateways()) * workers_;
  }

  // The store has forgotten the account: whatever is held of it was never charged, as it were.
  void drop(std::string_view name);
  // What is over by now. Forgets who is not busy any more.
  std::vector<Rest> sweep(Instant now);
  // All of it. What is asked for at the moment is over when it comes.
  std::vector<Rest> end_all(Instant now);
  // Nothing is taken in advance any more.
  void close() { closed_ = true; }
  void returned(Rest rest, Returned how);

  bool is_empty() const { return accounts_.empty() && unknown_.empty(); }
  const Counters& counters() const { return counters_; }

 private:
  struct Account;
  struct Portion;
  // By name: what is held of a slot counts whatever configuration it was taken by. Keys are views into the accounts.
  using Accounts = std::unordered_map<std::string_view, std::unique_ptr<Account>>;

  Account* account_of(std::string_view name) const;
  void let_go(const Rest& rest);
  bool may_lease(const RedisKind& kind, std::span<const Charge> charges) const;
  std::uint32_t room(const Bundle& bundle) const;
  static Rest rest_of(const Bundle& bundle, const Portion& portion);

  std::uint32_t workers_;
  std::size_t most_;
  bool closed_ = false;
  Counters counters_;
  Accounts accounts_;
  std::vector<Rest> unknown_;  // the store has not said what has become of them
};

}  // namespace weir::store
