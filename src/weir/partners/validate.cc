// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "weir/config/http_types.h"
#include "weir/config/near_word.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"
#include "weir/config/source.h"
#include "weir/partners/rate_rules.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

using config::Algorithm;

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = config::utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string with_hint(std::string message, const std::string& hint) {
  return hint.empty() ? message : message + "; " + hint;
}

std::string near(const std::string& word, const std::vector<std::string>& known) {
  return config::did_you_mean(word, known);
}

// Notes what is wrong with one row.
class Findings {
 public:
  explicit Findings(const Row& row) : row_(to_text(id_of(row))) {}

  void add(std::string field, std::string message) {
    faults_.push_back({row_, std::move(field), std::move(message)});
  }
  void add(const RateFault& fault) {
    if (!fault.field.empty()) add(fault.field, fault.message);
  }
  void check_text(const char* field, const std::string& text, std::size_t longest) {
    if (std::string fault = text_fault(text, longest); !fault.empty()) add(field, std::move(fault));
  }
  void check_name(const char* field, const std::string& name) {
    if (name.empty()) return add(field, "must not be empty");
    check_text(field, name, kLongestName);
  }
  // Of a limit or a service, as in the configuration.
  void check_printable(const char* field, const std::string& name) {
    if (const auto parsed = config::parse_name(name); !parsed) add(field, parsed.error().message);
  }

  Faults take() { return std::move(faults_); }

 private:
  std::string row_;
  Faults faults_;
};

void check(Findings& findings, const Plan& plan) {
  findings.check_name("name", plan.name);
  findings.check_text("note", plan.note, kLongestNote);
}

void check(Findings& findings, const Partner& partner) {
  findings.check_name("name", partner.name);
  findings.check_text("plan", partner.plan, kLongestName);
  findings.check_text("note", partner.note, kLongestNote);
}

void check(Findings& findings, const Key& key) {
  findings.check_printable("id", key.id);
  findings.check_name("partner", key.partner);
  findings.check_text("plan", key.plan, kLongestName);
  findings.check_text("note", key.note, kLongestNote);
  if (key.digest == KeyDigest{}) findings.add("key_sha256", "is not the digest of any key");
  if (key.not_before && key.expires && *key.expires <= *key.not_before) {
    findings.add("expires", "is not after `not_before`, so the key could never be used");
  }
}

void check_endpoint(Findings& findings, const std::string& endpoint) {
  if (endpoint.size() > kLongestEndpoint) {
    findings.add("endpoint", fmt::format("has {} characters; {} are allowed", endpoint.size(), kLongestEndpoint));
    return;
  }
  const bool ascii = std::ranges::all_of(endpoint, [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!ascii) return findings.add("endpoint", "consists of printable ASCII characters; others are percent-encoded");
  const auto pattern = config::parse_endpoint_pattern(endpoint);
  if (!pattern) findings.add("endpoint", with_hint(pattern.error().message, pattern.error().suggestion));
}

void check_burst(Findings& findings, const LimitRow& row, const Allowance& allowance) {
  if (!row.burst) return;
  if (*row.burst < 1) {
    findings.add("burst", fmt::format("{} is less than 1, so nothing could ever pass", *row.burst));
  } else if (*row.burst > config::kMostUnits) {
    findings.add("burst", fmt::format("{} is more than {}", *row.burst, config::kMostUnits));
  } else if (allowance.unlimited) {
    findings.add("burst", "has no meaning with an unlimited rate");
  }
}

void check(Findings& findings, const LimitRow& row) {
  findings.check_printable("limit", row.limit);
  findings.check_name(row.owner.kind == OwnerKind::kPartner ? "partner" : "plan", row.owner.name);
  if (!row.service.empty()) findings.check_printable("service", row.service);
  if (!row.endpoint.empty()) check_endpoint(findings, row.endpoint);
  findings.check_text("note", row.note, kLongestNote);
  Allowance allowance;
  const RateFault fault = read_allowance(row.rate, allowance);
  if (!fault.field.empty()) return findings.add(fault);
  check_burst(findings, row, allowance);
  const bool usable_burst = !row.burst || (*row.burst >= 1 && *row.burst <= config::kMostUnits);
  if (row.algorithm && usable_burst) findings.add(rate_fault(row, allowance, *row.algorithm, 0));
}

// Algorithms among which a row may choose: they all keep one account per caller that a rate describes.
bool is_exchangeable(Algorithm algorithm, std::int64_t queue) {
  switch (algorithm) {
    case Algorithm::kTokenBucket:
    case Algorithm::kFixedWindow:
    case Algorithm::kSlidingWindow:
    case Algorithm::kCalendar:
      return true;
    case Algorithm::kLeakyBucket:
      return queue == 0;
    case Algorithm::kSlidingLog:
    case Algorithm::kConcurrency:
      return false;
  }
  return false;
}

void check_algorithm(Findings& findings, const LimitRow& row, const LimitScope& scope) {
  if (!row.algorithm || *row.algorithm == scope.algorithm) return;
  if (!is_exchangeable(scope.algorithm, scope.queue)) {
    findings.add("algorithm", fmt::format("the limit's {}{} cannot be changed by a row", word(scope.algorithm),
                                          scope.queue > 0 ? " with a queue" : ""));
  } else if (!is_exchangeable(*row.algorithm, 0)) {
    findings.add("algorithm", fmt::format("a row cannot change {} into {}; it may choose token_bucket, fixed_window, "
                                          "sliding_window, leaky_bucket or calendar",
                                          word(scope.algorithm), word(*row.algorithm)));
  }
}

void check_service(Findings& findings, const LimitRow& row, const LimitScope& scope, const Scopes& scopes) {
  if (row.service.empty()) return;  // each of them
  if (!scope.per_service) {
    findings.add("service", "has no meaning: the limit does not count per service");
  } else if (std::ranges::find(scopes.services, row.service) == scopes.services.end()) {
    findings.add("service",
                 with_hint(fmt::format("there is no service '{}'", row.service), near(row.service, scopes.services)));
  } else if (std::ranges::find(scope.services, row.service) == scope.services.end()) {
    findings.add("service", fmt::format("the limit does not act on the service '{}'", row.service));
  }
}

void check_endpoint(Findings& findings, const LimitRow& row, const LimitScope& scope) {
  if (row.endpoint.empty() || std::ranges::find(scope.endpoints, row.endpoint) != scope.endpoints.end()) return;
  if (scope.endpoints.empty()) {
    findings.add("endpoint", "has no meaning: the limit has no patterns");
  } else {
    findings.add("endpoint", with_hint(fmt::format("'{}' is not one of the limit's patterns", row.endpoint),
                                       near(row.endpoint, scope.endpoints)));
  }
}

void check_rate(Findings& findings, const LimitRow& row, const LimitScope& scope) {
  Allowance allowance;
  if (!read_allowance(row.rate, allowance).field.empty()) return;
  const Algorithm algorithm = row.algorithm.value_or(scope.algorithm);
  const std::int64_t queue = algorithm == scope.algorithm ? scope.queue : 0;
  const RateFault fault = rate_fault(row, allowance, algorithm, queue);
  if (!fault.field.empty()) return findings.add(fault);
  if (allowance.unlimited || queue > 0) return;
  const std::int64_t capacity = capacity_of(row, allowance);
  if (capacity >= scope.cost) return;
  findings.add(row.burst ? "burst" : "rate",
               fmt::format("{} is below the cost {} of one request, so none could ever pass", capacity, scope.cost));
}

}  // namespace

std::string text_fault(std::string_view text, std::size_t longest) {
  if (text.size() > longest) return fmt::format("has {} bytes; {} are allowed", text.size(), longest);
  const bool control = std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  if (control) return "has a control character or a line break";
  return is_utf8(text) ? "" : "is not UTF-8";
}

Faults faults_of(const Row& row) {
  Findings findings(row);
  std::visit([&](const auto& one) { check(findings, one); }, row);
  return findings.take();
}

Faults faults_of(const LimitRow& row, const Scopes& scopes) {
  Findings findings(row);
  const auto scope = std::ranges::find(scopes.limits, row.limit, &LimitScope::name);
  if (scope == scopes.limits.end()) {
    std::vector<std::string> names;
    for (const LimitScope& one : scopes.limits) names.push_back(one.name);
    findings.add("limit",
                 with_hint(fmt::format("the configuration has no limit '{}'", row.limit), near(row.limit, names)));
    return findings.take();
  }
  if (!scope->from_policies) {
    findings.add("limit", fmt::format("the limit '{}' does not say `rate: policies`", row.limit));
  }
  check_service(findings, row, *scope, scopes);
  check_endpoint(findings, row, *scope);
  check_algorithm(findings, row, *scope);
  check_rate(findings, row, *scope);
  return findings.take();
}

}  // namespace weir::partners
