// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "weir/accounts/limit_text.h"
#include "weir/explain/answer.h"
#include "weir/explain/forecast.h"
#include "weir/explain/limit_facts.h"
#include "weir/explain/origins.h"
#include "weir/explain/rehearsal.h"
#include "weir/explain/route_facts.h"
#include "weir/explain/secrets.h"
#include "weir/http/parser.h"
#include "weir/policy/local_share.h"

namespace weir::explain {
namespace {

using Kind = gateway::Verdict::Kind;

Result<std::optional<IpAddress>> peer_address(const std::string& from) {
  if (from == "unix") return std::nullopt;
  const auto address = IpAddress::parse(from);
  if (!address) return invalid(fmt::format("{}: the peer is an address, e.g. 192.0.2.1, or 'unix'", from));
  return address;
}

std::string word_of(config::StoreFailure failure) {
  switch (failure) {
    case config::StoreFailure::kOpen:
      return "open";
    case config::StoreFailure::kClosed:
      return "closed";
    case config::StoreFailure::kLocal:
      break;
  }
  return "local";
}

CountFacts count_of(const limit::Limit& limit, const store::Foreseen& told) {
  CountFacts count{.used = limit.capacity() - told.seen.remaining,
                   .remaining = told.seen.remaining,
                   .full_after = nanoseconds(told.seen.reset_after),
                   .admits = told.asked.admitted,
                   .retry_after = {}};
  if (told.asked.retry_after) count.retry_after = nanoseconds(*told.asked.retry_after);
  return count;
}

std::vector<LimitFacts> none_reached(const gateway::Generation& generation) {
  std::vector<LimitFacts> limits;
  for (std::size_t i = 0; i < generation.config.limits.size(); ++i) {
    limits.push_back(not_reached(generation.policy.limits()[i], generation.config.limits[i]));
  }
  return limits;
}

SourceFacts policies_of(const Rehearsal& rehearsal, const config::Policies& policies) {
  const std::string& database = policies.sql.url.text;
  const Rehearsal::LookUps& look_ups = rehearsal.look_ups();
  if (!look_ups.failed) {
    std::string text = fmt::format("looked up in {}", database);
    if (look_ups.late) {
      text += fmt::format("; with connecting it took longer than a gateway waits (policies.budget: {})",
                          accounts::round_text(policies.budget));
    }
    return {"database", std::move(text)};
  }
  const std::string away = look_ups.too_late ? fmt::format("{} has not answered within {}", database,
                                                           accounts::round_text(policies.budget + Rehearsal::kMargin))
                                             : fmt::format("{} does not answer", database);
  const gateway::PartnerFindings& found = rehearsal.scratch().partner;
  if (found.key != nullptr || found.partner != nullptr || found.plan != nullptr) {
    return {"snapshot", fmt::format("{}: what was known last holds, from {}", away, policies.cache.snapshot)};
  }
  return {"away", away + ", and nothing was known before: no rows are known"};
}

// One explanation in the making.
class Explainer {
 public:
  Explainer(Rehearsal& rehearsal, Counters& counters, const http::RequestHead& head, const identity::Peer& peer)
      : rehearsal_(rehearsal),
        counters_(counters),
        head_(head),
        peer_(peer),
        generation_(rehearsal.generation()),
        wall_(rehearsal.times().wall.time_since_epoch().count()),
        secrets_(generation_.config, head) {}

  Explanation run();

 private:
  using Told = std::vector<std::vector<store::Foreseen>>;

  bool reaches_limits() const {
    const policy::Charges& charges = rehearsal_.scratch().charges;
    return verdict_.kind != Kind::kProblem || charges.missing_refuses != policy::Charges::kNone ||
           charges.unknown_refuses != policy::Charges::kNone;
  }
  void add_caller();
  void add_limits();
  void decide();
  void decide_without_store(const std::vector<AccountQuestion>& questions);
  void add_counts(const std::vector<AccountQuestion>& questions, const Told& told, bool known);
  void add_share(const AccountQuestion& question, std::size_t index);
  void conclude_limits();
  void answer();
  const decide::Decision& decision() const { return forecast_ ? *forecast_ : rehearsal_.decision(); }

  Rehearsal& rehearsal_;
  Counters& counters_;
  const http::RequestHead& head_;
  const identity::Peer& peer_;
  const gateway::Generation& generation_;
  const limit::Ticks wall_;
  const Secrets secrets_;
  gateway::Verdict verdict_;
  std::optional<decide::Decision> forecast_;  // absent: what the rehearsal has decided holds
  std::vector<policy::Finding> findings_;
  std::string blame_;
  Explanation result_;
};

Explanation Explainer::run() {
  result_.request = {.method = std::string(head_.method),
                     .target = shown_target(head_.target),
                     .path = without_user(head_.path),
                     .host = std::string(head_.host),
                     .from = peer_.text,
                     .trusted = peer_.trusted};
  verdict_ = rehearsal_.judge(head_, peer_);
  const bool has_service = verdict_.service != gateway::Verdict::kNoService;
  if (has_service) {
    result_.route = route_facts(generation_, rehearsal_.scratch().route, head_);
    add_caller();
  }
  if (has_service && reaches_limits()) {
    add_limits();
  } else {
    result_.limits = none_reached(generation_);
  }
  answer();
  conclude_limits();
  return std::move(result_);
}

void Explainer::add_caller() {
  const Origins origins({.generation = generation_,
                         .head = head_,
                         .peer = peer_,
                         .times = rehearsal_.times(),
                         .directory = rehearsal_.directory(),
                         .looked_up = rehearsal_.looked_up(),
                         .keys = rehearsal_.keys(),
                         .scratch = rehearsal_.scratch()},
                        secrets_);
  result_.attributes = origins.attributes();
  result_.notes = origins.notes();
  if (rehearsal_.scratch().caller.bypass) result_.bypass = origins.bypass();
  if (verdict_.kind == Kind::kProblem) blame_ = origins.blame(verdict_.problem.code);
  if (rehearsal_.look_ups().wanted) result_.policies = policies_of(rehearsal_, *generation_.config.policies);
}

void Explainer::add_limits() {
  const gateway::Scratch& scratch = rehearsal_.scratch();
  findings_ = generation_.policy.explain(scratch.route, head_, scratch.caller, scratch.rows);
  const LimitScene scene{generation_, scratch.caller.attributes, scratch.partner, secrets_};
  for (const policy::Finding& finding : findings_) result_.limits.push_back(facts_of(finding, scene));
  const bool missing = scratch.charges.missing_refuses != policy::Charges::kNone;
  if (!verdict_.bypass && !missing) decide();
  if (missing && verdict_.kind == Kind::kDecide) rehearsal_.decide_without_store(verdict_);
}

void Explainer::decide() {
  const policy::Charges& charges = rehearsal_.scratch().charges;
  const auto questions = questions_of(charges, findings_, generation_.policy.limits());
  if (questions.empty() || verdict_.kind == Kind::kProblem) return;
  const auto told = counters_.look(questions, wall_);
  result_.counters = counters_.source(told ? nullptr : &told.error());
  result_.answer.certain = told.has_value() && counters_.is_exact();
  const bool undecided = charges.unknown_refuses != policy::Charges::kNone;  // whatever the store says
  if (!told && !undecided && verdict_.kind == Kind::kDecide) return decide_without_store(questions);
  const Told counted = told ? *told : all_fresh(questions, wall_);
  add_counts(questions, counted, told.has_value());
  if (undecided) return rehearsal_.decide_without_store(verdict_);
  forecast_ = forecast(charges, counted, wall_);
  verdict_.kind = forecast_->admitted ? Kind::kForward : Kind::kRefuse;
}

// As a gateway does that cannot reach the store: of what is counted then, only its own share is known.
void Explainer::decide_without_store(const std::vector<AccountQuestion>& questions) {
  rehearsal_.decide_without_store(verdict_);
  for (const AccountQuestion& question : questions) {
    for (std::size_t i = 0; i < question.findings.size(); ++i) add_share(question, i);
  }
}

void Explainer::add_share(const AccountQuestion& question, std::size_t index) {
  const policy::Finding& finding = *question.findings[index];
  const policy::LimitInfo& info = *question.limits[index];
  LimitFacts& facts = result_.limits[finding.limit];
  facts.without_store = question.account.shadow ? "nothing" : word_of(info.on_store_failure);
  if (facts.without_store != "local") return;
  const limit::Limit share = policy::share_of(info.variant(finding.variant), generation_.config.gateways);
  facts.count = count_of(share, fresh(share, wall_, question.account.phase, finding.cost));
  facts.count->known = false;
}

void Explainer::add_counts(const std::vector<AccountQuestion>& questions, const Told& told, bool known) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (std::size_t k = 0; k < told[i].size(); ++k) {
      const policy::Finding& finding = *questions[i].findings[k];
      CountFacts count = count_of(questions[i].limits[k]->variant(finding.variant), told[i][k]);
      count.known = known;
      result_.limits[finding.limit].count = count;
    }
  }
}

// Why no limit counts the request; empty: it is admitted.
std::string why_not(const AnswerFacts& answer) {
  if (answer.word == "refuse") return fmt::format("limit {} refuses the request", answer.binding);
  if (answer.word == "problem") return fmt::format("the request is answered with {} {}", answer.status, answer.code);
  return {};
}

void Explainer::conclude_limits() {
  const AnswerFacts& answer = result_.answer;
  const Ending ending{.admitted = answer.word == "forward",
                      .why = why_not(answer),
                      .store_closed = decision().reached == decide::Reached::kClosed && decision().outcomes.empty()};
  for (std::size_t i = 0; i < result_.limits.size(); ++i) {
    LimitFacts& facts = result_.limits[i];
    facts.binds = facts.applies && !facts.shadow && facts.name == answer.binding;
    if (!facts.applies) continue;
    const bool refuses = std::ranges::any_of(decision().outcomes, [&](const decide::LimitOutcome& one) {
      return one.limit == i && !one.outcome.admitted && answer.word == "refuse";
    });
    conclude(ending, refuses, facts);
  }
}

void Explainer::answer() {
  const bool certain = result_.answer.certain;
  const Occasion occasion{.now = rehearsal_.times().wall, .head_only = head_.method_id == http::Method::kHead};
  result_.answer = answer_of(verdict_, decision(), generation_, occasion);
  result_.answer.certain = certain;
  if (!blame_.empty()) result_.answer.text += fmt::format(" It is about {}.", blame_);
}

// Of what is no request.
Explanation rejection_of(const Rehearsal& rehearsal, const http::Rejection& why, const RequestStart& start,
                         const identity::Peer& peer) {
  Explanation refused;
  refused.request = {.method = start.method,
                     .target = shown_target(start.target),
                     .path = {},
                     .host = {},
                     .from = peer.text,
                     .trusted = peer.trusted};
  refused.answer = answer_of(why, rehearsal.times().wall);
  refused.limits = none_reached(rehearsal.generation());
  return refused;
}

}  // namespace

Result<Explanation> explain(const config::Config& config, const RequestWords& words, const Clock& clock,
                            Counters& counters) {
  const auto address = peer_address(words.from);
  if (!address) return std::unexpected(address.error());
  const auto start = read_start(words.start);
  if (!start) return std::unexpected(start.error());
  auto rehearsal = Rehearsal::open(config, clock);
  if (!rehearsal) return std::unexpected(rehearsal.error());
  const gateway::Generation& generation = (*rehearsal)->generation();
  const auto text = RequestText::compose(words, default_host(generation, words.start));
  if (!text) return std::unexpected(text.error());
  const identity::Peer peer = generation.identifier.peer(*address);
  http::RequestParser parser(generation.rules);
  const http::Parsed parsed = parser.parse(text->bytes());
  if (parsed == http::Parsed::kIncomplete) return invalid("the request has no end");
  if (parsed == http::Parsed::kRejected) return rejection_of(**rehearsal, parser.rejection(), *start, peer);
  return Explainer(**rehearsal, counters, parser.head(), peer).run();
}

}  // namespace weir::explain
