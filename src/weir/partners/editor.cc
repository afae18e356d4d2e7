// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weir/partners/digest.h"
#include "weir/partners/session.h"
#include "weir/partners/validate.h"

namespace weir::partners {
namespace {

using Action = Change::Action;

template <class T>
std::unexpected<Refusal> failed(const sql::Result<T>& result) {
  return std::unexpected(refusal_of(result.error()));
}

Outcome<void> checked(const sql::Result<void>& result) {
  if (!result) return failed(result);
  return {};
}

Outcome<void> check_revision(const Edit& edit, const std::optional<StoredRow>& stored) {
  if (!edit.expected) return {};
  const std::int64_t found = stored ? stored->revision() : 0;
  if (found == *edit.expected && stored.has_value() == (*edit.expected != 0)) return {};
  const std::string name = to_text(edit.id);
  if (*edit.expected == 0) return refuse(Refusal::Kind::kConflict, name + " is there already");
  if (!stored) return refuse(Refusal::Kind::kConflict, name + " is no longer there");
  return refuse(Refusal::Kind::kConflict,
                fmt::format("{} has revision {}, not {}: somebody else has changed it", name, found, *edit.expected));
}

// The record that is out of date. A key that was edited by hand may have no digest.
Subject subject_of(const RowId& id, const StoredRow* before, const Row* after) {
  if (after != nullptr) return partners::subject_of(*after);
  if (before->row) return partners::subject_of(*before->row);
  switch (id.kind) {
    case RowKind::kPlan:
      return {Subject::Kind::kPlan, id.name};
    case RowKind::kPartner:
      return {Subject::Kind::kPartner, id.name};
    case RowKind::kLimit:
      return partners::subject_of(id.limit.owner);
    case RowKind::kKey:
      break;
  }
  const auto text = before->json.find("key_sha256");
  const auto digest =
      text != before->json.end() && text->is_string() ? parse_hex(text->get<std::string>()) : std::nullopt;
  return partners::subject_of(digest.value_or(KeyDigest{}));
}

std::string partner_of(const StoredRow* before, const Row* after) {
  if (after != nullptr) return partners::partner_of(*after);
  return before->row ? partners::partner_of(*before->row) : std::string();
}

RowId plan_id(const std::string& name) { return {RowKind::kPlan, name, {}}; }
RowId partner_id(const std::string& name) { return {RowKind::kPartner, name, {}}; }

}  // namespace

Edit Edit::put(Row row, std::optional<std::int64_t> expected) {
  RowId id = id_of(row);
  return {std::move(id), std::move(row), expected};
}

Edit Edit::change(Row row, const Row& there) {
  const std::int64_t revision = stamp_of(there).revision;
  return put(std::move(row), revision == 0 ? std::nullopt : std::optional(revision));
}

Edit Edit::remove(RowId id, std::optional<std::int64_t> expected) { return {std::move(id), std::nullopt, expected}; }

Outcome<void> Editor::begin() {
  const auto revision = log_.lock();
  if (!revision) return failed(revision);
  revision_ = *revision;
  return {};
}

Outcome<void> Editor::apply(const Edit& edit) {
  if (edit.row) {
    Faults faults = faults_of(*edit.row);
    if (!faults.empty()) {
      std::ranges::move(faults, std::back_inserter(faults_));
      return {};
    }
  }
  const auto stored = tables_.find(edit.id);
  if (!stored) return failed(stored);
  if (auto good = check_revision(edit, *stored); !good) return good;
  if (edit.row) return put(*edit.row, *stored);
  if (!*stored) return refuse(Refusal::Kind::kAbsent, fmt::format("there is no {}", to_text(edit.id)));
  return remove(edit.id, **stored);
}

Outcome<Applied> Editor::finish() {
  if (!faults_.empty()) return refuse(std::move(faults_));
  if (applied_.changes.empty()) return std::move(applied_);
  if (auto set = log_.set_revision(revision_); !set) return failed(set);
  return std::move(applied_);
}

Outcome<void> Editor::put(const Row& row, const std::optional<StoredRow>& stored) {
  auto faults = reference_faults(row);
  if (!faults) return std::unexpected(std::move(faults.error()));
  const auto* key = std::get_if<Key>(&row);
  if (key != nullptr && stored && stored->row && std::get<Key>(*stored->row).digest != key->digest) {
    faults->push_back({to_text(id_of(row)), "key_sha256", "a key is never changed into another; make a new one"});
  }
  if (!faults->empty()) {
    std::ranges::move(*faults, std::back_inserter(faults_));
    return {};
  }
  known_.insert(id_of(row));
  if (stored && stored->row && same_content(*stored->row, row)) {
    ++applied_.unchanged;
    return {};
  }
  Row stamped = row;
  stamp_of(stamped) = {.revision = ++revision_, .changed_at = author_.at, .changed_by = author_.by};
  if (auto done = stored ? tables_.update(stamped) : tables_.insert(stamped); !done) return failed(done);
  return record(stored ? Action::kChanged : Action::kCreated, id_of(row), stored ? &*stored : nullptr, &stamped);
}

Outcome<void> Editor::remove(const RowId& id, const StoredRow& stored) {
  if (auto unused = id.kind == RowKind::kPlan ? check_unused(id) : Outcome<void>(); !unused) return unused;
  if (auto done = remove_dependents(id); !done) return done;
  if (auto done = tables_.erase(id); !done) return failed(done);
  known_.erase(id);
  ++revision_;
  return record(Action::kDeleted, id, &stored, nullptr);
}

// Rows that make no sense are removed too; a limit is then found by its own columns.
Outcome<void> Editor::remove_dependents(const RowId& id) {
  if (id.kind != RowKind::kPartner && id.kind != RowKind::kPlan) return {};
  RowFilter filter;
  (id.kind == RowKind::kPartner ? filter.partner : filter.plan) = id.name;
  for (const RowKind kind : {RowKind::kKey, RowKind::kLimit}) {
    if (kind == RowKind::kKey && id.kind == RowKind::kPlan) continue;
    const auto rows = tables_.list(kind, filter);
    if (!rows) return failed(rows);
    for (const StoredRow& one : *rows) {
      if (auto done = remove(stored_id(kind, one.json), one); !done) return done;
    }
  }
  return {};
}

Outcome<void> Editor::check_unused(const RowId& plan) {
  RowFilter filter;
  filter.plan = plan.name;
  const auto partners = tables_.list(RowKind::kPartner, filter);
  if (!partners) return failed(partners);
  const auto keys = tables_.list(RowKind::kKey, filter);
  if (!keys) return failed(keys);
  if (partners->empty() && keys->empty()) return {};
  return refuse(Refusal::Kind::kInUse,
                fmt::format("{} is the plan of {} partner{} and {} key{}", to_text(plan), partners->size(),
                            partners->size() == 1 ? "" : "s", keys->size(), keys->size() == 1 ? "" : "s"));
}

Outcome<Faults> Editor::reference_faults(const Row& row) {
  Faults faults;
  const RowId id = id_of(row);
  Outcome<void> done;
  if (const auto* partner = std::get_if<Partner>(&row)) {
    if (!partner->plan.empty()) done = check_reference(faults, id, "plan", plan_id(partner->plan));
  } else if (const auto* key = std::get_if<Key>(&row)) {
    done = check_reference(faults, id, "partner", partner_id(key->partner));
    if (done && !key->plan.empty()) done = check_reference(faults, id, "plan", plan_id(key->plan));
    if (done) done = check_digest(faults, *key);
  } else if (const auto* limit = std::get_if<LimitRow>(&row)) {
    const bool of_partner = limit->owner.kind == OwnerKind::kPartner;
    const RowId owner = of_partner ? partner_id(limit->owner.name) : plan_id(limit->owner.name);
    done = check_reference(faults, id, of_partner ? "partner" : "plan", owner);
    if (scopes_ != nullptr) std::ranges::move(faults_of(*limit, *scopes_), std::back_inserter(faults));
  }
  if (!done) return std::unexpected(std::move(done.error()));
  return faults;
}

Outcome<void> Editor::check_reference(Faults& faults, const RowId& of, const std::string& field, const RowId& to) {
  if (known_.contains(to)) return {};
  const auto found = tables_.find(to);
  if (!found) return failed(found);
  if (*found) {
    known_.insert(to);
  } else {
    faults.push_back({to_text(of), field, fmt::format("there is no {}", to_text(to))});
  }
  return {};
}

Outcome<void> Editor::check_digest(Faults& faults, const Key& key) {
  const auto others = tables_.among(RowKind::kKey, "key_sha256", {hex(key.digest)});
  if (!others) return failed(others);
  for (const StoredRow& other : *others) {
    const RowId id = stored_id(RowKind::kKey, other.json);
    if (id.name == key.id) continue;
    faults.push_back({to_text(id_of(key)), "key_sha256", fmt::format("the same key is there as {}", to_text(id))});
  }
  return {};
}

// Requires: the revision of the change was taken.
Outcome<void> Editor::record(Action action, const RowId& id, const StoredRow* before, const Row* after) {
  Change change{.revision = revision_,
                .at = author_.at,
                .by = author_.by,
                .action = action,
                .subject = subject_of(id, before, after),
                .kind = id.kind,
                .name = change_name(id),
                .before = before != nullptr ? compact(before->json) : std::string(),
                .after = after != nullptr ? compact(to_json(*after)) : std::string()};
  auto done = checked(log_.append(author_.change_id, change, partner_of(before, after)));
  applied_.changes.push_back(std::move(change));
  return done;
}

}  // namespace weir::partners
