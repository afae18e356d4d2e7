// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "weir/explain/answer.h"
#include "weir/explain/forecast.h"
#include "weir/explain/limit_facts.h"
#include "weir/explain/origins.h"
#include "weir/explain/rehearsal.h"
#include "weir/http/parser.h"

namespace weir::explain {
namespace {

using Kind = gateway::Verdict::Kind;

// The host of the first service to which the path then goes; for one that serves every host, any name.
std::string default_host(const gateway::Generation& generation, std::string_view start) {
  constexpr std::string_view kAny = "localhost";
  const auto read = read_start(start);
  if (!read) return std::string(kAny);
  if (const std::string authority = authority_of(read->target); !authority.empty()) return authority;
  const auto& services = generation.config.services;
  std::string other;  // where the path is one that cannot be used
  route::Route route;
  for (std::size_t i = 0; i < services.size(); ++i) {
    const std::string host = services[i].hosts.empty() ? std::string(kAny) : services[i].hosts.front();
    const auto status = generation.router.find(host, path_of(read->target), read->method, route);
    if (status == route::RouteStatus::kFound && route.service == i) return host;
    if (status != route::RouteStatus::kNoService && other.empty()) other = host;
  }
  return other.empty() ? std::string(kAny) : other;
}

Result<std::optional<IpAddress>> peer_address(const std::string& from) {
  if (from == "unix") return std::nullopt;
  const auto address = IpAddress::parse(from);
  if (!address) return invalid(fmt::format("{}: the peer is an address, e.g. 192.0.2.1, or 'unix'", from));
  return address;
}

bool begins_with(std::string_view path, std::string_view prefix) {
  if (prefix == "/") return true;
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// The longest path of the service with which the request's begins, as it is written.
std::string path_in(const config::Service& service, std::string_view path) {
  std::string best;
  for (const std::string& one : service.paths) {
    if (begins_with(path, one) && one.size() > best.size()) best = one;
  }
  return best;
}

std::string host_in(const config::Service& service, std::string_view host) {
  host = host.substr(0, host.find_last_not_of('.') + 1);
  for (const std::string& one : service.hosts) {
    if (http::same_name(one, host) || http::same_name(one, host.substr(0, host.rfind(':')))) return one;
  }
  return service.hosts.empty() ? std::string() : service.hosts.front();
}

RouteFacts route_of(const Rehearsal& rehearsal, route::ServiceIndex index, const http::RequestHead& head) {
  const gateway::Generation& generation = rehearsal.generation();
  const config::Service& service = generation.config.services[index];
  const config::Upstream& upstream = generation.config.upstreams[service.upstream];
  RouteFacts facts{.service = service.name,
                   .host = host_in(service, head.host),
                   .path = path_in(service, head.path),
                   .upstream = upstream.name,
                   .addresses = {},
                   .endpoint = {}};
  for (const config::Endpoint& endpoint : upstream.endpoints) facts.addresses.push_back(endpoint.text);
  const route::PatternIndex endpoint = rehearsal.scratch().route.shadow_endpoint;
  if (endpoint != route::Route::kNoEndpoint) facts.endpoint = generation.router.patterns()[endpoint].text;
  return facts;
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
  if (!rehearsal.database_failed()) return {"database", fmt::format("looked up in {}", database)};
  const gateway::PartnerFindings& found = rehearsal.scratch().partner;
  if (found.key != nullptr || found.partner != nullptr || found.plan != nullptr) {
    return {"snapshot",
            fmt::format("{} does not answer: what was known last holds, from {}", database, policies.cache.snapshot)};
  }
  return {"away", fmt::format("{} does not answer, and nothing was known before: no rows are known", database)};
}

// One explanation in the making.
class Explainer {
 public:
  Explainer(Rehearsal& rehearsal, Counters& counters) : rehearsal_(rehearsal), counters_(counters) {}

  Explanation run(const http::RequestHead& head, const identity::Peer& peer);

 private:
  bool reaches_limits() const {
    const policy::Charges& charges = rehearsal_.scratch().charges;
    return verdict_.kind != Kind::kProblem || charges.missing_refuses != policy::Charges::kNone ||
           charges.unknown_refuses != policy::Charges::kNone;
  }
  void add_caller(const http::RequestHead& head, const identity::Peer& peer);
  void add_limits(const http::RequestHead& head);
  void decide();
  void add_counts(const std::vector<AccountQuestion>& questions,
                  const std::vector<std::vector<store::Foreseen>>& told);
  void answer();
  void hide();

  Rehearsal& rehearsal_;
  Counters& counters_;
  gateway::Verdict verdict_;
  Forecast forecast_;
  std::vector<policy::Finding> findings_;
  std::string blame_;
  std::vector<std::string> secrets_;  // values of the request that nobody may see
  Explanation result_;
};

Explanation Explainer::run(const http::RequestHead& head, const identity::Peer& peer) {
  result_.request = {.method = std::string(head.method),
                     .target = std::string(head.target),
                     .host = std::string(head.host),
                     .from = peer.text,
                     .trusted = peer.trusted};
  verdict_ = rehearsal_.judge(head, peer);
  forecast_.decision.wall = rehearsal_.times().wall.time_since_epoch().count();
  if (verdict_.service != gateway::Verdict::kNoService) {
    result_.route = route_of(rehearsal_, verdict_.service, head);
    add_caller(head, peer);
  }
  if (verdict_.service != gateway::Verdict::kNoService && reaches_limits()) {
    add_limits(head);
  } else {
    result_.limits = none_reached(rehearsal_.generation());
  }
  hide();
  answer();
  return std::move(result_);
}

void Explainer::add_caller(const http::RequestHead& head, const identity::Peer& peer) {
  const gateway::Generation& generation = rehearsal_.generation();
  const Origins origins({.generation = generation,
                         .head = head,
                         .peer = peer,
                         .times = rehearsal_.times(),
                         .directory = rehearsal_.directory(),
                         .keys = rehearsal_.keys()});
  const identity::Caller& caller = rehearsal_.scratch().caller;
  result_.attributes = origins.attributes(caller.attributes);
  result_.notes = origins.notes();
  if (caller.bypass) result_.bypass = origins.bypass();
  if (verdict_.kind == Kind::kProblem) blame_ = origins.blame(verdict_.problem.code);
  if (rehearsal_.looked_up()) result_.policies = policies_of(rehearsal_, *generation.config.policies);
  secrets_ = origins.secrets();
}

// An account can be named by a credential where a limit counts by its field.
void Explainer::hide() {
  std::vector<std::string> hidden;  // attributes
  for (AttributeFacts& attribute : result_.attributes) {
    if (std::ranges::find(secrets_, attribute.value) == secrets_.end()) continue;
    attribute.value = "(not shown)";
    hidden.push_back(attribute.name);
  }
  for (LimitFacts& limit : result_.limits) {
    if (std::ranges::find_first_of(limit.per, hidden) != limit.per.end()) limit.account = limit.key = "(not shown)";
  }
}

void Explainer::add_limits(const http::RequestHead& head) {
  const gateway::Generation& generation = rehearsal_.generation();
  const gateway::Scratch& scratch = rehearsal_.scratch();
  findings_ = generation.policy.explain(scratch.route, head, scratch.caller, scratch.rows);
  const LimitScene scene{generation, scratch.caller.attributes, scratch.partner};
  for (const policy::Finding& finding : findings_) result_.limits.push_back(facts_of(finding, scene));
  const bool missing = scratch.charges.missing_refuses != policy::Charges::kNone;
  if (!verdict_.bypass && !missing) decide();
  if (missing && verdict_.kind == Kind::kDecide) rehearsal_.decide_without_store(verdict_);
}

void Explainer::decide() {
  const policy::Charges& charges = rehearsal_.scratch().charges;
  const limit::Ticks wall = forecast_.decision.wall;
  const auto questions = questions_of(charges, findings_, rehearsal_.generation().policy.limits());
  if (questions.empty() || verdict_.kind == Kind::kProblem) return;
  auto told = counters_.look(questions, wall);
  result_.counters = counters_.source(told ? nullptr : &told.error());
  result_.answer.certain = told.has_value();
  const bool undecided = charges.unknown_refuses != policy::Charges::kNone;
  if (undecided || (!told && verdict_.kind == Kind::kDecide)) {
    rehearsal_.decide_without_store(verdict_);
    forecast_.decision = {};
    add_counts(questions, told ? *told : all_fresh(questions, wall));
    return;
  }
  const auto counted = told ? std::move(*told) : all_fresh(questions, wall);
  add_counts(questions, counted);
  forecast_ = forecast(charges, counted, wall);
  verdict_.kind = forecast_.decision.admitted ? Kind::kForward : Kind::kRefuse;
}

void Explainer::add_counts(const std::vector<AccountQuestion>& questions,
                           const std::vector<std::vector<store::Foreseen>>& told) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (std::size_t k = 0; k < told[i].size(); ++k) {
      const auto& [seen, asked] = told[i][k];
      const policy::Finding& finding = *questions[i].findings[k];
      const limit::Limit& limit = questions[i].limits[k]->variant(finding.variant);
      CountFacts count{.known = result_.answer.certain,
                       .used = limit.capacity() - seen.remaining,
                       .remaining = seen.remaining,
                       .full_after = nanoseconds(seen.reset_after),
                       .admits = asked.admitted,
                       .retry_after = {}};
      if (asked.retry_after) count.retry_after = nanoseconds(*asked.retry_after);
      result_.limits[finding.limit].count = count;
    }
  }
}

void Explainer::answer() {
  const bool certain = result_.answer.certain;
  result_.answer = answer_of(verdict_, forecast_.decision, rehearsal_.generation(), rehearsal_.times().wall);
  result_.answer.certain = certain;
  result_.answer.delay = nanoseconds(forecast_.delay);
  if (!blame_.empty()) result_.answer.text += fmt::format(" It is about {}.", blame_);
  for (LimitFacts& limit : result_.limits) limit.binds = !limit.shadow && limit.name == result_.answer.binding;
}

}  // namespace

Result<Explanation> explain(const config::Config& config, const RequestWords& words, const Clock& clock,
                            Counters& counters) {
  const auto address = peer_address(words.from);
  if (!address) return std::unexpected(address.error());
  auto rehearsal = Rehearsal::open(config, clock);
  if (!rehearsal) return std::unexpected(rehearsal.error());
  const gateway::Generation& generation = (*rehearsal)->generation();
  const auto text = RequestText::compose(words, default_host(generation, words.start));
  if (!text) return std::unexpected(text.error());
  const identity::Peer peer = generation.identifier.peer(*address);
  http::RequestParser parser(generation.rules);
  const http::Parsed parsed = parser.parse(text->bytes());
  if (parsed == http::Parsed::kComplete) return Explainer(**rehearsal, counters).run(parser.head(), peer);
  if (parsed == http::Parsed::kIncomplete) return invalid("the request has no end");
  const auto start = read_start(words.start);
  Explanation refused;
  refused.request = {
      .method = start->method, .target = start->target, .host = {}, .from = peer.text, .trusted = peer.trusted};
  refused.answer = answer_of(parser.rejection());
  refused.limits = none_reached(generation);
  return refused;
}

}  // namespace weir::explain
