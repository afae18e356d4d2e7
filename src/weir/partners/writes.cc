// SPDX-License-Identifier: Apache-2.0
//
// The changes of Repository: what becomes of which rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <utility>

#include "weir/partners/digest.h"
#include "weir/partners/repository.h"

namespace weir::partners {
namespace {

using Secret = std::variant<std::monostate, std::string, KeyDigest>;

constexpr std::array kAllKinds{RowKind::kPlan, RowKind::kPartner, RowKind::kKey, RowKind::kLimit};
constexpr std::size_t kLongestKey = 256;  // bytes of a header field that names a caller

// What is named comes before who names it.
void sort_by_kind(std::vector<Row>& rows) { std::ranges::stable_sort(rows, {}, kind_of); }

// Who names others goes first.
Outcome<std::vector<Edit>> removals(Tables& tables, const std::set<RowId>& kept) {
  std::vector<Edit> edits;
  for (const RowKind kind : kAllKinds | std::views::reverse) {
    const auto rows = tables.list(kind, {});
    if (!rows) return std::unexpected(refusal_of(rows.error()));
    for (const StoredRow& one : *rows) {
      RowId id = stored_id(kind, one.json);
      if (!kept.contains(id)) edits.push_back(Edit::remove(std::move(id)));
    }
  }
  return edits;
}

// The digest, and the clear key where there is one.
Outcome<std::pair<KeyDigest, std::string>> reveal(const Secret& secret) {
  if (const auto* digest = std::get_if<KeyDigest>(&secret)) return std::pair(*digest, std::string());
  const auto* given = std::get_if<std::string>(&secret);
  std::string clear = given != nullptr ? *given : random_key();
  const bool usable = !clear.empty() && clear.size() <= kLongestKey &&
                      std::ranges::all_of(clear, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!usable) {
    return refuse(Refusal::Kind::kWrong,
                  fmt::format("a key has 1 to {} printable ASCII characters without spaces", kLongestKey));
  }
  const KeyDigest digest = digest_of(clear);
  return std::pair(digest, std::move(clear));
}

}  // namespace

Outcome<Applied> Repository::apply(const std::vector<Edit>& edits, const WriteOptions& options) {
  return write([&](Tables&) -> Outcome<std::vector<Edit>> { return edits; }, options);
}

Outcome<Applied> Repository::import(std::vector<Row> rows, bool prune, const WriteOptions& options) {
  sort_by_kind(rows);
  std::vector<Edit> puts;
  std::set<RowId> kept;
  for (Row& row : rows) {
    kept.insert(id_of(row));
    puts.push_back(Edit::put(std::move(row)));
  }
  const auto plan = [&](Tables& tables) -> Outcome<std::vector<Edit>> {
    if (!prune) return puts;
    auto edits = removals(tables, kept);
    if (!edits) return edits;
    // A key may come back under another id, and a partner may leave a plan that goes.
    const auto names_others = [](const Edit& edit) { return edit.id.kind >= RowKind::kKey; };
    edits->insert(std::ranges::find_if_not(*edits, names_others), puts.begin(), puts.end());
    return edits;
  };
  return write(plan, options);
}

Outcome<NewKey> Repository::create_key(const KeyRequest& request, const WriteOptions& options) {
  auto secret = reveal(request.secret);
  if (!secret) return std::unexpected(std::move(secret.error()));
  Key key = request.key;
  if (key.id.empty()) key.id = random_key_id();
  key.digest = secret->first;
  auto applied = apply({Edit::put(key, 0)}, options);
  if (!applied) return std::unexpected(std::move(applied.error()));
  key.stamp = {applied->changes.back().revision, applied->changes.back().at, options.by};
  return NewKey{std::move(key), std::move(secret->second), *std::move(applied)};
}

Outcome<NewKey> Repository::rotate_key(const Rotation& rotation, const WriteOptions& options) {
  auto secret = reveal(rotation.secret);
  if (!secret) return std::unexpected(std::move(secret.error()));
  const std::string new_id = rotation.new_id.empty() ? random_key_id() : rotation.new_id;
  const RowId old_id{RowKind::kKey, rotation.id, {}};
  Key key;
  const auto plan = [&](Tables& tables) -> Outcome<std::vector<Edit>> {
    auto stored = tables.find(old_id);
    if (!stored) return std::unexpected(refusal_of(stored.error()));
    if (!*stored) return refuse(Refusal::Kind::kAbsent, fmt::format("there is no {}", to_text(old_id)));
    if (!(*stored)->row) return refuse((*stored)->row.error());
    Key old = std::get<Key>(*(*stored)->row);
    key = old;
    key.id = new_id;
    key.digest = secret->first;
    key.not_before = key.expires = std::nullopt;
    old.expires = std::min(old.expires.value_or(rotation.expires), rotation.expires);
    return std::vector{Edit::put(key, 0), Edit::put(std::move(old))};
  };
  auto applied = write(plan, options);
  if (!applied) return std::unexpected(std::move(applied.error()));
  key.stamp = {applied->changes.front().revision, applied->changes.front().at, options.by};
  return NewKey{std::move(key), std::move(secret->second), *std::move(applied)};
}

}  // namespace weir::partners
