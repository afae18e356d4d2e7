// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/bundles.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

namespace weir::store {
namespace {

using limit::Cost;

constexpr nanoseconds kRecently = std::chrono::milliseconds(100);
constexpr double kOften = 5;                  // requests, recently
constexpr std::size_t kMostOfAnAccount = 16;  // bundles: callers may choose their costs
constexpr nanoseconds kIdle = 2 * kRecently;
constexpr std::uint32_t kLow = 3;  // a part so small of the last portion is left: it is time for the next

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
  Bundle(Account& of, std::shared_ptr<const RedisKind> by, std::span<const Charge> all, std::uint64_t subject)
      : account(of), kind(std::move(by)), charges(all.begin(), all.end()), phase(subject) {}

  // Requests that have come: a count that fades, and is their number in the last tenth of a second if they are even.
  void note(std::uint32_t requests, Instant now) {
    const double past = static_cast<double>((now - noted).count()) / static_cast<double>(kRecently.count());
    recent = recent * std::max(0.0, 1 - past) + requests;
    noted = now;
  }
  bool is_for(const RedisKind& of, std::span<const Charge> all) const {
    return kind.get() == &of && std::ranges::equal(charges, all);
  }
  bool is_idle(Instant now) const { return !asking && portions.empty() && now - noted > kIdle; }
  std::uint32_t left() const {
    std::uint32_t sum = 0;
    for (const Portion& portion : portions) sum += portion.left;
    return sum;
  }
  void hold(std::int64_t requests);

  Account& account;
  const std::shared_ptr<const RedisKind> kind;
  const std::vector<Charge> charges;
  const std::uint64_t phase;
  double recent = 0;
  Instant noted{};
  bool asking = false;
  enum class Fate : std::uint8_t { kSpend, kReturn, kLose };
  Fate fate = Fate::kSpend;       // of what is asked for
  std::uint32_t asked = 0;        // for so many, while asking
  Instant asked_at{};             // while asking
  std::uint32_t size = 0;         // of the last portion
  std::list<Portion> portions{};  // oldest first
};

struct Bundles::Account {
  // What is held of each slot, what goes back included.
  void hold(const RedisKind& kind, std::span<const Charge> charges, std::int64_t requests) {
    for (const Charge& charge : charges) held[kind.slot(charge.slot).id] += charge.cost * requests;
  }
  Cost held_of(SlotId slot) const {
    const auto known = held.find(slot);
    return known == held.end() ? 0 : known->second;
  }
  bool is_idle() const {
    return bundles.empty() && std::ranges::all_of(held, [](const auto& one) { return one.second == 0; });
  }

  std::string name;
  std::vector<std::unique_ptr<Bundle>> bundles;
  std::map<SlotId, Cost> held;
};

void Bundles::Bundle::hold(std::int64_t requests) { account.hold(*kind, charges, requests); }

Bundles::Bundles(std::uint32_t workers, std::size_t most) : workers_(workers), most_(most) {}
Bundles::~Bundles() = default;

Bundles::Account* Bundles::account_of(std::string_view name) const {
  const auto found = accounts_.find(name);
  return found == accounts_.end() ? nullptr : found->second.get();
}

Bundles::Bundle* Bundles::find(std::string_view name, const RedisKind& kind, std::span<const Charge> charges) {
  if (accounts_.empty()) return nullptr;
  const Account* account = account_of(name);
  if (account == nullptr) return nullptr;
  for (const auto& bundle : account->bundles) {
    if (bundle->is_for(kind, charges)) return bundle.get();
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
  Account* account = account_of(name);
  if (account == nullptr) {
    if (accounts_.size() >= most_) return nullptr;
    auto made = std::make_unique<Account>();
    made->name = name;
    account = made.get();
    accounts_.emplace(account->name, std::move(made));
  }
  if (account->bundles.size() >= kMostOfAnAccount) return nullptr;
  auto made = std::make_unique<Bundle>(*account, kind.shared_from_this(), charges, phase);
  return account->bundles.emplace_back(std::move(made)).get();
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
  bundle.hold(-1);
  counters_.spent.add();
  return !bundle.asking && kLow * bundle.left() < bundle.size;
}

// How many more of them this worker may hold.
std::uint32_t Bundles::room(const Bundle& bundle) const {
  Cost most = UINT32_MAX;
  for (const Charge& charge : bundle.charges) {
    const Cost held = bundle.account.held_of(bundle.kind->slot(charge.slot).id);
    const Cost free = bundle.kind->variant(charge).lease / workers_ - held;
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
  bundle.fate = Bundle::Fate::kSpend;
  bundle.asked_at = now;
  bundle.hold(bundle.asked);
  return bundle.asked;
}

Bundles::Question Bundles::question_of(const Bundle& bundle) {
  return {*bundle.kind, bundle.account.name, bundle.charges, bundle.phase};
}

void Bundles::keep(Bundle& bundle, Acquisition&& granted, Instant now) {
  bundle.asking = false;
  bundle.size = granted.left();
  bundle.hold(std::int64_t{bundle.size} - bundle.asked);
  if (bundle.size == 0) return;
  counters_.taken.add(bundle.size);
  if (bundle.fate == Bundle::Fate::kLose) {
    counters_.lost.add(bundle.size);
    return bundle.hold(-std::int64_t{bundle.size});
  }
  granted.rebind(bundle.account.name, bundle.charges);
  std::vector<limit::Outcome> outcomes(bundle.charges.size());
  Acquisition(granted).step(outcomes);
  const nanoseconds window = std::chrono::microseconds(granted.rest_of_windows());
  Portion portion{.granted = std::move(granted),
                  .left = bundle.size,
                  .asked_at = bundle.asked_at,
                  .kept_at = now,
                  .until = bundle.fate == Bundle::Fate::kReturn ? now : bundle.asked_at + std::min(window, kLife)};
  for (const limit::Outcome& outcome : outcomes) portion.at.push_back(outcome.at);
  bundle.portions.push_back(std::move(portion));
}

void Bundles::keep_nothing(Bundle& bundle) {
  bundle.asking = false;
  bundle.hold(-std::int64_t{bundle.asked});
  bundle.recent = 0;  // the store may have taken it nevertheless: not again at once
}

Bundles::Rest Bundles::rest_of(const Bundle& bundle, const Portion& portion) {
  Rest rest{.kind = bundle.kind,
            .account = bundle.account.name,
            .charges = bundle.charges,
            .adjustments = {},
            .phase = bundle.phase,
            .count = portion.left,
            .until = portion.granted.now() + kReturnedWithin.count() / 1000,
            .known_by = portion.kept_at + kUnknownFor};
  for (std::size_t i = 0; i < bundle.charges.size(); ++i) {
    const Charge& charge = bundle.charges[i];
    rest.adjustments.push_back({charge.slot, charge.variant, -charge.cost * rest.count, portion.at[i]});
  }
  return rest;
}

void Bundles::drop(std::string_view name) {
  Account* account = account_of(name);
  if (account == nullptr) return;
  for (const auto& bundle : account->bundles) {
    counters_.lost.add(bundle->left());
    bundle->hold(-std::int64_t{bundle->left()});
    bundle->portions.clear();
    bundle->fate = Bundle::Fate::kLose;
  }
}

void Bundles::let_go(const Rest& rest) {
  if (Account* account = account_of(rest.account)) account->hold(*rest.kind, rest.charges, -std::int64_t{rest.count});
}

std::vector<Bundles::Rest> Bundles::sweep(Instant now) {
  std::vector<Rest> rests;
  std::erase_if(unknown_, [&](const Rest& rest) {
    if (now < rest.known_by) return false;
    let_go(rest);
    return true;
  });
  std::erase_if(accounts_, [&](const auto& entry) {
    Account& account = *entry.second;
    std::erase_if(account.bundles, [&](const auto& bundle) {
      std::erase_if(bundle->portions, [&](const Portion& portion) {
        if (now < portion.until) return false;
        rests.push_back(rest_of(*bundle, portion));
        return true;
      });
      return bundle->is_idle(now);
    });
    return account.is_idle();
  });
  return rests;
}

std::vector<Bundles::Rest> Bundles::end_all(Instant now) {
  for (const auto& [name, account] : accounts_) {
    for (const auto& bundle : account->bundles) {
      bundle->fate = std::max(bundle->fate, Bundle::Fate::kReturn);
      for (Portion& portion : bundle->portions) portion.until = now;
    }
  }
  return sweep(now);
}

void Bundles::returned(Rest rest, Returned how) {
  (how == Returned::kDone ? counters_.returned : counters_.lost).add(rest.count);
  if (how == Returned::kUnknown) return unknown_.push_back(std::move(rest));
  let_go(rest);
}

}  // namespace weir::store
