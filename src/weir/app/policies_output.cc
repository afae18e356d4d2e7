// SPDX-License-Identifier: Apache-2.0
#include "weir/app/policies_output.h"

#include <fmt/format.h>

#include <cstdio>

#include "weir/app/policies_session.h"
#include "weir/partners/words.h"

namespace weir::app {

using partners::Json;

void print(const Json& json) { std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str()); }

Json changes_json(const partners::Applied& applied, const PoliciesArguments& arguments) {
  Json changes = Json::array();
  for (const partners::Change& change : applied.changes) changes.push_back(to_json(change));
  return {{"dry_run", arguments.dry_run}, {"unchanged", applied.unchanged}, {"changes", std::move(changes)}};
}

void print_changes(const partners::Applied& applied, const PoliciesArguments& arguments) {
  if (arguments.json) return print(changes_json(applied, arguments));
  for (const partners::Change& change : applied.changes) {
    std::printf("%s %s %s\n", std::string(word(change.action)).c_str(), std::string(word(change.kind)).c_str(),
                change.name.c_str());
    if (!change.before.empty()) std::printf("  - %s\n", change.before.c_str());
    if (!change.after.empty()) std::printf("  + %s\n", change.after.c_str());
  }
  if (applied.changes.empty()) std::puts("nothing is different");
  if (arguments.dry_run) std::puts("dry run: nothing was written");
}

std::string row_line(const partners::Row& row) {
  std::string line;
  const Json object = to_json(row);
  for (const auto& [field, value] : object.items()) {
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", field, partners::compact(value));
  }
  return line;
}

void tell_faults(const partners::Faults& faults) {
  for (const partners::Fault& fault : faults) std::fprintf(stderr, "not used: %s\n", to_text(fault).c_str());
}

partners::WriteOptions write_options(const PoliciesArguments& arguments) {
  return {.by = arguments.by.value_or(process_author()), .dry_run = arguments.dry_run};
}

}  // namespace weir::app
