// SPDX-License-Identifier: Apache-2.0
//
// weir policies plans|partners|keys|limits list|get|put|delete.
#include <fmt/format.h>

#include <cstdio>

#include "weir/app/commands.h"
#include "weir/app/policies_output.h"
#include "weir/app/policies_session.h"
#include "weir/partners/fields.h"
#include "weir/partners/words.h"

namespace weir::app {
namespace {

using partners::Json;
using partners::Row;
using partners::RowId;
using partners::RowKind;

constexpr std::size_t kPageRows = 500;

RowId id_of(RowKind kind, const PoliciesArguments& arguments) {
  if (kind != RowKind::kLimit) return {kind, arguments.name, {}};
  const bool of_plan = arguments.plan.has_value();
  const partners::Owner owner{of_plan ? partners::OwnerKind::kPlan : partners::OwnerKind::kPartner,
                              of_plan ? *arguments.plan : arguments.partner.value_or("")};
  return partners::id_of(partners::LimitId{arguments.limit.value_or(""), owner, arguments.service.value_or(""),
                                           arguments.endpoint.value_or("")});
}

// A limit has one owner.
bool has_owner(RowKind kind, const PoliciesArguments& arguments) {
  if (kind != RowKind::kLimit || arguments.plan.has_value() != arguments.partner.has_value()) return true;
  std::fputs("a limit belongs to a partner or to a plan: write --partner NAME or --plan NAME\n", stderr);
  return false;
}

partners::RowFilter filter_of(const PoliciesArguments& arguments) {
  partners::RowFilter filter;
  filter.prefix = arguments.prefix;
  filter.partner = arguments.partner.value_or("");
  filter.plan = arguments.plan.value_or("");
  filter.most = kPageRows;
  return filter;
}

template <class T>
void overwrite(Json& object, const char* field, const std::optional<T>& value) {
  if (value) object[field] = *value;
}

// What names the row, and whatever was written; the rest stays as it is.
Json fields_of(RowKind kind, const RowId& id, const PoliciesArguments& arguments, Json object) {
  if (kind == RowKind::kLimit) {
    object["limit"] = id.limit.limit;
    object[std::string(word(id.limit.owner.kind))] = id.limit.owner.name;
    overwrite(object, "service", arguments.service);
    overwrite(object, "endpoint", arguments.endpoint);
  } else {
    object[kind == RowKind::kKey ? "id" : "name"] = id.name;
    overwrite(object, "partner", arguments.partner);
    overwrite(object, "plan", arguments.plan);
  }
  overwrite(object, "enabled", arguments.enabled);
  overwrite(object, "not_before", arguments.not_before);
  overwrite(object, "expires", arguments.expires);
  overwrite(object, "algorithm", arguments.algorithm);
  overwrite(object, "rate", arguments.rate);
  overwrite(object, "burst", arguments.burst);
  overwrite(object, "mode", arguments.mode);
  overwrite(object, "note", arguments.note);
  return object;
}

// `--burst 0` takes the burst away: no row may have it.
void clear_burst(Json& object, const PoliciesArguments& arguments) {
  if (arguments.burst == 0) object.erase("burst");
}

int report(const PoliciesSession& session, const partners::Outcome<partners::Applied>& applied,
           const PoliciesArguments& arguments) {
  if (!applied) return session.tell(applied.error());
  print_changes(*applied, arguments);
  return kDone;
}

}  // namespace

int list_rows(RowKind kind, const PoliciesArguments& arguments) {
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  partners::RowFilter filter = filter_of(arguments);
  Json all = Json::array();
  do {
    const auto page = (*session)->repository().list(kind, filter);
    if (!page) return (*session)->tell(page.error());
    tell_faults(page->faults);
    for (const Row& row : page->rows) {
      if (arguments.json) {
        all.push_back(to_json(row));
      } else {
        std::puts(row_line(row).c_str());
      }
    }
    filter.after = page->next;
  } while (filter.after);
  if (arguments.json) print(all);
  return kDone;
}

int get_row(RowKind kind, const PoliciesArguments& arguments) {
  if (!has_owner(kind, arguments)) return kWrongUsage;
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const RowId id = id_of(kind, arguments);
  const auto row = (*session)->repository().get(id);
  if (!row) return (*session)->tell(row.error());
  if (!*row) {
    std::fprintf(stderr, "there is no %s\n", to_text(id).c_str());
    return kFailed;
  }
  if (arguments.json) {
    print(to_json(**row));
  } else {
    std::puts(row_line(**row).c_str());
  }
  return kDone;
}

int put_row(RowKind kind, const PoliciesArguments& arguments) {
  if (!has_owner(kind, arguments)) return kWrongUsage;
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const RowId id = id_of(kind, arguments);
  const auto there = (*session)->repository().get(id);
  const bool spoiled = !there && there.error().kind == partners::Refusal::Kind::kWrong;
  if (!there && !spoiled) return (*session)->tell(there.error());
  const bool known = there && there->has_value();
  if (kind == RowKind::kKey && !known) {
    std::fprintf(stderr, "there is no %s; `weir policies keys create` makes one\n", to_text(id).c_str());
    return kFailed;
  }
  Json object = fields_of(kind, id, arguments, known ? to_json(**there) : Json::object());
  clear_burst(object, arguments);
  const auto row = partners::row_from_json(kind, object);
  if (!row) return (*session)->tell({partners::Refusal::Kind::kWrong, {}, row.error()});
  // Whoever changes the row at the same time is not overwritten.
  const auto edit = known     ? partners::Edit::change(*row, **there)
                    : spoiled ? partners::Edit::put(*row)
                              : partners::Edit::put(*row, 0);
  return report(**session, (*session)->announced((*session)->repository().apply({edit}, write_options(arguments))),
                arguments);
}

int delete_row(RowKind kind, const PoliciesArguments& arguments) {
  if (!has_owner(kind, arguments)) return kWrongUsage;
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const auto edit = partners::Edit::remove(id_of(kind, arguments));
  return report(**session, (*session)->announced((*session)->repository().apply({edit}, write_options(arguments))),
                arguments);
}

}  // namespace weir::app
