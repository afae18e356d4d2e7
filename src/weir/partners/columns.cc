// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/columns.h"

#include <fmt/format.h>

#include <array>

namespace weir::partners {
namespace {

using enum Column::Type;

constexpr Column kNote{"note"};
constexpr Column kRevision{"revision", kNumber};
constexpr Column kChangedAt{"changed_at", kNullable};
constexpr Column kChangedBy{"changed_by"};

constexpr std::array kPlanColumns{Column{"name", kText, true}, kNote, kRevision, kChangedAt, kChangedBy};
constexpr std::array kPartnerColumns{Column{"name", kText, true},
                                     Column{"plan", kNullable},
                                     Column{"enabled", kTruth},
                                     kNote,
                                     kRevision,
                                     kChangedAt,
                                     kChangedBy};
constexpr std::array kKeyColumns{Column{"id", kText, true},
                                 Column{"key_sha256"},
                                 Column{"partner"},
                                 Column{"plan", kNullable},
                                 Column{"enabled", kTruth},
                                 Column{"not_before", kNullable},
                                 Column{"expires", kNullable},
                                 kNote,
                                 kRevision,
                                 kChangedAt,
                                 kChangedBy};
constexpr std::array kLimitColumns{Column{"partner", kText, true},
                                   Column{"plan", kText, true},
                                   Column{"limit", kText, true},
                                   Column{"service", kText, true},
                                   Column{"endpoint", kText, true},
                                   Column{"algorithm", kNullable},
                                   Column{"rate"},
                                   Column{"burst", kNullNumber},
                                   Column{"mode"},
                                   kNote,
                                   kRevision,
                                   kChangedAt,
                                   kChangedBy};

// In the order of RowKind.
constexpr std::array kTables{Table{"plans", "name", kPlanColumns}, Table{"partners", "name", kPartnerColumns},
                             Table{"api_keys", "id", kKeyColumns}, Table{"limits", "limit", kLimitColumns}};

sql::Value absent(Column::Type type) {
  if (type == kText) return std::string();
  if (type == kNumber || type == kTruth) return std::int64_t{0};
  return sql::Null{};
}

sql::Value value_of(const Column& column, const Json& row) {
  const auto found = row.find(column.name);
  if (found == row.end()) return absent(column.type);
  if (found->is_boolean()) return std::int64_t{found->get<bool>() ? 1 : 0};
  if (found->is_number_integer()) return found->get<std::int64_t>();
  return found->get<std::string>();
}

// What is empty is absent.
void add_field(Json& json, const Column& column, const sql::Value& value) {
  const std::string name(column.name);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const bool is_truth = column.type == kTruth && (*number == 0 || *number == 1);
    json[name] = is_truth ? Json(*number == 1) : Json(*number);
  } else if (const auto* text = std::get_if<std::string>(&value); text != nullptr && !text->empty()) {
    json[name] = *text;
  } else if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
    json[name] = bytes->octets;
  }
}

}  // namespace

const Table& table_of(RowKind kind) { return kTables[static_cast<std::size_t>(kind)]; }

std::vector<sql::Value> values_of(const Table& table, const Json& row) {
  std::vector<sql::Value> values;
  for (const Column& column : table.columns) values.push_back(value_of(column, row));
  return values;
}

std::vector<sql::Value> key_values(const RowId& id) {
  if (id.kind != RowKind::kLimit) return {id.name};
  const LimitId& limit = id.limit;
  const bool of_partner = limit.owner.kind == OwnerKind::kPartner;
  return {of_partner ? limit.owner.name : std::string(), of_partner ? std::string() : limit.owner.name, limit.limit,
          limit.service, limit.endpoint};
}

Json json_of(const Table& table, const sql::Row& row) {
  Json json = Json::object();
  for (std::size_t i = 0; i < table.columns.size(); ++i) add_field(json, table.columns[i], row.at(i));
  return json;
}

std::string key_condition(const Table& table) {
  std::string text;
  for (const Column& column : table.columns) {
    if (column.is_key) text += fmt::format("{}`{}` = ?", text.empty() ? "" : " AND ", column.name);
  }
  return text;
}

std::string column_list(const Table& table, bool keys_only) {
  std::string text;
  for (const Column& column : table.columns) {
    if (column.is_key || !keys_only) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", column.name);
  }
  return text;
}

std::string places(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "?" : ", ?";
  return text;
}

}  // namespace weir::partners
