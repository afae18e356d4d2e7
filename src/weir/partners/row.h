// SPDX-License-Identifier: Apache-2.0
//
// Rows of any kind, and what names one. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "weir/partners/change.h"
#include "weir/partners/records.h"

namespace weir::partners {

// In the order of RowKind.
using Row = std::variant<Plan, Partner, Key, LimitRow>;

struct RowId {
  RowKind kind = RowKind::kPlan;
  std::string name;  // of the plan or partner, the key's id; empty for a limit
  LimitId limit;     // of a limit

  auto operator<=>(const RowId&) const = default;
};

RowKind kind_of(const Row& row);
RowId id_of(const Row& row);
RowId id_of(const LimitId& limit);
const Stamp& stamp_of(const Row& row);
Stamp& stamp_of(Row& row);
// Whose record it belongs to.
Subject subject_of(const Row& row);
// The partner that it is about; empty: none.
std::string partner_of(const Row& row);
// Equal but for their stamps.
bool same_content(const Row& a, const Row& b);

// "plan 'gold'", "limit 'partner-service' of partner 'acme' for service 'SAUCE'".
std::string to_text(const RowId& id);
// The same without the kind and the quotes around all of it: what Change::name has.
std::string change_name(const RowId& id);

}  // namespace weir::partners
