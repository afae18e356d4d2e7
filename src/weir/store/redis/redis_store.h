// SPDX-License-Identifier: Apache-2.0
//
// Counters in Redis, shared by any number of gateways: one string per account, one script call per decision, whatever
// the number of its limits. The contract of the operations is MemoryStore's (store/memory/memory_store.h), but for
// two things: everything takes time and can fail, and there is one clock, by default that of the server, for windows
// and buckets alike.
//
// Of accounts that are asked about often a gateway may take something in advance, where the configuration allows it
// (bundles.h); that is spent before anything is asked.
//
// Equal questions about an account that come in one turn of the loop are asked as one ("so many wanted, so many
// granted"), which is the same as one after the other. All questions of a turn leave in one write per server.
//
// Another configuration may be in force elsewhere: whoever finds a state that was written with other numbers carries
// what is used to its own. A limit that is removed keeps its state until the account expires.
//
// Thread safety: a store belongs to one event loop; accounts, and what RedisKind says of them, to all.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/alarm.h"
#include "weir/io/task.h"
#include "weir/limit/outcome.h"
#include "weir/redis/client.h"
#include "weir/store/account.h"
#include "weir/store/redis/acquisition.h"
#include "weir/store/redis/amendment.h"
#include "weir/store/redis/bundles.h"
#include "weir/store/redis/redis_kind.h"
#include "weir/store/redis/refusals.h"

namespace weir::store {

// What became of a call.
enum class Asked : std::uint8_t {
  kAdmitted,
  kRefused,
  kFailed,  // no answer in time, or none that could be used; the charge may have been taken nevertheless
};

class RedisStore final : private io::Observer {
 public:
  enum class Clock : std::uint8_t {
    kServer,
    kGateway,  // call.wall decides, kept within a second of the server's
    kCall,     // call.wall decides, whatever it is: for tests
  };

  struct Settings {
    nanoseconds budget{};  // for one call
    Clock clock = Clock::kServer;
    std::string channel = {};   // on which stores tell each other the names of accounts to which something was given
                                // back; empty: they do not
    std::uint32_t workers = 1;  // stores of this gateway, this one included
  };

  // `client` outlives the store; its nodes are to load scripts().
  RedisStore(redis::Client& client, Settings settings)
      : client_(client),
        settings_(std::move(settings)),
        bundles_(settings_.workers),
        sweep_(client.loop().timers(), *this) {}

  static const std::vector<const redis::Script*>& scripts();

  // An account, and the request that it is about. Of `call`, wall is the gateway's clock in nanoseconds since 1970.
  // Whatever is given outlives the task.
  struct Account {
    const RedisKind& kind;
    std::string_view name;  // as AccountName makes it
  };

  // Whether the same was refused lately, so that it need not be asked. Fills the outcomes as they are by now.
  bool recall(Account account, std::span<const Charge> charges, const limit::Call& call,
              std::span<limit::Outcome> outcomes) {
    return refusals_.recall(account.name, account.kind.number(), charges, call.now, outcomes);
  }
  // What has been taken of that in advance, for spend_ahead() before anything else is asked; null: nothing.
  Bundles::Bundle* find_ahead(Account account, std::span<const Charge> charges) {
    Bundles::Bundle* bundle = bundles_.find(account.name, account.kind, charges);
    return bundle != nullptr && Bundles::can_spend(*bundle, client_.loop().now()) ? bundle : nullptr;
  }
  void spend_ahead(Bundles::Bundle& bundle, std::span<limit::Outcome> outcomes) {
    if (bundles_.spend(bundle, client_.loop().now(), outcomes)) refill(bundle);
  }
  const Bundles::Counters& ahead() const { return bundles_.counters(); }

  // Other limits are in force: what was refused by the old ones counts no more, and what was taken of them goes back.
  void begin_anew();
  // Nothing is taken in advance any more, and all of it goes back. It has when ahead().held() is 0.
  void close();
  // Whether the channel is heard from now on. Something may have been missed until now.
  void set_told(bool told);
  // What the channel says: somebody has given something back to an account, or has reset it.
  void told(std::string_view message);

  // Until when a decision that begins now may take, whatever it asks.
  Instant deadline() const { return client_.loop().now() + settings_.budget; }

  io::Task<Asked> acquire(Account account, std::span<const Charge> charges, const limit::Call& call,
                          std::span<limit::Outcome> outcomes, Instant until);
  // False: it failed.
  io::Task<bool> adjust(Account account, std::span<const Adjustment> adjustments, const limit::Call& call,
                        std::span<limit::Outcome> outcomes = {});
  // Whether all leases were alive; absent: it failed.
  io::Task<std::optional<bool>> renew(Account account, std::span<const Charge> charges, const limit::Call& call);
  io::Task<bool> reset(Account account);
  // Tells all stores that the account is as if it had never been used, for whoever has reset it without this store.
  // False: no answer came. An error is one: it must be possible to go without.
  io::Task<bool> tell_reset(std::string_view account, Instant until);

 private:
  struct Group;
  class EndOfTurn;
  class Share;

  void made_room(std::string_view account) {
    refusals_.forget(account);
    ++changes_of(account);
  }
  void notify() override;  // the turn ends: whoever gathers has all that it will get
  io::Task<void> ask(Group& group, Account account, std::span<const Charge> charges, Instant until);
  io::Task<bool> ask(Acquisition& acquisition, Acquisition::Wanted wanted, limit::Call call, Instant until);
  io::Detached refill(Bundles::Bundle& bundle);
  void take_ahead(Bundles::Bundle& bundle, Acquisition&& granted, bool decided);
  limit::Call call_of(std::uint64_t phase) const;  // of nobody's request
  void sweep();
  void sweep_later();
  void give_back(std::vector<Bundles::Rest> rests);
  io::Detached give_back(Bundles::Rest rest);
  limit::Call in_micros(limit::Call call) const;
  void remember(Account account, std::span<const Charge> charges, const limit::Call& call,
                std::span<const limit::Outcome> outcomes);
  std::uint32_t& changes_of(std::string_view account) {
    return changes_[std::hash<std::string_view>()(account) % changes_.size()];
  }
  Micros script_now(const limit::Call& call);
  io::Detached compare_clocks(std::string name, Micros wall);
  io::Task<bool> amend(Amendment& amendment, std::string_view name, Micros now);

  template <class Make>
  io::Task<redis::Answer> run(const redis::Script& script, std::string_view name, Make make, Instant deadline);

  redis::Client& client_;
  const Settings settings_;
  bool told_ = false;  // what others give back
  Refusals refusals_;
  Bundles bundles_;
  io::Alarm<RedisStore, &RedisStore::sweep> sweep_;
  const std::uint64_t mark_prefix_ = FingerprintKey::random().words[0];  // workers and processes differ
  std::uint64_t marks_ = 0;
  // That may have made room, by the account's hash: what was asked before them is not remembered.
  std::array<std::uint32_t, 256> changes_{};
  std::optional<Micros> ahead_;                                        // of the gateway's clock before the server's
  Instant compared_ = Instant::min();                                  // when they were last
  std::unordered_map<std::string, std::shared_ptr<Group>> gathering_;  // by what is asked
  std::vector<std::coroutine_handle<>> gatherers_;
};

}  // namespace weir::store
