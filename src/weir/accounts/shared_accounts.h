// SPDX-License-Identifier: Apache-2.0
//
// Accounts in the Redis that all gateways share. Thread safety: as Accounts.
#pragma once

#include <string>

#include "weir/accounts/accounts.h"
#include "weir/accounts/counters.h"
#include "weir/store/redis/account_inspector.h"

namespace weir::accounts {

class SharedAccounts final : public Accounts {
 public:
  // The store and the inspector outlive it.
  SharedAccounts(store::RedisStore& store, store::AccountInspector& inspector, Sources sources)
      : store_(store), inspector_(inspector), sources_(std::move(sources)) {}

  io::Task<Result<AccountReport>> inspect(std::string account, limit::Cost cost) override;
  io::Task<Result<bool>> reset(std::string account) override;
  io::Task<Result<ReportedCounter>> give_back(std::string account, Return what) override;

 private:
  struct Opened;
  Result<Opened> open(const std::string& account);
  static Result<store::Adjustment> adjustment(const Opened& opened, const Place& place,
                                              const store::SlotFinding& finding, limit::Cost amount);

  store::RedisStore& store_;
  store::AccountInspector& inspector_;
  const Sources sources_;
};

}  // namespace weir::accounts
