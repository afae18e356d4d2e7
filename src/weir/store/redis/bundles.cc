// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/bundles.h"

#include <algorithm>
#include <list>
#include <utility>

namespace weir::store {
namespace {

using limit::Cost;

constexpr nanoseconds kRecently = std::chrono::milliseconds(100);
constexpr double kOften = 5;  // requests, recently
constexpr nanoseconds kIdle = 2 * kRecently;
constexpr std::uint32_t kLow = 3;  // a part so small of the last portion is left: it is time for the next

bool same(const Charge& a, const Charge& b) { return a.slot == b.slot && a.variant == b.variant && a.cost == b.cost; }

// How much of the slot all these charges take together.
Cost cost_of_slot(std::span<const Charge> charges, std::uint16_t slot) {
  Cost sum = 0;
  for (const Charge& charge : charges) sum += charge.slot == slot ? charge.cost : 0;
  return sum;
}

}  // namespace

struct Bundles::Portion {
  bool can_be_spent(Instant now) const { return left > 0 && now < until; }

  Acquisition granted;
  std::uint32_t left;
  Instant asked_at;
  Instant kept_at;
  Instant until;
  std::vector<limit::Ticks> at{};  // Outcome::at, by charge
};

class Bundles::Bundle {
 public:
  Bundle(Account& of, std::span<const Charge> all, std::uint64_t subject)
      : account(of), charges(all.begin(), all.end()), phase(subject) {}

  // Requests that have come: a count that fades, and is their number in the last tenth of a second if they are even.
  void note(std::uint32_t requests, Instant now) {
    const double past = static_cast<double>((now - noted).count()) / static_cast<double>(kRecently.count());
    recent = recent * std::max(0.0, 1 - past) + requests;
    noted = now;
  }
  bool is_idle(Instant now) const { return !asking && portions.empty() && now - noted > kIdle; }
  std::uint32_t left() const {
    std::uint32_t sum = 0;
    for (const Portion& portion : portions) sum += portion.left;
    return sum;
  }

  Account& account;
  const std::vector<Charge> charges;
  const std::uint64_t phase;
  double recent = 0;
  Instant noted{};
  bool asking = false;
  bool over = false;              // what comes is not to be spent
  std::uint32_t asked = 0;        // for so many, while asking
  Instant asked_at{};             // while asking
  std::uint32_t size = 0;         // of the last portion
  std::list<Portion> portions{};  // oldest first
};

struct Bundles::Account {
  // What is held of each slot, what goes back included.
  void hold(std::span<const Charge> charges, std::int64_t times) {
    for (const Charge& charge : charges) {
      const auto known = std::ranges::find(held, charge.slot, &std::pair<std::uint16_t, Cost>::first);
      if (known != held.end()) {
        known->second += charge.cost * times;
      } else {
        held.emplace_back(charge.slot, charge.cost * times);
      }
    }
  }
  Cost held_of(std::uint16_t slot) const {
    const auto known = std::ranges::find(held, slot, &std::pair<std::uint16_t, Cost>::first);
    return known == held.end() ? 0 : known->second;
  }
  bool is_idle(Instant now) const {
    return std::ranges::all_of(held, [](const auto& one) { return one.second == 0; }) &&
           std::ranges::all_of(bundles, [now](const auto& bundle) { return bundle->is_idle(now); });
  }

  std::string name;
  std::shared_ptr<const RedisKind> kind;
  std::vector<std::unique_ptr<Bundle>> bundles;
  std::vector<std::pair<std::uint16_t, Cost>> held;
};

Bundles::Bundles(std::uint32_t workers, std::size_t most) : workers_(workers), most_(most) {}
Bundles::~Bundles() = default;

Bundles::Account* Bundles::account_of(const Key& key) const {
  const auto found = accounts_.find(key);
  return found == accounts_.end() ? nullptr : found->second.get();
}

Bundles::Bundle* Bundles::find(std::string_view name, const RedisKind& kind, std::span<const Charge> charges) {
  if (accounts_.empty()) return nullptr;
  Account* account = account_of({name, &kind});
  if (account == nullptr) return nullptr;
  for (const auto& bundle : account->bundles) {
    if (std::ranges::equal(bundle->charges, charges, same)) return bundle.get();
  }
  return nullptr;
}

bool Bundles::may_lease(const RedisKind& kind, std::span<const Charge> charges) const {
  return !charges.empty() && std::ranges::all_of(charges, [&](const Charge& charge) {
    return charge.cost > 0 && kind.variant(charge).lease / workers_ >= charge.cost;
  });
}

Bundles::Bundle* Bundles::find_or_add(std::string_view name, const RedisKind& kind, std::span<const Charge> charges,
                                      std::uint64_t phase) {
  if (closed_ || !may_lease(kind, charges)) return nullptr;
  if (Bundle* known = find(name, kind, charges)) return known;
  Account* account = account_of({name, &kind});
  if (account == nullptr) {
    if (accounts_.size() >= most_) return nullptr;
    auto made = std::make_unique<Account>();
    made->name = name;
    made->kind = kind.shared_from_this();
    account = made.get();
    accounts_.emplace(Key{account->name, &kind}, std::move(made));
  }
  return account->bundles.emplace_back(std::make_unique<Bundle>(*account, charges, phase)).get();
}

bool Bundles::can_spend(const Bundle& bundle, Instant now) {
  return std::ranges::any_of(bundle.portions, [now](const Portion& portion) { return portion.can_be_spent(now); });
}

bool Bundles::spend(Bundle& bundle, Instant now, std::span<limit::Outcome> outcomes) {
  const auto portion =
      std::ranges::find_if(bundle.portions, [now](const Portion& one) { return one.can_be_spent(now); });
  --portion->left;
  portion->granted.step(outcomes, (now - portion->asked_at).count() / 1000);
  for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i].at = portion->at[i];
  if (portion->left == 0) bundle.portions.erase(portion);
  bundle.note(1, now);
  bundle.account.hold(bundle.charges, -1);
  counters_.spent.add();
  return !bundle.asking && kLow * bundle.left() < bundle.size;
}

// How many more of them this worker may hold.
std::uint32_t Bundles::room(const Bundle& bundle) const {
  const RedisKind& kind = *bundle.account.kind;
  Cost most = UINT32_MAX;
  for (const Charge& charge : bundle.charges) {
    const Cost free = kind.variant(charge).lease / workers_ - bundle.account.held_of(charge.slot);
    most = std::min(most, std::max<Cost>(0, free) / cost_of_slot(bundle.charges, charge.slot));
  }
  return static_cast<std::uint32_t>(most);
}

std::uint32_t Bundles::ask(Bundle& bundle, std::uint32_t wanted, Instant now) {
  bundle.note(wanted, now);
  if (closed_ || bundle.asking || bundle.recent < kOften) return 0;
  bundle.asked = std::min(static_cast<std::uint32_t>(bundle.recent), room(bundle));
  if (bundle.asked == 0) return 0;
  bundle.asking = true;
  bundle.over = false;
  bundle.asked_at = now;
  bundle.account.hold(bundle.charges, bundle.asked);
  return bundle.asked;
}

Bundles::Question Bundles::question_of(const Bundle& bundle) {
  return {*bundle.account.kind, bundle.account.name, bundle.charges, bundle.phase};
}

void Bundles::keep(Bundle& bundle, Acquisition&& granted, Instant now) {
  bundle.asking = false;
  bundle.size = granted.left();
  bundle.account.hold(bundle.charges, std::int64_t{bundle.size} - bundle.asked);
  if (bundle.size == 0) return;
  counters_.taken.add(bundle.size);
  granted.rebind(bundle.account.name, bundle.charges);
  std::vector<limit::Outcome> outcomes(bundle.charges.size());
  Acquisition(granted).step(outcomes);
  const nanoseconds window = std::chrono::microseconds(granted.rest_of_windows());
  Portion portion{.granted = std::move(granted),
                  .left = bundle.size,
                  .asked_at = bundle.asked_at,
                  .kept_at = now,
                  .until = bundle.over ? now : bundle.asked_at + std::min(window, kLife)};
  for (const limit::Outcome& outcome : outcomes) portion.at.push_back(outcome.at);
  bundle.portions.push_back(std::move(portion));
}

void Bundles::keep_nothing(Bundle& bundle) {
  bundle.asking = false;
  bundle.account.hold(bundle.charges, -std::int64_t{bundle.asked});
}

Bundles::Rest Bundles::rest_of(const Bundle& bundle, const Portion& portion) {
  Rest rest{.kind = bundle.account.kind,
            .account = bundle.account.name,
            .charges = bundle.charges,
            .adjustments = {},
            .phase = bundle.phase,
            .count = portion.left,
            .until = portion.granted.now() + kReturnedWithin.count() / 1000,
            .known_by = portion.kept_at + kReturnedWithin};
  for (std::size_t i = 0; i < bundle.charges.size(); ++i) {
    const Charge& charge = bundle.charges[i];
    rest.adjustments.push_back({charge.slot, charge.variant, -charge.cost * rest.count, portion.at[i]});
  }
  return rest;
}

std::vector<Bundles::Rest> Bundles::sweep(Instant now) {
  std::vector<Rest> rests;
  std::erase_if(unknown_, [&](const Rest& rest) {
    if (now < rest.known_by) return false;
    if (Account* account = account_of({rest.account, rest.kind.get()}))
      account->hold(rest.charges, -std::int64_t{rest.count});
    return true;
  });
  std::erase_if(accounts_, [&](const auto& entry) {
    for (const auto& bundle : entry.second->bundles) {
      std::erase_if(bundle->portions, [&](const Portion& portion) {
        if (now < portion.until) return false;
        rests.push_back(rest_of(*bundle, portion));
        return true;
      });
    }
    return entry.second->is_idle(now);
  });
  return rests;
}

std::vector<Bundles::Rest> Bundles::end_all(Instant now) {
  for (const auto& [key, account] : accounts_) {
    for (const auto& bundle : account->bundles) {
      bundle->over = true;
      for (Portion& portion : bundle->portions) portion.until = now;
    }
  }
  return sweep(now);
}

void Bundles::returned(Rest rest, Returned how) {
  (how == Returned::kDone ? counters_.returned : counters_.lost).add(rest.count);
  if (how == Returned::kUnknown) return unknown_.push_back(std::move(rest));
  if (Account* account = account_of({rest.account, rest.kind.get()}))
    account->hold(rest.charges, -std::int64_t{rest.count});
}

}  // namespace weir::store
