// SPDX-License-Identifier: Apache-2.0
//
// weir policies migrate|changes|check.
#include <cstdio>

#include "weir/app/commands.h"
#include "weir/app/policies_output.h"
#include "weir/app/policies_session.h"
#include "weir/partners/migrations.h"
#include "weir/partners/time_text.h"
#include "weir/partners/words.h"

namespace weir::app {

int migrate_policies(const PoliciesArguments& arguments) {
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const auto before = (*session)->repository().migrate();
  if (!before) return (*session)->tell(before.error());
  if (*before > partners::kSchemaVersion) {
    std::fprintf(stderr, "the database at %s has schema %lld, made by a newer weir; this one knows %lld\n",
                 (*session)->database().c_str(), static_cast<long long>(*before),
                 static_cast<long long>(partners::kSchemaVersion));
    return kFailed;
  }
  if (*before == partners::kSchemaVersion) {
    std::printf("schema %lld already\n", static_cast<long long>(*before));
  } else {
    std::printf("schema %lld, from %lld\n", static_cast<long long>(partners::kSchemaVersion),
                static_cast<long long>(*before));
  }
  return kDone;
}

int list_policy_changes(const PoliciesArguments& arguments) {
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  partners::ChangeFilter filter;
  filter.after = arguments.after;
  if (arguments.kind) filter.kind = partners::row_kind(*arguments.kind);
  filter.partner = arguments.partner.value_or("");
  filter.by = arguments.by.value_or("");
  filter.newest_first = arguments.after == 0;
  filter.most = arguments.most;
  const auto changes = (*session)->repository().changes(filter);
  if (!changes) return (*session)->tell(changes.error());
  partners::Json all = partners::Json::array();
  for (const partners::Change& change : *changes) {
    if (arguments.json) {
      all.push_back(to_json(change));
      continue;
    }
    std::printf("%lld %s %s %s %s %s\n", static_cast<long long>(change.revision),
                partners::time_text(change.at).c_str(), change.by.c_str(), std::string(word(change.action)).c_str(),
                std::string(word(change.kind)).c_str(), change.name.c_str());
    if (!change.before.empty()) std::printf("  - %s\n", change.before.c_str());
    if (!change.after.empty()) std::printf("  + %s\n", change.after.c_str());
  }
  if (arguments.json) print(all);
  return kDone;
}

int check_policies(const PoliciesArguments& arguments) {
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const auto faults = (*session)->repository().check();
  if (!faults) return (*session)->tell(faults.error());
  if (arguments.json) {
    partners::Json all = partners::Json::array();
    for (const partners::Fault& fault : *faults) all.push_back(to_json(fault));
    print(all);
  } else {
    for (const partners::Fault& fault : *faults) std::fprintf(stderr, "%s\n", to_text(fault).c_str());
    if (faults->empty()) std::printf("%s: ok\n", (*session)->database().c_str());
  }
  return faults->empty() ? kDone : kFailed;
}

}  // namespace weir::app
