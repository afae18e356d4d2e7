// SPDX-License-Identifier: Apache-2.0
#include "weir/app/admin_sources.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "weir/accounts/memory_accounts.h"
#include "weir/accounts/shared_accounts.h"
#include "weir/app/store_session.h"
#include "weir/gateway/shared_store.h"
#include "weir/partners/settings.h"

namespace weir::app {
namespace {

accounts::InForce in_force(const gateway::Gateway& gateway) {
  const auto generation = gateway.generation();
  return {.owner = generation, .config = &generation->config, .policy = &generation->policy};
}

// The store of all gateways, by connections of its own.
class SharedStoreDesk final : public accounts::Accounts {
 public:
  SharedStoreDesk(io::EventLoop& loop, gateway::SharedStoreSettings settings, accounts::Sources sources)
      : settings_(std::move(settings)),
        access_(loop, settings_),
        inspector_(access_.client, access_.store, settings_.store.budget, settings_.store.clock),
        accounts_(access_.store, inspector_, std::move(sources)) {
    loop.post([this] { access_.client.start(); });
  }
  ~SharedStoreDesk() override { access_.shut(); }

  io::Task<Result<accounts::AccountReport>> inspect(std::string account, limit::Cost cost) override {
    return accounts_.inspect(std::move(account), cost);
  }
  io::Task<Result<bool>> reset(std::string account) override { return accounts_.reset(std::move(account)); }
  io::Task<Result<accounts::ReportedCounter>> give_back(std::string account, accounts::Return what) override {
    return accounts_.give_back(std::move(account), std::move(what));
  }

 private:
  const gateway::SharedStoreSettings settings_;
  gateway::SharedStoreAccess access_;
  store::AccountInspector inspector_;
  accounts::SharedAccounts accounts_;
};

std::unique_ptr<accounts::Accounts> open_accounts(gateway::Gateway& gateway, io::EventLoop& loop) {
  accounts::Sources sources{.in_force = [&gateway] { return in_force(gateway); },
                            .now = [&gateway] { return gateway.call_now(); }};
  if (gateway.shared_store() == nullptr) {
    return std::make_unique<accounts::MemoryAccounts>(gateway.store(), std::move(sources));
  }
  gateway::SharedStoreSettings settings = *gateway.shared_store();
  settings.store.budget = std::max(settings.store.budget, StoreSession::kBudget);
  settings.client.node.budget = settings.store.budget;
  return std::make_unique<SharedStoreDesk>(loop, std::move(settings), std::move(sources));
}

std::optional<admin::PolicyDesk::Sources> policy_sources(gateway::Gateway& gateway) {
  const auto& policies = gateway.config().policies;
  if (!policies) return std::nullopt;
  return admin::PolicyDesk::Sources{.open = partners::opener(partners::sql_settings(policies->sql)),
                                    .config =
                                        [&gateway] {
                                          auto generation = gateway.generation();
                                          return std::shared_ptr<const config::Config>(generation,
                                                                                       &generation->config);
                                        },
                                    .changed = [&gateway] { gateway.announce_policies(); }};
}

}  // namespace

admin::Sources admin_sources(gateway::Gateway& gateway, const std::atomic<bool>& draining) {
  return {.alive = [&gateway] { return gateway.alive(); },
          .draining = [&draining] { return draining.load(); },
          .store = gateway.shared_store() == nullptr ? "memory" : "redis",
          .metrics = [&gateway] { return gateway.metrics(); },
          .refused = [&gateway](WallTime since) { return gateway.refused_since(since); },
          .open_accounts = [&gateway](io::EventLoop& loop) { return open_accounts(gateway, loop); },
          .policies = policy_sources(gateway)};
}

}  // namespace weir::app
