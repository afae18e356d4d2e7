// SPDX-License-Identifier: Apache-2.0
//
// Accounts in Redis for people who look at them (weir inspect, weir reset): what is counted in one, by which numbers,
// how to have all of it forgotten, and what a request would be told (weir explain). What it tells of a limit is what
// a request would be told that takes nothing; so looking changes nothing, nor does it keep an account alive. Thread
// safety: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weir/base/result.h"
#include "weir/io/task.h"
#include "weir/limit/outcome.h"
#include "weir/redis/client.h"
#include "weir/store/redis/account_text.h"
#include "weir/store/redis/foresight.h"
#include "weir/store/redis/found_account.h"
#include "weir/store/redis/redis_kind.h"
#include "weir/store/redis/redis_store.h"

namespace weir::store {

// What a slot says of itself.
struct ForeignSlot {
  SlotId id = 0;
  std::optional<limit::Limit> limit;      // that wrote it, in microseconds; absent: another version wrote it
  std::optional<limit::Outcome> outcome;  // of a peek, in microseconds; absent: its numbers are not in the account
  std::optional<limit::Outcome> asked{};  // likewise, to the cost of the question; absent as well: there was none
};

// A slot of a kind.
struct SlotFinding {
  bool found = false;                     // the account has it
  bool other_numbers = false;             // it was written with numbers that no variant has
  std::uint32_t variant = 0;              // that wrote it, else the first one
  bool row_known = false;                 // of a slot with a book: `variant` is the number in it
  limit::Outcome outcome;                 // of a peek by this variant, in the ticks of the layout
  std::optional<limit::Outcome> asked{};  // to the cost of the question, likewise; absent: there was none
  std::optional<ForeignSlot> written;     // instead, of a slot with a book: its numbers need not be known here
};

struct AccountFindings {
  bool exists = false;
  std::optional<std::chrono::milliseconds> life;  // from now until it is forgotten
  std::vector<std::vector<SlotFinding>> kinds;    // parallel to the kinds, by slot
  std::vector<ForeignSlot> foreign;               // that no kind has
  limit::Cost cost = 0;                           // that `asked` is about; 0: nothing was asked
};

struct Forgotten {
  bool account = false;  // it was there
  std::size_t lists = 0;
  bool told = true;  // false: what gateways remember of it they remember for a minute still
};

class AccountInspector {
 public:
  // An account, and all kinds whose accounts can have its name. Whatever is given outlives the task.
  struct Subject {
    const AccountText& account;
    std::span<const RedisKind* const> kinds;
    limit::Cost cost = 0;  // of a request whose answer is wanted as well; 0: none
  };

  // `budget`: for each command. `clock`: as that of the store.
  AccountInspector(redis::Client& client, RedisStore& store, nanoseconds budget, RedisStore::Clock clock)
      : client_(client), store_(store), budget_(budget), clock_(clock) {}

  // Of `call`, wall is the gateway's clock in nanoseconds since 1970.
  io::Task<Result<AccountFindings>> inspect(Subject subject, limit::Call call);
  // What each of these charges would be told, as if it were alone, in the ticks of the layout.
  io::Task<Result<std::vector<Foreseen>>> foresee(RedisStore::Account account, std::span<const Charge> charges,
                                                  limit::Call call);
  // The account with the lists of all its slots, in one step.
  io::Task<Result<Forgotten>> forget(Subject subject);

 private:
  io::Task<Result<redis::Reply>> ask(std::string_view account, const redis::Command& command);
  io::Task<Result<Micros>> now(std::string_view account, limit::Call call);
  io::Task<Result<limit::Outcome>> peek(RedisStore::Account account, Charge charge, limit::Call call);
  io::Task<Result<void>> look_at(Subject subject, const FoundAccount& found, limit::Call call,
                                 AccountFindings& findings);

  redis::Client& client_;
  RedisStore& store_;
  nanoseconds budget_;
  RedisStore::Clock clock_;
};

}  // namespace weir::store
