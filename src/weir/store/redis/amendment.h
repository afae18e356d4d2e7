// SPDX-License-Identifier: Apache-2.0
//
// One question to scripts/adjust.lua: what is given back, taken as well, or made to last longer, and what the limits
// say afterwards. Where a slot was written with other numbers the account is amended here, by limit/, and written if
// it still is what it was (scripts/replace.lua).
// Thread safety: a plain value.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/limit/outcome.h"
#include "weir/redis/command.h"
#include "weir/redis/reply.h"
#include "weir/store/account.h"
#include "weir/store/redis/acquisition.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::store {

class Amendment {
 public:
  // Requires: whatever is given outlives it.
  Amendment(const RedisKind& kind, std::string_view name, std::span<const Adjustment> adjustments,
            const limit::Call& call);
  // Leases of the call that are charged are to last from now again.
  Amendment(const RedisKind& kind, std::string_view name, std::span<const Charge> charges, const limit::Call& call);

  // It is made once, whatever repeats its commands, and not after `until`. `mark`: a name that no other one has; may
  // be remembered for ten seconds. Requires: no log and no leases are among it.
  void make_once(std::string mark, Micros until) {
    mark_ = std::move(mark);
    until_ = until;
  }
  // `channel`: on which it is told that something is given back where a request can be refused; empty: nobody is.
  redis::Command command(const Acquisition::Script& script, Micros now, std::string_view channel) const;

  enum class Told : std::uint8_t {
    kDone,
    kAgain,    // as it is by now
    kReplace,  // replacement() has to be written first
    kBroken,
  };
  Told read(redis::ReplyView reply);
  redis::Command replacement(const Acquisition::Script& script, Micros now, std::string_view channel) const;
  // What the script says of it: kDone, or kAgain where the question is to be asked again for what is not done.
  Told replaced(std::int64_t reply);

  // Of the limit of each adjustment, to a cost of 0, in the ticks of the layout. Requires: read() said kDone.
  void tell(std::span<limit::Outcome> outcomes) const;
  // All leases that were to be renewed were alive.
  bool all_alive() const { return all_alive_; }
  // Whether it was made, and not too late. Requires: make_once.
  bool was_made() const { return was_made_; }

 private:
  enum class Leases : std::uint8_t { kEnd, kRenew, kLook };
  struct Asked {
    Adjustment adjustment;
    const RedisKind::KeptSlot* slot = nullptr;
    const RedisKind::Variant* variant = nullptr;
    Leases leases = Leases::kLook;
    std::string head;
    std::uint8_t key = 0;
    bool done = false;  // written by replacement()
    ListFacts facts;

    std::string_view head_bytes() const { return variant->head.empty() ? head : variant->head; }
    // Amounts in the limit's own time.
    Micros at() const { return adjustment.at / variant->ticks; }
    limit::Cost ample(limit::Cost capacity) const;
  };

  void ask_for(const Adjustment& adjustment, Leases leases);
  std::string arguments() const;
  void write_bucket(const Asked& asked, std::string& out) const;
  void write_numbers(const Asked& asked, std::string& out) const;
  bool amend(std::string_view account);
  bool amend(const Asked& asked, FoundSlot& slot, std::string& state) const;
  limit::Outcome look(const Asked& asked) const;
  std::string mark() const { return fmt::format("{}:{}", name_, mark_); }
  limit::Call call() const { return {.now = 0, .wall = now_, .phase = call_.phase, .lease = call_.lease}; }

  const RedisKind& kind_;
  std::string_view name_;
  limit::Call call_;
  Micros calendar_now_;
  std::vector<Asked> asked_;
  std::string account_;  // as the last reply has it
  std::string replacement_;
  LifeCode life_ = 0;
  Micros now_ = 0;
  bool all_alive_ = true;
  std::string mark_;  // empty: whoever repeats it makes it again
  Micros until_ = 0;
  bool was_made_ = false;
};

}  // namespace weir::store
