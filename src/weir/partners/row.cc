// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/row.h"

#include <fmt/format.h>

#include <utility>

#include "weir/partners/words.h"

namespace weir::partners {
namespace {

RowId id_of_one(const Plan& plan) { return {RowKind::kPlan, plan.name, {}}; }
RowId id_of_one(const Partner& partner) { return {RowKind::kPartner, partner.name, {}}; }
RowId id_of_one(const Key& key) { return {RowKind::kKey, key.id, {}}; }
RowId id_of_one(const LimitRow& limit) { return {RowKind::kLimit, {}, limit.id()}; }

Subject subject_of_one(const Plan& plan) { return {Subject::Kind::kPlan, plan.name}; }
Subject subject_of_one(const Partner& partner) { return {Subject::Kind::kPartner, partner.name}; }
Subject subject_of_one(const Key& key) { return subject_of(key.digest); }
Subject subject_of_one(const LimitRow& limit) { return subject_of(limit.owner); }

std::string partner_of_one(const Plan&) { return {}; }
std::string partner_of_one(const Partner& partner) { return partner.name; }
std::string partner_of_one(const Key& key) { return key.partner; }
std::string partner_of_one(const LimitRow& limit) {
  return limit.owner.kind == OwnerKind::kPartner ? limit.owner.name : std::string();
}

}  // namespace

RowKind kind_of(const Row& row) { return static_cast<RowKind>(row.index()); }

RowId id_of(const Row& row) {
  return std::visit([](const auto& one) { return id_of_one(one); }, row);
}

RowId id_of(const LimitId& limit) { return {RowKind::kLimit, {}, limit}; }

const Stamp& stamp_of(const Row& row) {
  return std::visit([](const auto& one) -> const Stamp& { return one.stamp; }, row);
}

Stamp& stamp_of(Row& row) {
  return std::visit([](auto& one) -> Stamp& { return one.stamp; }, row);
}

Subject subject_of(const Row& row) {
  return std::visit([](const auto& one) { return subject_of_one(one); }, row);
}

std::string partner_of(const Row& row) {
  return std::visit([](const auto& one) { return partner_of_one(one); }, row);
}

bool same_content(const Row& a, const Row& b) {
  Row other = b;
  stamp_of(other) = stamp_of(a);
  return a == other;
}

std::string change_name(const RowId& id) {
  if (id.kind != RowKind::kLimit) return id.name;
  const LimitId& limit = id.limit;
  std::string text = fmt::format("{} of {} '{}'", limit.limit, word(limit.owner.kind), limit.owner.name);
  if (!limit.service.empty()) text += fmt::format(" for service '{}'", limit.service);
  if (!limit.endpoint.empty()) text += fmt::format(" at '{}'", limit.endpoint);
  return text;
}

std::string to_text(const RowId& id) {
  if (id.kind != RowKind::kLimit) return fmt::format("{} '{}'", word(id.kind), id.name);
  const std::string name = change_name(id);
  return fmt::format("limit '{}'{}", id.limit.limit, name.substr(id.limit.limit.size()));
}

}  // namespace weir::partners
