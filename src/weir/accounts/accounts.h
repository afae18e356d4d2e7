// SPDX-License-Identifier: Apache-2.0
//
// What operators ask and do about accounts, wherever these are counted. Thread safety: one event loop's thread;
// whatever is given outlives the task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weir/accounts/account_report.h"
#include "weir/base/result.h"
#include "weir/io/task.h"
#include "weir/limit/outcome.h"

namespace weir::accounts {

// Which counter of an account: a limit may count endpoints and methods apart.
struct CounterId {
  std::string limit;
  std::string endpoint;          // a pattern "METHOD /path"; empty: of requests that match none, or of all
  std::string method;            // empty: all are counted together
  std::optional<bool> shadow{};  // absent: whichever is used
};

// So much of a counter is given back, as if it had not been used.
struct Return {
  CounterId counter;
  limit::Cost amount = 1;  // above zero
};

class Accounts {
 public:
  virtual ~Accounts() = default;

  // `account`: the values of `per`, joined by commas (store::AccountText), or the whole key in Redis. `cost`: the
  // report tells what a request of this cost would be told; 0: it does not. kInvalid: no account can have this name.
  virtual io::Task<Result<AccountReport>> inspect(std::string account, limit::Cost cost) = 0;
  // Forgets everything that is counted in it. False: nothing was.
  virtual io::Task<Result<bool>> reset(std::string account) = 0;
  // The counter afterwards, without its count where that could not be read any more. kInvalid: there is no such
  // counter, or it cannot be given anything back; kIo: it is not known whether it was.
  virtual io::Task<Result<ReportedCounter>> give_back(std::string account, Return what) = 0;
};

}  // namespace weir::accounts
