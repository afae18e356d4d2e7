// SPDX-License-Identifier: Apache-2.0
//
// One question to scripts/acquire.lua: its arguments, and what its reply means for each of the requests that were
// asked for. The script decides and writes; every number that a client is told is computed here from the state that
// the script found, by the very code that counts in memory (limit/).
//
// What no script does happens here, too: a state that was written with other numbers, or before the clock jumped, is
// carried by limit/, and the script is asked again with what it has to find and what that means.
// Thread safety: a plain value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/limit/outcome.h"
#include "weir/redis/command.h"
#include "weir/redis/reply.h"
#include "weir/store/account.h"
#include "weir/store/redis/found_account.h"
#include "weir/store/redis/list_facts.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::store {

class Acquisition {
 public:
  // Requires: whatever is given outlives it; charges as MemoryStore::acquire takes them, call.wall >= 0.
  Acquisition(const RedisKind& kind, std::string_view name, std::span<const Charge> charges, const limit::Call& call);

  // Equal questions have equal texts, and may be asked as one. Empty: this one has to be asked alone.
  std::string_view text() const { return alone_ ? std::string_view() : text_; }

  std::string_view name() const { return name_; }

  // `now`: 0 to have the server's clock decide. `script`: by its SHA-1 for EVALSHA, or its text for EVAL.
  struct Script {
    std::string_view verb;
    std::string_view body;
  };
  // `ahead`: so many more, but at most one part in `parts` of what is left behind those that are wanted.
  struct Wanted {
    std::uint32_t now = 1;
    std::uint32_t ahead = 0;
    std::uint32_t parts = 1;
  };
  redis::Command command(const Script& script, const Wanted& wanted, Micros now) const;

  enum class Told : std::uint8_t {
    kDecided,  // step() says what
    kAgain,    // the question has to be asked again, as it is by now
    kBroken,   // no reply of the script
  };
  Told read(redis::ReplyView reply);
  // Admitted requests that are not stepped yet.
  std::uint32_t left() const { return granted_ - std::min(stepped_, granted_); }
  Micros now() const { return now_; }
  // How long what is granted counts in the windows in which it was counted; the longest duration where there are
  // none.
  Micros rest_of_windows() const;
  // Is about an equal account and equal charges, which outlive it.
  void rebind(std::string_view name, std::span<const Charge> charges) {
    name_ = name;
    charges_ = charges;
  }

  // The outcomes of the next of the requests, in the order in which they were asked; whether it is admitted. In the
  // ticks of the layout's limits. Requires: read() said kDecided; outcomes are as many as the charges that were
  // given. `later`: so long after the others.
  bool step(std::span<limit::Outcome> outcomes, Micros later = 0);

 private:
  struct Asked {
    Charge charge;  // with the sum of all charges of its slot
    const RedisKind::KeptSlot* slot;
    const RedisKind::Variant* variant;
    std::string head;  // where the variant has none
    bool replaces = false;
    std::string found_head;  // what the slot must hold, and ...
    std::string found_state;
    std::string means;     // ... the state that this means
    bool keep = false;     // if it refuses
    std::uint8_t key = 0;  // of its list
    StateWords words{};
    ListFacts facts;

    std::string_view head_bytes() const { return variant->head.empty() ? head : variant->head; }
  };

  void ask_for(const Charge& charge);
  void write();
  bool is_plain() const;
  void write_plain();
  static Pair increment(const Asked& asked);
  void write_charge(const Asked& asked);
  void write_numbers(const Asked& asked);
  void write_calendar(const limit::CalendarQuota& quota, limit::Cost cost);
  bool substitute(std::string_view account, Micros now);
  void substitute(Asked& asked, const FoundSlot& slot, Micros now);
  void decide(const Asked& asked, StateWords& words, Micros now, limit::Outcome& outcome) const;
  limit::Call call_at(Micros now) const;

  const RedisKind& kind_;
  std::string_view name_;
  std::span<const Charge> charges_;
  limit::Call call_;
  Micros calendar_now_;  // what the periods of calendars are taken from
  std::vector<Asked> asked_;
  std::vector<std::uint16_t> asked_of_;  // by charge
  std::string text_;
  bool alone_ = false;
  bool plain_ = false;                // the script has a short way for it
  std::vector<limit::Outcome> told_;  // room for a step, by what is asked
  LifeCode life_ = 0;
  Micros now_ = 0;
  std::uint32_t granted_ = 0;
  std::uint32_t stepped_ = 0;
};

}  // namespace weir::store
