// SPDX-License-Identifier: Apache-2.0
#include "weir/accounts/account_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "weir/accounts/limit_text.h"

namespace weir::accounts {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

ReportedCounter::Count count_of(const limit::Limit& limit, const limit::Outcome& outcome, nanoseconds full_after) {
  return {.used = limit.capacity() - outcome.remaining, .remaining = outcome.remaining, .full_after = full_after};
}

constexpr std::int64_t kMicro = 1000;

limit::Outcome in_nanoseconds(limit::Outcome outcome) {
  if (outcome.retry_after) *outcome.retry_after *= kMicro;
  if (outcome.next_after) *outcome.next_after *= kMicro;
  outcome.reset_after *= kMicro;
  return outcome;
}

// What a slot says of itself.
void add_own_words(const store::ForeignSlot& slot, limit::Cost cost, ReportedCounter& counter) {
  if (!slot.limit) return;
  counter.algorithm = algorithm_text(*slot.limit);
  if (!slot.outcome) return;
  counter.numbers = numbers_text(*slot.limit);
  counter.count = count_of(*slot.limit, *slot.outcome, microseconds(slot.outcome->reset_after));
  if (slot.asked) counter.asked = {cost, in_nanoseconds(*slot.asked)};
}

void add_numbers(const policy::CountedSlot& slot, const store::SlotFinding& finding, limit::Cost cost,
                 ReportedCounter& counter) {
  if (finding.written) add_own_words(*finding.written, cost, counter);
  counter.never_used = !finding.found;
  if (slot.variants.empty() && !finding.row_known) return;  // they come with each caller
  const bool by_row = finding.row_known;
  const limit::Limit& limit = by_row ? slot.rows->limit(finding.variant) : slot.variants[finding.variant];
  if (by_row) counter.algorithm = algorithm_text(limit);
  counter.numbers = numbers_text(limit, by_row ? slot.rows->rate(finding.variant) : slot.rates[finding.variant]);
  counter.count = count_of(limit, finding.outcome, nanoseconds(finding.outcome.reset_after));
  counter.never_used = !finding.found && counter.count->used == 0;
  if (finding.asked) counter.asked = {cost, *finding.asked};
}

ReportedCounter counter_of(const config::Config& config, const policy::CountedSlot& slot,
                           const store::SlotFinding& finding, limit::Cost cost) {
  const config::Limit& configured = config.limits[slot.limit];
  ReportedCounter counter{.name = configured.name,
                          .by_endpoint = slot.by_endpoint,
                          .endpoint = slot.endpoint,
                          .method = slot.method,
                          .shadow = slot.shadow,
                          .algorithm = algorithm_text(configured.algorithm),
                          .numbers = {},
                          .count = {},
                          .asked = {},
                          .never_used = false,
                          .other_numbers = finding.other_numbers};
  add_numbers(slot, finding, cost, counter);
  return counter;
}

ReportedCounter counter_of(const store::ForeignSlot& slot) {
  ReportedCounter counter;
  counter.name = fmt::format("{:08x}", slot.id);
  add_own_words(slot, 0, counter);
  return counter;
}

// Of many counters of one limit, those that were used; without any, one for all.
void add_counters(const config::Config& config, const policy::CountedKind& kind,
                  const std::vector<store::SlotFinding>& findings, limit::Cost cost,
                  std::vector<ReportedCounter>& counters) {
  for (std::size_t i = 0; i < kind.slots.size();) {
    const std::size_t first = i;
    const std::size_t before = counters.size();
    for (; i < kind.slots.size() && kind.slots[i].limit == kind.slots[first].limit; ++i) {
      ReportedCounter counter = counter_of(config, kind.slots[i], findings[i], cost);
      if (!counter.never_used) counters.push_back(std::move(counter));
    }
    if (counters.size() > before) continue;
    ReportedCounter& all = counters.emplace_back(counter_of(config, kind.slots[first], findings[first], cost));
    all.by_endpoint = false;
    all.endpoint.clear();
    all.method.clear();
  }
}

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

std::string notes_of(const ReportedCounter& counter) {
  std::string notes;
  const auto add = [&notes](bool applies, const char* note) {
    if (applies) notes += (notes.empty() ? "" : ", ") + std::string(note);
  };
  add(counter.shadow, "shadow");
  add(counter.never_used, "never used");
  add(counter.other_numbers, "written with other numbers");
  return notes;
}

Row row_of(const ReportedCounter& counter) {
  std::string name = counter.name;
  if (counter.by_endpoint) name += counter.endpoint.empty() ? " (no endpoint)" : " " + counter.endpoint;
  if (!counter.method.empty()) name += " [" + counter.method + "]";
  Row row{name, counter.algorithm, counter.numbers, "?", "?", "?", notes_of(counter)};
  if (!counter.count) return row;
  row[3] = std::to_string(counter.count->used);
  row[4] = std::to_string(counter.count->remaining);
  row[5] = counter.count->full_after.count() == 0 ? "-" : round_text(counter.count->full_after);
  return row;
}

// Columns of words stand left, columns of numbers right.
void write_table(const std::vector<Row>& rows, std::string& out) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const bool is_number = i >= 3 && i <= 5;
      line += is_number ? fmt::format("  {:>{}}", row[i], widths[i]) : fmt::format("  {:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

void write_section(const std::string& title, const std::vector<ReportedCounter>& counters, std::string& out) {
  out += '\n' + title + '\n';
  std::vector<Row> rows{{"LIMIT", "ALGORITHM", "NUMBERS", "USED", "REMAINING", "FULL IN", ""}};
  for (const ReportedCounter& counter : counters) rows.push_back(row_of(counter));
  write_table(rows, out);
}

nlohmann::json millis_of(std::optional<limit::Ticks> time) {
  if (!time) return nullptr;
  return std::chrono::ceil<std::chrono::milliseconds>(nanoseconds(*time)).count();
}

// A request that no wait helps has a retry_after_ms of null.
nlohmann::ordered_json json_of(const ReportedCounter::Asked& asked) {
  const limit::Outcome& outcome = asked.outcome;
  return {{"cost", asked.cost},
          {"admitted", outcome.admitted},
          {"retry_after_ms", millis_of(outcome.retry_after)},
          {"remaining", outcome.remaining},
          {"full_after_ms", millis_of(outcome.reset_after)},
          {"next_after_ms", millis_of(outcome.next_after)}};
}

nlohmann::ordered_json json_of(const ReportedCounter& counter, bool is_limit) {
  nlohmann::ordered_json json;
  json[is_limit ? "limit" : "slot"] = counter.name;
  if (counter.by_endpoint)
    json["endpoint"] = counter.endpoint.empty() ? nlohmann::json() : nlohmann::json(counter.endpoint);
  if (!counter.method.empty()) json["method"] = counter.method;
  if (!counter.algorithm.empty()) json["algorithm"] = counter.algorithm;
  if (!counter.numbers.empty()) json["numbers"] = counter.numbers;
  if (counter.count) {
    json["used"] = counter.count->used;
    json["remaining"] = counter.count->remaining;
    json["full_after_ms"] = std::chrono::ceil<std::chrono::milliseconds>(counter.count->full_after).count();
  }
  if (counter.asked) json["asked"] = json_of(*counter.asked);
  if (!is_limit) return json;
  json["shadow"] = counter.shadow;
  json["never_used"] = counter.never_used;
  json["other_numbers"] = counter.other_numbers;
  return json;
}

}  // namespace

AccountReport make_report(const config::Config& config, const std::string& key,
                          const std::vector<policy::CountedKind>& kinds, const store::AccountFindings& findings) {
  AccountReport report{.key = key, .exists = findings.exists, .life = findings.life, .groups = {}, .others = {}};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto known = std::ranges::find(report.groups, kinds[i].per, &ReportedGroup::per);
    auto& group = known != report.groups.end() ? *known : report.groups.emplace_back(ReportedGroup{kinds[i].per, {}});
    add_counters(config, kinds[i], findings.kinds[i], findings.cost, group.counters);
  }
  for (const store::ForeignSlot& slot : findings.foreign) report.others.push_back(counter_of(slot));
  return report;
}

ReportedCounter make_counter(const config::Config& config, const policy::CountedSlot& slot,
                             const store::SlotFinding& finding) {
  return counter_of(config, slot, finding, 0);
}

std::string to_text(const AccountReport& report) {
  std::string out = "account  " + report.key + '\n';
  if (report.life) {
    out += "expires  in " + round_text(*report.life) + '\n';
  } else {
    out += report.exists ? "expires  never\n" : "never used\n";
  }
  for (const ReportedGroup& group : report.groups) {
    std::string title;
    for (const std::string& attribute : group.per) title += (title.empty() ? "per " : ", ") + attribute;
    write_section(title.empty() ? "of everybody" : title, group.counters, out);
  }
  if (report.groups.empty()) out += "\nno limit of this configuration counts by so many values\n";
  if (!report.others.empty()) write_section("of no limit of this configuration", report.others, out);
  return out;
}

std::string to_json(const AccountReport& report) {
  nlohmann::ordered_json json{{"account", report.key}, {"exists", report.exists}};
  json["expires_after_ms"] = report.life ? nlohmann::json(report.life->count()) : nlohmann::json();
  json["groups"] = nlohmann::json::array();
  for (const ReportedGroup& group : report.groups) {
    nlohmann::ordered_json limits = nlohmann::json::array();
    for (const ReportedCounter& counter : group.counters) limits.push_back(json_of(counter, true));
    json["groups"].push_back({{"per", group.per}, {"limits", std::move(limits)}});
  }
  json["others"] = nlohmann::json::array();
  for (const ReportedCounter& counter : report.others) json["others"].push_back(json_of(counter, false));
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

std::string to_json(const ReportedCounter& counter) {
  return json_of(counter, true).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace weir::accounts
