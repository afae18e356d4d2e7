// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/pipeline.h"

#include <algorithm>
#include <span>

#include "weir/gateway/forward.h"

namespace weir::gateway {
namespace {

constexpr std::uint32_t kTimedShare = 64;  // one decision in so many is timed

constexpr Problem kNotAllowed{405, "method-not-allowed", "This method is not served here.",
                              "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH\r\n", true};
constexpr Problem kLoop{508, "loop", "The request has been through this gateway too often.", {}, true};
constexpr Problem kNoRoute{404, "no-route", "No service takes this host and path.", {}};
constexpr Problem kNoHost{400, "no-host", "The request names no host.", {}, true};
constexpr Problem kBadPath{400, "bad-path", "The path of the request cannot be used.", {}, true};
constexpr Problem kAmbiguousPath{
    400, "ambiguous-path", "The path of the request can be read in more than one way.", {}, true};
constexpr Problem kBodyTooLarge{413, "body-too-large", "The body is larger than this service takes.", {}};
constexpr Problem kSwitchedOff{403, "partner-disabled", "This partner is switched off.", {}};
constexpr Problem kMissing{403, "attribute-missing", "The request lacks what its limits are counted by.", {}};
constexpr Problem kStoreAway{503, "limits-unavailable", "The limits of this request cannot be checked at the moment.",
                             "Retry-After: 1\r\n"};

Verdict answer(const Problem& problem) { return {.kind = Verdict::Kind::kProblem, .problem = problem}; }

void count(const WorkerGeneration& generation, const policy::Charges& charges, const decide::Decision& decision) {
  for (const policy::LimitIndex skipped : charges.skipped) generation.limit_counters[skipped]->skipped.add();
  for (const decide::LimitOutcome& one : decision.outcomes) {
    LimitCounters& counters = *generation.limit_counters[one.limit];
    if (!one.outcome.admitted) {
      (one.outcome.retry_after ? counters.refused : counters.never).add();
    } else if (decision.admitted) {
      counters.admitted.add();
      if (one.outcome.delay > 0) counters.delayed.add();
    }
  }
  for (const decide::LimitOutcome& one : decision.shadow) {
    LimitCounters& counters = *generation.limit_counters[one.limit];
    (one.outcome.admitted ? counters.admitted : counters.shadow_refused).add();
  }
}

// Of a field that was sent once.
std::optional<std::string_view> only_value(const http::ResponseHead& head, std::string_view name) {
  std::optional<std::string_view> found;
  for (const http::Field& field : head.fields) {
    if (field.name_size != name.size() || !http::same_name(field.name(head.bytes), name)) continue;
    if (found) return std::nullopt;
    found = head.value(field);
  }
  return found;
}

}  // namespace

// What a request was charged.
struct Pipeline::Charged {
  const WorkerGeneration& generation;
  const policy::Charges& charges;
  const http::RequestHead* head = nullptr;  // null: it is gone, and accounts have names
  const Scratch* scratch = nullptr;         // likewise

  const policy::AccountCharges* account_of(policy::LimitIndex limit, bool shadow) const;
  std::string account_text(const policy::AccountCharges& account, policy::LimitIndex limit) const;
  void note_refusal(const decide::LimitOutcome& outcome, bool shadow, WallTime at, RecentRefusals& refusals) const;
  void note_refusals(const decide::Decision& decision, RecentRefusals& refusals) const;
};

const policy::AccountCharges* Pipeline::Charged::account_of(policy::LimitIndex limit, bool shadow) const {
  for (const policy::AccountCharges& account : charges.accounts) {
    const auto limits = std::span(charges.limits).subspan(account.first, account.count);
    const bool counts = std::ranges::find(limits, limit, &policy::ChargedLimit::limit) != limits.end();
    if (counts && account.shadow == shadow) return &account;
  }
  return nullptr;
}

std::string Pipeline::Charged::account_text(const policy::AccountCharges& account, policy::LimitIndex limit) const {
  const policy::Policy& policy = generation.shared->policy;
  if (account.shared != nullptr) return policy.account_text(charges.name_of(account));
  return policy.account_text(limit, account.shadow, scratch->route, *head, scratch->caller);
}

void Pipeline::Charged::note_refusal(const decide::LimitOutcome& outcome, bool shadow, WallTime at,
                                     RecentRefusals& refusals) const {
  const policy::AccountCharges* account = account_of(outcome.limit, shadow);
  if (account == nullptr) return;
  const Fingerprint who{account->subject.low ^ outcome.limit, account->subject.high ^ generation.shared->number};
  const auto wait = outcome.outcome.retry_after;
  const RecentRefusals::Refusal refusal{
      .who = who, .shadow = shadow, .at = at, .until = wait ? std::optional(at + nanoseconds(*wait)) : std::nullopt};
  if (refusals.note(refusal)) return;
  refusals.add(refusal, {.limit = generation.shared->policy.limits()[outcome.limit].name,
                         .account = account_text(*account, outcome.limit)});
}

void Pipeline::Charged::note_refusals(const decide::Decision& decision, RecentRefusals& refusals) const {
  const WallTime at{nanoseconds(decision.wall)};
  const auto note = [&](const std::vector<decide::LimitOutcome>& outcomes, bool shadow) {
    for (const decide::LimitOutcome& one : outcomes) {
      if (!one.outcome.admitted) note_refusal(one, shadow, at, refusals);
    }
  };
  if (!decision.admitted) note(decision.outcomes, false);
  note(decision.shadow, true);
}

Verdict Pipeline::judge(const WorkerGeneration& generation, const Arrived& request, Scratch& scratch,
                        decide::Decision& decision, WorkerMetrics& metrics, decide::Lines::Waiter& waiter) {
  decision.clear();
  const http::RequestHead& head = request.head;
  if (head.method_id == http::Method::kConnect || head.method_id == http::Method::kTrace) return answer(kNotAllowed);
  if (head.path == "*") return {.kind = Verdict::Kind::kOptions, .problem = {}};
  if (loops(head)) return answer(kLoop);

  switch (generation.shared->router.find(head.host, head.path, head.method, scratch.route)) {
    case route::RouteStatus::kFound:
      break;
    case route::RouteStatus::kNoService:
      return answer(head.host.empty() ? kNoHost : kNoRoute);
    case route::RouteStatus::kBadPath:
      return answer(kBadPath);
    case route::RouteStatus::kAmbiguous:
      return answer(kAmbiguousPath);
  }
  const config::Service& service = generation.shared->config.services[scratch.route.service];

  Verdict verdict{.kind = Verdict::Kind::kProblem, .problem = {}, .service = scratch.route.service};
  if (!identify(generation, request, scratch, metrics, verdict)) return verdict;
  if (service.max_body && head.body.kind == http::BodyKind::kLength && head.body.length > *service.max_body) {
    verdict.problem = kBodyTooLarge;
    return verdict;
  }
  if (scratch.caller.bypass) {
    verdict.kind = Verdict::Kind::kForward;
    verdict.bypass = true;
    return verdict;
  }
  return limit(generation, request, scratch, decision, metrics, waiter);
}

bool Pipeline::identify(const WorkerGeneration& generation, const Arrived& request, Scratch& scratch,
                        WorkerMetrics& metrics, Verdict& verdict) const {
  const Generation& shared = *generation.shared;
  const Times& times = request.times;
  std::optional<GuessGate> gate;
  if (shared.guesses) gate.emplace(*shared.guesses, call_at(times));
  const PartnerView::Moment moment{.now = times.now, .wall = times.wall, .looked_up = request.looked_up};
  std::optional<PartnerView> partners;
  if (directory_ != nullptr) partners.emplace(*directory_, shared, moment, scratch.partner, metrics.lookups);
  const identity::Arrival arrival{request.head,
                                  request.peer,
                                  times.wall,
                                  *generation.memory,
                                  gate ? &*gate : nullptr,
                                  partners ? &*partners : nullptr};
  identity::Refusal why;
  const identity::Identified identified = shared.identifier.identify(arrival, scratch.caller, why);
  scratch.rows = {};
  if (identified == identity::Identified::kNotYet) return look_up(*partners, scratch, verdict);
  if (identified != identity::Identified::kYes) {
    verdict.problem = {why.status, why.code, why.detail, why.fields, why.status == 400};
    return false;
  }
  return !partners || scratch.caller.bypass || complete(*partners, scratch, verdict);
}

bool Pipeline::look_up(const PartnerView& partners, Scratch& scratch, Verdict& verdict) {
  scratch.wanted = partners.wanted();
  verdict.kind = Verdict::Kind::kLookUp;
  return false;
}

// What the database says about the partner and its plan.
bool Pipeline::complete(PartnerView& partners, Scratch& scratch, Verdict& verdict) {
  const PartnerView::Standing standing = partners.complete(scratch.caller.attributes, scratch.rows);
  if (partners.wanted()) return look_up(partners, scratch, verdict);
  if (standing == PartnerView::Standing::kUsual) return true;
  verdict.problem = kSwitchedOff;
  return false;
}

Verdict Pipeline::limit(const WorkerGeneration& generation, const Arrived& request, Scratch& scratch,
                        decide::Decision& decision, WorkerMetrics& metrics, decide::Lines::Waiter& waiter) {
  const http::RequestHead& head = request.head;
  const Times& times = request.times;
  const Generation& shared = *generation.shared;
  identity::Attributes& attributes = scratch.caller.attributes;
  attributes.set(identity::kService, shared.config.services[scratch.route.service].name);
  attributes.set(identity::kMethod, head.method);
  if (scratch.route.endpoint != route::Route::kNoEndpoint) {
    attributes.set(identity::kEndpoint, shared.router.patterns()[scratch.route.endpoint].text);
  }
  shared.policy.charge(scratch.route, head, scratch.caller, scratch.charges, scratch.rows);

  Verdict verdict{.kind = Verdict::Kind::kForward, .problem = {}, .service = scratch.route.service};
  if (scratch.charges.are_shared()) {
    if (!decider_.decide_at_once(scratch.charges, call_at(times), decision)) {
      verdict.kind = Verdict::Kind::kDecide;
      return verdict;
    }
  } else {
    decide_in_memory(scratch.charges, times, decision, metrics, waiter);
  }
  conclude({generation, scratch.charges, &head, &scratch}, decision, metrics, verdict);
  return verdict;
}

void Pipeline::decide_in_memory(const policy::Charges& charges, const Times& times, decide::Decision& decision,
                                WorkerMetrics& metrics, decide::Lines::Waiter& waiter) {
  const bool timed = until_timed_-- == 0;
  if (timed) until_timed_ = kTimedShare - 1;
  const Instant before = timed ? clock_.now() : Instant{};
  limit::Call call = call_at(times);
  call.lease = new_lease();
  decider_.decide(charges, call, decision, &waiter);
  if (timed) metrics.memory_decisions.observe(clock_.now() - before);
}

io::Task<void> Pipeline::decide(const WorkerGeneration& generation, const policy::Charges& charges, Times times,
                                decide::Decision& decision, WorkerMetrics& metrics, Verdict& verdict) {
  limit::Call call = call_at(times);
  call.lease = new_lease();
  const Instant before = clock_.now();
  co_await decider_.decide_shared(charges, call, decision);
  metrics.shared_decisions.observe(clock_.now() - before);
  const Charged charged{generation, charges};
  conclude(charged, decision, metrics, verdict);
}

// Counts the decision, wherever it was made, and says what becomes of the request.
void Pipeline::conclude(const Charged& charged, const decide::Decision& decision, WorkerMetrics& metrics,
                        Verdict& verdict) {
  count(charged.generation, charged.charges, decision);
  charged.note_refusals(decision, metrics.refusals);
  metrics.reached(decision.reached).add();
  verdict.kind = Verdict::Kind::kForward;
  if (decision.admitted) return;
  verdict.kind = Verdict::Kind::kProblem;
  if (decision.reached == decide::Reached::kMissing) {
    verdict.problem = kMissing;
  } else if (decision.outcomes.empty()) {  // the store that is away refuses, no limit does
    verdict.problem = kStoreAway;
  } else {
    verdict.kind = Verdict::Kind::kRefuse;
  }
}

void Pipeline::settle(decide::Decision& decision, int status, const http::ResponseHead* head,
                      const Times& times) const {
  if (decision.held.empty()) return;
  const auto field = [head](std::string_view name) {
    return head == nullptr ? std::nullopt : only_value(*head, name);
  };
  decider_.settle(decision, {.status = status, .field = field}, call_at(times));
}

}  // namespace weir::gateway
