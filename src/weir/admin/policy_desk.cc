// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/policy_desk.h"

namespace weir::admin {

partners::WriteOptions options_of(const Question& question) {
  return {.by = question.by, .dry_run = question.is_set("dry_run")};
}

partners::Json json_of(const partners::Applied& applied, const Question& question) {
  partners::Json changes = partners::Json::array();
  for (const partners::Change& change : applied.changes) changes.push_back(to_json(change));
  return {{"dry_run", question.is_set("dry_run")}, {"unchanged", applied.unchanged}, {"changes", std::move(changes)}};
}

}  // namespace weir::admin
