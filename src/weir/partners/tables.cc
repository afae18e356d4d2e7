// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "weir/partners/columns.h"
#include "weir/partners/validate.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

constexpr std::size_t kMostAtOnce = 512;  // texts in one statement

void append(std::vector<sql::Value>& values, std::vector<sql::Value> more) {
  std::ranges::move(more, std::back_inserter(values));
}

// What was edited by hand may be malformed, or well-formed and senseless.
std::expected<Row, Faults> sensible_row(RowKind kind, const Json& json) {
  auto row = row_from_json(kind, json);
  if (!row) return row;
  Faults faults = faults_of(*row);
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return row;
}

std::int64_t characters(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
}

struct Conditions {
  std::string text;
  std::vector<sql::Value> values;

  void add(const std::string& condition, std::vector<sql::Value> more) {
    text += (text.empty() ? "WHERE " : " AND ") + condition;
    append(values, std::move(more));
  }
};

Conditions conditions_of(RowKind kind, const Table& table, const RowFilter& filter) {
  Conditions conditions;
  if (!filter.prefix.empty()) {
    conditions.add(fmt::format("SUBSTR(`{}`, 1, ?) = ?", table.label), {characters(filter.prefix), filter.prefix});
  }
  if (!filter.partner.empty()) {
    conditions.add(kind == RowKind::kPartner ? "`name` = ?" : "`partner` = ?", {filter.partner});
  }
  if (!filter.plan.empty()) conditions.add(kind == RowKind::kPlan ? "`name` = ?" : "`plan` = ?", {filter.plan});
  if (filter.after) {
    const auto values = key_values(*filter.after);
    conditions.add(fmt::format("({}) > ({})", column_list(table, true), places(values.size())), values);
  }
  return conditions;
}

// A few sizes only, so that statements are prepared once.
std::size_t rounded(std::size_t count) { return std::bit_ceil(count); }

}  // namespace

std::int64_t StoredRow::revision() const {
  const auto found = json.find("revision");
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

RowId stored_id(RowKind kind, const Json& json) {
  const auto text = [&](const char* field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (kind != RowKind::kLimit) return {kind, text(kind == RowKind::kKey ? "id" : "name"), {}};
  const std::string partner = text("partner");
  const Owner owner{partner.empty() ? OwnerKind::kPlan : OwnerKind::kPartner,
                    partner.empty() ? text("plan") : partner};
  return id_of(LimitId{text("limit"), owner, text("service"), text("endpoint")});
}

sql::Result<std::vector<StoredRow>> Tables::select(RowKind kind, const std::string& rest,
                                                   const std::vector<sql::Value>& values) {
  const Table& table = table_of(kind);
  auto answer =
      connection_.query(fmt::format("SELECT {} FROM `{}` {}", column_list(table), table.name, rest), values);
  if (!answer) return std::unexpected(std::move(answer.error()));
  std::vector<StoredRow> rows;
  for (const sql::Row& one : answer->rows) {
    Json json = json_of(table, one);
    auto row = sensible_row(kind, json);
    rows.push_back({std::move(json), std::move(row)});
  }
  return rows;
}

sql::Result<std::optional<StoredRow>> Tables::find(const RowId& id) {
  auto rows = select(id.kind, "WHERE " + key_condition(table_of(id.kind)), key_values(id));
  if (!rows) return std::unexpected(std::move(rows.error()));
  if (rows->empty()) return std::nullopt;
  return std::move(rows->front());
}

sql::Result<std::vector<StoredRow>> Tables::list(RowKind kind, const RowFilter& filter) {
  const Table& table = table_of(kind);
  Conditions conditions = conditions_of(kind, table, filter);
  const auto most = static_cast<std::int64_t>(std::min<std::size_t>(filter.most, INT64_MAX));
  conditions.values.emplace_back(most);
  return select(kind, fmt::format("{} ORDER BY {} LIMIT ?", conditions.text, column_list(table, true)),
                conditions.values);
}

sql::Result<std::vector<StoredRow>> Tables::among(RowKind kind, const std::string& column,
                                                  const std::vector<std::string>& texts, const std::string& rest) {
  std::vector<StoredRow> all;
  for (std::size_t at = 0; at < texts.size(); at += kMostAtOnce) {
    const std::size_t count = std::min(kMostAtOnce, texts.size() - at);
    std::vector<sql::Value> values(texts.begin() + static_cast<std::ptrdiff_t>(at),
                                   texts.begin() + static_cast<std::ptrdiff_t>(at + count));
    values.resize(rounded(count), values.back());
    auto rows = select(kind, fmt::format("WHERE `{}` IN ({}) {}", column, places(values.size()), rest), values);
    if (!rows) return rows;
    std::ranges::move(*rows, std::back_inserter(all));
  }
  return all;
}

sql::Result<void> Tables::insert(const Row& row) {
  const Table& table = table_of(kind_of(row));
  return change(
      fmt::format("INSERT INTO `{}` ({}) VALUES ({})", table.name, column_list(table), places(table.columns.size())),
      values_of(table, to_json(row)));
}

sql::Result<void> Tables::update(const Row& row) {
  const Table& table = table_of(kind_of(row));
  std::string sets;
  for (const Column& column : table.columns) sets += fmt::format("{}`{}` = ?", sets.empty() ? "" : ", ", column.name);
  auto values = values_of(table, to_json(row));
  append(values, key_values(id_of(row)));
  return change(fmt::format("UPDATE `{}` SET {} WHERE {}", table.name, sets, key_condition(table)), values);
}

sql::Result<void> Tables::erase(const RowId& id) {
  const Table& table = table_of(id.kind);
  return change(fmt::format("DELETE FROM `{}` WHERE {}", table.name, key_condition(table)), key_values(id));
}

sql::Result<void> Tables::change(const std::string& statement, const std::vector<sql::Value>& values) {
  auto done = connection_.query(statement, values);
  if (!done) return std::unexpected(std::move(done.error()));
  return {};
}

}  // namespace weir::partners
