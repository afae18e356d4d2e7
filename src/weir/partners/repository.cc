// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weir/partners/checks.h"
#include "weir/partners/digest.h"
#include "weir/partners/lookup.h"
#include "weir/partners/migrations.h"
#include "weir/partners/validate.h"
#include "weir/sql/transaction.h"

namespace weir::partners {
namespace {

using Kind = Refusal::Kind;

template <class T>
Result<T> as_result(Outcome<T>&& outcome) {
  if (!outcome) return std::unexpected(error_of(outcome.error()));
  return *std::move(outcome);
}

Outcome<void> check_author(const std::string& by) {
  const std::string fault = by.empty() ? "must be told" : text_fault(by, kLongestName);
  if (fault.empty()) return {};
  return refuse(Kind::kWrong, fmt::format("who does it {}", fault));
}

Refusal unknown(const std::string& change_id) {
  return {.kind = Kind::kUnknown,
          .message = fmt::format("the database went away while the change was committed, and it is not known whether "
                                 "it was; if so, `changes` has it, as change {}",
                                 change_id)};
}

Page page_of(std::vector<StoredRow>&& stored, RowKind kind, std::size_t most) {
  Page page;
  if (stored.size() > most) {
    stored.resize(most);
    page.next = stored_id(kind, stored.back().json);
  }
  for (StoredRow& one : stored) {
    if (one.row) {
      page.rows.push_back(*std::move(one.row));
    } else {
      std::ranges::move(one.row.error(), std::back_inserter(page.faults));
    }
  }
  return page;
}

}  // namespace

Repository::Repository(Settings settings, const Clock& clock)
    : session_(std::move(settings.open)), scopes_(std::move(settings.scopes)), clock_(clock) {}

template <class T>
Outcome<T> Repository::ask(const Question<T>& question) {
  const bool was_open = session_.is_open();
  const auto once = [&]() -> Outcome<T> {
    const auto connection = session_.connection();
    if (!connection) return std::unexpected(connection.error());
    auto snapshot = sql::Transaction::begin(**connection, sql::Transaction::Kind::kSnapshot);
    if (!snapshot) return std::unexpected(refusal_of(snapshot.error()));
    auto answer = question(**connection);
    if (answer) {
      [[maybe_unused]] const auto ended = snapshot->commit();  // nothing was written
    }
    return answer;
  };
  auto answer = once();
  if (answer || answer.error().kind != Kind::kUnavailable || !was_open) return answer;
  session_.close();
  return once();
}

Result<Reading> Repository::read(std::span<const Subject> subjects) {
  return as_result(ask<Reading>([&](sql::Connection& connection) { return look_up(connection, subjects); }));
}

Result<std::vector<Change>> Repository::changes_after(std::int64_t revision, std::size_t most) {
  ChangeFilter filter;
  filter.after = revision;
  filter.most = most;
  return as_result(changes(filter));
}

Result<std::int64_t> Repository::revision() {
  return as_result(ask<std::int64_t>([](sql::Connection& connection) -> Outcome<std::int64_t> {
    const auto revision = ChangeLog(connection).revision();
    if (!revision) return std::unexpected(refusal_of(revision.error()));
    return *revision;
  }));
}

Outcome<std::int64_t> Repository::migrate() {
  constexpr int kTries = 30;  // each waits for a second
  for (int tries = 1;; ++tries) {
    const auto connection = session_.any_connection();
    if (!connection) return std::unexpected(connection.error());
    const auto before = partners::migrate(**connection);
    if (before) return *before;
    if (before.error().kind != sql::ErrorKind::kBusy || tries == kTries) {
      return std::unexpected(refusal_of(before.error()));
    }
  }
}

Outcome<std::optional<Row>> Repository::get(const RowId& id) {
  return ask<std::optional<Row>>([&](sql::Connection& connection) -> Outcome<std::optional<Row>> {
    auto stored = Tables(connection).find(id);
    if (!stored) return std::unexpected(refusal_of(stored.error()));
    if (!*stored) return std::nullopt;
    if (!(*stored)->row) return refuse(std::move((*stored)->row.error()));
    return *std::move((*stored)->row);
  });
}

Outcome<Page> Repository::list(RowKind kind, const RowFilter& filter) {
  RowFilter one_more = filter;
  if (one_more.most < SIZE_MAX) ++one_more.most;
  return ask<Page>([&](sql::Connection& connection) -> Outcome<Page> {
    auto stored = Tables(connection).list(kind, one_more);
    if (!stored) return std::unexpected(refusal_of(stored.error()));
    return page_of(*std::move(stored), kind, filter.most);
  });
}

Outcome<Page> Repository::all() {
  return ask<Page>([&](sql::Connection& connection) -> Outcome<Page> {
    Page all;
    for (const RowKind kind : {RowKind::kPlan, RowKind::kPartner, RowKind::kKey, RowKind::kLimit}) {
      auto stored = Tables(connection).list(kind, {});
      if (!stored) return std::unexpected(refusal_of(stored.error()));
      Page page = page_of(*std::move(stored), kind, SIZE_MAX);
      std::ranges::move(page.rows, std::back_inserter(all.rows));
      std::ranges::move(page.faults, std::back_inserter(all.faults));
    }
    return all;
  });
}

Outcome<std::vector<Change>> Repository::changes(const ChangeFilter& filter) {
  return ask<std::vector<Change>>([&](sql::Connection& connection) -> Outcome<std::vector<Change>> {
    auto changes = ChangeLog(connection).list(filter);
    if (!changes) return std::unexpected(refusal_of(changes.error()));
    return *std::move(changes);
  });
}

Outcome<Faults> Repository::check() {
  return ask<Faults>(
      [&](sql::Connection& connection) { return check_all(connection, scopes_ ? &*scopes_ : nullptr); });
}

Outcome<Applied> Repository::write(const Plan& plan, const WriteOptions& options) {
  if (auto good = check_author(options.by); !good) return std::unexpected(std::move(good.error()));
  auto done = try_write(plan, options, random_id());
  if (done || done.error().kind != Kind::kUnavailable) return done;
  session_.close();
  return try_write(plan, options, random_id());
}

Outcome<Applied> Repository::try_write(const Plan& plan, const WriteOptions& options, const std::string& change_id) {
  const auto connection = session_.connection();
  if (!connection) return std::unexpected(connection.error());
  auto transaction = sql::Transaction::begin(**connection, sql::Transaction::Kind::kWriting);
  if (!transaction) return std::unexpected(refusal_of(transaction.error()));
  const WallTime now = std::chrono::floor<std::chrono::milliseconds>(clock_.wall());
  Editor editor(**connection, scopes_ ? &*scopes_ : nullptr, {.by = options.by, .at = now, .change_id = change_id});
  if (auto begun = editor.begin(); !begun) return std::unexpected(std::move(begun.error()));
  const auto edits = plan(editor.tables());
  if (!edits) return std::unexpected(edits.error());
  for (const Edit& edit : *edits) {
    if (auto done = editor.apply(edit); !done) return std::unexpected(std::move(done.error()));
  }
  auto applied = editor.finish();
  if (!applied || options.dry_run || applied->changes.empty()) return applied;
  const auto committed = transaction->commit();
  if (committed) return applied;
  if (committed.error().kind != sql::ErrorKind::kUnavailable) return std::unexpected(refusal_of(committed.error()));
  session_.close();
  const auto found = was_committed(change_id);
  if (!found) return std::unexpected(unknown(change_id));
  if (*found) return applied;
  return refuse(Kind::kUnavailable, committed.error().message);
}

// The lock is held by the transaction in question for as long as it can still be committed.
Outcome<bool> Repository::was_committed(const std::string& change_id) {
  const auto connection = session_.connection();
  if (!connection) return std::unexpected(connection.error());
  auto transaction = sql::Transaction::begin(**connection, sql::Transaction::Kind::kWriting);
  if (!transaction) return std::unexpected(refusal_of(transaction.error()));
  ChangeLog log(**connection);
  if (const auto locked = log.lock(); !locked) return std::unexpected(refusal_of(locked.error()));
  const auto found = log.has(change_id);
  if (!found) return std::unexpected(refusal_of(found.error()));
  return *found;
}

}  // namespace weir::partners
