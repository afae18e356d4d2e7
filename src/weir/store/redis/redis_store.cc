// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/redis_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace weir::store {

namespace scripts {
extern const std::string_view kAcquire;
extern const std::string_view kAdjust;
extern const std::string_view kReplace;
}  // namespace scripts

namespace {

// A state that others keep rewriting with other numbers, or a clock that keeps leaving the period: not for ever.
constexpr int kMostRounds = 8;
constexpr Micros kMostApart = kMicrosPerSecond;  // a gateway's clock from the server's
constexpr nanoseconds kBetweenComparisons = std::chrono::seconds(1);
// How long a refusal is believed at most: not for ever, because news can be lost with the server that has them; and
// shortly while there are none.
constexpr limit::Ticks kLongestMemory = 60'000'000'000;
constexpr limit::Ticks kLongestUntold = 1'000'000'000;
// Before the name of an account that was reset; names begin with a prefix, which has no spaces.
constexpr std::string_view kReset = "reset ";

const redis::Script& acquire_script() {
  static const redis::Script script(scripts::kAcquire);
  return script;
}
const redis::Script& adjust_script() {
  static const redis::Script script(scripts::kAdjust);
  return script;
}
const redis::Script& replace_script() {
  static const redis::Script script(scripts::kReplace);
  return script;
}

}  // namespace

const std::vector<const redis::Script*>& RedisStore::scripts() {
  static const std::vector<const redis::Script*> all{&acquire_script(), &adjust_script(), &replace_script()};
  return all;
}

// By name; where the server does not know it (any more), by its text, which makes it known. A script that is not
// known has done nothing.
template <class Make>
io::Task<redis::Answer> RedisStore::run(const redis::Script& script, std::string_view name, Make make,
                                        Instant deadline) {
  const redis::Command by_name = make(Acquisition::Script{"EVALSHA", script.sha1()});
  redis::Answer answer = co_await client_.ask(name, by_name, deadline);
  if (!answer.answered() || !answer.reply.view().is_error("NOSCRIPT")) co_return answer;
  client_.counters().scripts_loaded.add();
  const redis::Command by_text = make(Acquisition::Script{"EVAL", script.text()});
  co_return co_await client_.ask(name, by_text, deadline);
}

limit::Call RedisStore::in_micros(limit::Call call) const {
  call.wall /= 1000;
  return call;
}

// What the script is told. A gateway whose clock is far off must not give its callers another time than the others
// have: it is held within a second of the server's, and until that is known the server's decides.
Micros RedisStore::script_now(const limit::Call& call) {
  if (settings_.clock == Clock::kServer) return 0;
  if (settings_.clock == Clock::kCall) return call.wall;
  if (!ahead_) return 0;
  return call.wall - *ahead_ + std::clamp(*ahead_, -kMostApart, kMostApart);
}

io::Detached RedisStore::compare_clocks(std::string name, Micros wall) {
  const redis::Command command{"TIME"};
  const redis::Answer answer = co_await client_.ask(name, command, deadline());
  if (const auto time = redis::time_of(answer.reply.view())) ahead_ = wall - *time;
}

// Equal requests of one turn. The first of them asks for all.
struct RedisStore::Group {
  Group(Account account, std::span<const Charge> charges, const limit::Call& first)
      : acquisition(account.kind, account.name, charges, first), call(first) {}

  struct Member {
    std::span<limit::Outcome> outcomes;
    Asked asked = Asked::kFailed;
    std::coroutine_handle<> waiting;
  };

  // What each is told, in the order in which they came.
  void tell(Member& member) {
    if (decided) member.asked = acquisition.step(member.outcomes) ? Asked::kAdmitted : Asked::kRefused;
  }

  Acquisition acquisition;
  limit::Call call;
  std::uint32_t wanted = 1;
  Bundles::Bundle* bundle = nullptr;  // what is granted beyond that is for it
  std::vector<Member*> others;
  bool decided = false;
};

// Suspends the first of a group until the turn ends.
class RedisStore::EndOfTurn {
 public:
  explicit EndOfTurn(RedisStore& store) : store_(store) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    if (store_.gatherers_.empty()) store_.client_.loop().notify_soon(store_);
    store_.gatherers_.push_back(waiting);
  }
  void await_resume() const noexcept {}

 private:
  RedisStore& store_;
};

// Suspends one of the others until the first one knows.
class RedisStore::Share {
 public:
  Share(Group& group, Group::Member& member) : group_(group), member_(member) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    member_.waiting = waiting;
    group_.others.push_back(&member_);
    ++group_.wanted;
  }
  void await_resume() const noexcept {}

 private:
  Group& group_;
  Group::Member& member_;
};

void RedisStore::notify() {
  gathering_.clear();
  const redis::Client::OneWrite one_write(client_);
  for (const std::coroutine_handle<> gatherer : std::exchange(gatherers_, {})) gatherer.resume();
}

io::Task<Asked> RedisStore::acquire(Account account, std::span<const Charge> charges, const limit::Call& call,
                                    std::span<limit::Outcome> outcomes, Instant until) {
  if (Bundles::Bundle* bundle = find_ahead(account, charges)) {
    spend_ahead(*bundle, outcomes);
    co_return Asked::kAdmitted;
  }
  if (client_.loop().now() >= until) co_return Asked::kFailed;
  const limit::Call own = in_micros(call);
  if (settings_.clock == Clock::kGateway &&
      (compared_ == Instant::min() || client_.loop().now() - compared_ > kBetweenComparisons)) {
    compared_ = client_.loop().now();
    compare_clocks(std::string(account.name), own.wall);
  }
  const std::uint32_t changes = changes_of(account.name);
  auto group = std::make_shared<Group>(account, charges, own);
  Group::Member member{.outcomes = outcomes, .asked = Asked::kFailed, .waiting = nullptr};
  // Nobody waits much longer, or much shorter, than for itself.
  const bool has_time = deadline() - until <= settings_.budget / 4;
  if (has_time && !group->acquisition.text().empty()) {
    std::string question(account.name);
    question.append(1, '\0').append(group->acquisition.text());
    const auto [known, is_first] = gathering_.try_emplace(std::move(question), group);
    if (is_first) {
      co_await EndOfTurn(*this);
    } else {
      group = known->second;
      co_await Share(*group, member);
      if (member.asked == Asked::kRefused && changes_of(account.name) == changes)
        remember(account, charges, call, outcomes);
      co_return member.asked;
    }
  }
  co_await ask(*group, account, charges, until);
  group->tell(member);
  for (Group::Member* other : group->others) group->tell(*other);
  if (group->bundle != nullptr) take_ahead(*group->bundle, std::move(group->acquisition), group->decided);
  if (member.asked == Asked::kRefused && changes_of(account.name) == changes)
    remember(account, charges, call, outcomes);
  for (const Group::Member* other : std::exchange(group->others, {})) other->waiting.resume();
  co_return member.asked;
}

io::Task<void> RedisStore::ask(Group& group, Account account, std::span<const Charge> charges, Instant until) {
  Acquisition::Wanted wanted{.now = group.wanted};
  if (Bundles::Bundle* bundle = bundles_.find_or_add(account.name, account.kind, charges, group.call.phase)) {
    wanted.ahead = bundles_.ask(*bundle, group.wanted, client_.loop().now());
    wanted.parts = 2 * bundles_.holders(account.kind);
    if (wanted.ahead > 0) group.bundle = bundle;
    sweep_later();
  }
  group.decided = co_await ask(group.acquisition, wanted, group.call, until);
}

// Whether it was decided.
io::Task<bool> RedisStore::ask(Acquisition& acquisition, Acquisition::Wanted wanted, limit::Call call,
                               Instant until) {
  const auto make = [&](const Acquisition::Script& script) {
    return acquisition.command(script, wanted, script_now(call));
  };
  for (int round = 0; round < kMostRounds; ++round) {
    const redis::Answer answer = co_await run(acquire_script(), acquisition.name(), make, until);
    if (!answer.answered()) co_return false;
    const auto told = acquisition.read(answer.reply.view());
    if (told == Acquisition::Told::kDecided) co_return true;
    if (told == Acquisition::Told::kBroken) {
      client_.complain(answer.reply.view());
      co_return false;
    }
  }
  co_return false;
}

// Asks for the next portion of a bundle before it is empty, so that nobody waits for it.
io::Detached RedisStore::refill(Bundles::Bundle& bundle) {
  const Bundles::Question question = Bundles::question_of(bundle);
  Acquisition::Wanted wanted{.now = 0, .ahead = bundles_.ask(bundle, 0, client_.loop().now())};
  if (wanted.ahead == 0) co_return;
  wanted.parts = 2 * bundles_.holders(question.kind);
  const limit::Call call = in_micros(call_of(question.phase));
  Acquisition acquisition(question.kind, question.account, question.charges, call);
  const bool decided = co_await ask(acquisition, wanted, call, deadline());
  take_ahead(bundle, std::move(acquisition), decided);
}

void RedisStore::take_ahead(Bundles::Bundle& bundle, Acquisition&& granted, bool decided) {
  if (decided) {
    bundles_.keep(bundle, std::move(granted), client_.loop().now());
  } else {
    bundles_.keep_nothing(bundle);
  }
}

limit::Call RedisStore::call_of(std::uint64_t phase) const {
  return {.now = 0, .wall = client_.loop().wall().time_since_epoch().count(), .phase = phase, .lease = {}};
}

void RedisStore::sweep_later() {
  if (!sweep_.is_set()) sweep_.set(client_.loop().now() + Bundles::kSweep);
}

void RedisStore::sweep() {
  give_back(bundles_.sweep(client_.loop().now()));
  if (!bundles_.is_empty()) sweep_later();
}

void RedisStore::begin_anew() {
  refusals_.clear();
  give_back(bundles_.end_all(client_.loop().now()));
}

void RedisStore::close() {
  bundles_.close();
  give_back(bundles_.end_all(client_.loop().now()));
}

void RedisStore::give_back(std::vector<Bundles::Rest> rests) {
  const redis::Client::OneWrite one_write(client_);
  for (Bundles::Rest& rest : rests) give_back(std::move(rest));
}

// By the server's clock, whoever's else counts: a message that was under way for long must not look fresh.
io::Detached RedisStore::give_back(Bundles::Rest rest) {
  made_room(rest.account);
  limit::Call call = in_micros(call_of(rest.phase));
  if (settings_.clock != Clock::kCall) call.wall = 0;
  Amendment amendment(*rest.kind, rest.account, rest.adjustments, call);
  amendment.make_once(fmt::format("{:016x}{:x}", mark_prefix_, ++marks_), rest.until);
  auto how = Bundles::Returned::kUnknown;
  const bool answered = co_await amend(amendment, rest.account, call.wall);
  if (answered) how = amendment.was_made() ? Bundles::Returned::kDone : Bundles::Returned::kLost;
  bundles_.returned(std::move(rest), how);
}

// Not what a lease refuses: a place may become free at any moment.
void RedisStore::remember(Account account, std::span<const Charge> charges, const limit::Call& call,
                          std::span<const limit::Outcome> outcomes) {
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (!outcomes[i].admitted && account.kind.variant(charges[i]).form == Form::kLeases) return;
  }
  const limit::Ticks most = told_ ? kLongestMemory : kLongestUntold;
  refusals_.remember(account.name, account.kind.number(), charges, call.now, most, outcomes);
}

void RedisStore::set_told(bool told) {
  told_ = told;
  refusals_.clear();
  for (std::uint32_t& changes : changes_) ++changes;
}

// What is held of an account that was reset was counted in what is gone.
void RedisStore::told(std::string_view message) {
  if (!message.starts_with(kReset)) return made_room(message);
  message.remove_prefix(kReset.size());
  bundles_.drop(message);
  made_room(message);
}

io::Task<bool> RedisStore::tell_reset(std::string_view account, Instant until) {
  if (settings_.channel.empty()) co_return true;
  const std::string message = std::string(kReset).append(account);
  const redis::Command command{"PUBLISH", settings_.channel, message};
  const redis::Answer answer = co_await client_.ask(account, command, until);
  co_return answer.answered();
}

// `now`: 0 for the server's clock.
io::Task<bool> RedisStore::amend(Amendment& amendment, std::string_view name, Micros now) {
  const Instant until = deadline();
  const auto make = [&](const Acquisition::Script& script) {
    return amendment.command(script, now, settings_.channel);
  };
  const auto replace = [&](const Acquisition::Script& script) {
    return amendment.replacement(script, now, settings_.channel);
  };
  for (int round = 0; round < kMostRounds; ++round) {
    const redis::Answer answer = co_await run(adjust_script(), name, make, until);
    if (!answer.answered()) co_return false;
    auto told = amendment.read(answer.reply.view());
    if (told == Amendment::Told::kReplace) {
      const redis::Answer replaced = co_await run(replace_script(), name, replace, until);
      if (!replaced.answered() || replaced.reply.view().is_error()) co_return false;
      told = amendment.replaced(replaced.reply.view().integer());
    }
    if (told == Amendment::Told::kDone) co_return true;
    if (told == Amendment::Told::kBroken) {
      client_.complain(answer.reply.view());
      co_return false;
    }
  }
  co_return false;
}

io::Task<bool> RedisStore::adjust(Account account, std::span<const Adjustment> adjustments, const limit::Call& call,
                                  std::span<limit::Outcome> outcomes) {
  const limit::Call own = in_micros(call);
  made_room(account.name);
  Amendment amendment(account.kind, account.name, adjustments, own);
  if (!co_await amend(amendment, account.name, script_now(own))) co_return false;
  amendment.tell(outcomes);
  co_return true;
}

io::Task<std::optional<bool>> RedisStore::renew(Account account, std::span<const Charge> charges,
                                                const limit::Call& call) {
  const limit::Call own = in_micros(call);
  Amendment amendment(account.kind, account.name, charges, own);
  if (!co_await amend(amendment, account.name, script_now(own))) co_return std::nullopt;
  co_return amendment.all_alive();
}

io::Task<bool> RedisStore::reset(Account account) {
  bundles_.drop(account.name);
  made_room(account.name);
  std::vector<std::string> names{std::string(account.name)};
  for (const auto& slot : account.kind.slots()) {
    for (const std::string& list : slot.lists) names.push_back(names.front() + list);
  }
  redis::Command command(1 + names.size());
  command.add("DEL");
  for (const std::string& name : names) command.add(name);
  const redis::Answer answer = co_await client_.ask(account.name, command, deadline());
  if (!answer.answered() || answer.reply.view().is_error()) co_return false;
  co_return co_await tell_reset(account.name, deadline());
}

}  // namespace weir::store
