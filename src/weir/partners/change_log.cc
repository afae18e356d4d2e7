// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/change_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weir/partners/digest.h"
#include "weir/partners/time_text.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

constexpr const char* kColumns =
    "revision, changed_at, changed_by, action, kind, name, subject_kind, subject, `before`, `after`";

sql::Value text_or_null(const std::string& text) {
  if (text.empty()) return sql::Null{};
  return text;
}

std::string text_of(const sql::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

std::optional<Subject> subject_from(const std::string& kind, const std::string& text) {
  const auto known = subject_kind(kind);
  return known ? partners::subject_from(*known, text) : std::nullopt;
}

std::optional<Change> change_of(const sql::Row& row) {
  const auto* revision = std::get_if<std::int64_t>(&row.at(0));
  const auto at = parse_time(text_of(row.at(1)));
  const auto what = action(text_of(row.at(3)));
  const auto kind = row_kind(text_of(row.at(4)));
  auto subject = subject_from(text_of(row.at(6)), text_of(row.at(7)));
  if (revision == nullptr || !at || !what || !kind || !subject) return std::nullopt;
  return Change{.revision = *revision,
                .at = *at,
                .by = text_of(row.at(2)),
                .action = *what,
                .subject = *std::move(subject),
                .kind = *kind,
                .name = text_of(row.at(5)),
                .before = text_of(row.at(8)),
                .after = text_of(row.at(9))};
}

}  // namespace

sql::Result<std::int64_t> ChangeLog::number(const std::string& statement, const std::vector<sql::Value>& values) {
  auto answer = connection_.query(statement, values);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto* found = answer->rows.empty() ? nullptr : std::get_if<std::int64_t>(&answer->rows[0][0]);
  if (found == nullptr) return std::unexpected(sql::Error{sql::ErrorKind::kInvalid, "the table `revision` is empty"});
  return *found;
}

sql::Result<std::int64_t> ChangeLog::revision() { return number("SELECT revision FROM revision WHERE id = 1", {}); }

// A writing transaction of SQLite is the only one anyway.
sql::Result<std::int64_t> ChangeLog::lock() {
  if (connection_.dialect() == sql::Dialect::kSqlite) return revision();
  return number("SELECT revision FROM revision WHERE id = 1 FOR UPDATE", {});
}

sql::Result<void> ChangeLog::append(const std::string& change_id, const Change& change, const std::string& partner) {
  const std::vector<sql::Value> values{change.revision,
                                       time_text(change.at),
                                       change.by,
                                       std::string(word(change.action)),
                                       std::string(word(change.kind)),
                                       change.name,
                                       std::string(word(change.subject.kind)),
                                       subject_text(change.subject),
                                       text_or_null(change.before),
                                       text_or_null(change.after),
                                       change_id,
                                       partner};
  auto done =
      connection_.query(fmt::format("INSERT INTO changes ({}, change_id, partner) VALUES (?, ?, ?, ?, ?, ?, ?, "
                                    "?, ?, ?, ?, ?)",
                                    kColumns),
                        values);
  if (!done) return std::unexpected(std::move(done.error()));
  return {};
}

sql::Result<void> ChangeLog::set_revision(std::int64_t revision) {
  const std::vector<sql::Value> values{revision};
  auto done = connection_.query("UPDATE revision SET revision = ? WHERE id = 1", values);
  if (!done) return std::unexpected(std::move(done.error()));
  return {};
}

sql::Result<bool> ChangeLog::has(const std::string& change_id) {
  const auto count = number("SELECT COUNT(*) FROM changes WHERE change_id = ?", {change_id});
  if (!count) return std::unexpected(count.error());
  return *count > 0;
}

sql::Result<std::vector<Change>> ChangeLog::list(const ChangeFilter& filter) {
  std::string where = "revision > ?";
  std::vector<sql::Value> values{filter.after};
  const auto add = [&](const char* condition, std::string value) {
    if (value.empty()) return;
    where += condition;
    values.emplace_back(std::move(value));
  };
  add(" AND kind = ?", filter.kind ? std::string(word(*filter.kind)) : std::string());
  add(" AND partner = ?", filter.partner);
  add(" AND changed_by = ?", filter.by);
  values.emplace_back(static_cast<std::int64_t>(std::min<std::size_t>(filter.most, INT64_MAX)));
  auto answer = connection_.query(fmt::format("SELECT {} FROM changes WHERE {} ORDER BY revision {} LIMIT ?",
                                              kColumns, where, filter.newest_first ? "DESC" : "ASC"),
                                  values);
  if (!answer) return std::unexpected(std::move(answer.error()));
  std::vector<Change> changes;
  for (const sql::Row& row : answer->rows) {
    if (auto change = change_of(row)) changes.push_back(*std::move(change));
  }
  return changes;
}

}  // namespace weir::partners
