// SPDX-License-Identifier: Apache-2.0
//
// Accounts in the memory of this process. Thread safety: as Accounts.
#pragma once

#include <string>

#include "weir/accounts/accounts.h"
#include "weir/accounts/counters.h"
#include "weir/store/memory/memory_store.h"

namespace weir::accounts {

class MemoryAccounts final : public Accounts {
 public:
  // The store outlives it.
  MemoryAccounts(store::MemoryStore& store, Sources sources) : store_(store), sources_(std::move(sources)) {}

  io::Task<Result<AccountReport>> inspect(std::string account, limit::Cost cost) override;
  io::Task<Result<bool>> reset(std::string account) override;
  io::Task<Result<ReportedCounter>> give_back(std::string account, Return what) override;

 private:
  struct Opened;
  Result<Opened> open(const std::string& account);
  store::AccountFindings look(const Opened& opened, limit::Cost cost);

  store::MemoryStore& store_;
  const Sources sources_;
};

}  // namespace weir::accounts
