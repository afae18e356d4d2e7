// SPDX-License-Identifier: Apache-2.0
//
// Why a limit acts on a request, or why it does not: for whoever explains a decision, never for one that is made.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/identity/attributes.h"
#include "weir/limit/outcome.h"
#include "weir/policy/row_table.h"
#include "weir/policy/rule.h"

namespace weir::policy {

enum class Acts : std::uint8_t {
  kCharged,
  kBypassed,        // the caller is on the bypass list
  kOtherService,    // the limit names other services
  kOtherEndpoint,   // the limit names other endpoints
  kAttributeThere,  // `only_if_missing`, and it is not missing
  kNotLimited,      // `unlimited`: what is written for everybody, for this caller, or in the row
  kNoPartner,       // `rate: policies`, and the caller is no partner
  kNoRow,           // `rate: policies`, and there is no row
  kRowsUnknown,     // `rate: policies`, and nobody could say in time whether there is one
  kSkipped,         // an attribute of `per` is missing: the limit does not act
  kRefuses,         // an attribute of `per` is missing: the request is refused
};

struct Finding {
  // Of `rate: policies`: the row that holds for the request.
  struct Row {
    bool of_plan = false;
    RowTable::Scope scope;
  };

  LimitIndex limit = 0;
  Acts acts = Acts::kNotLimited;
  bool shadow = false;
  std::vector<std::string> lacking;        // of `per`, the attributes that the request lacks
  std::string hindrance;                   // of kAttributeThere, the attribute
  std::optional<std::size_t> alternative;  // of `by`, the entry that is for this caller
  std::optional<Row> row;

  // Of kCharged.
  std::uint32_t kind = 0;  // of account: charges with the same one and the same account are one step
  std::vector<std::string> per;
  std::string account;  // the values of `per`, as people write them (store/redis/account_text.h)
  VariantIndex variant = 0;
  std::uint16_t slot = 0;
  std::string endpoint;  // that its counter is for, if it counts endpoints apart; empty: those that no limit names
  bool by_endpoint = false;
  std::string method;  // that its counter is for, if it counts methods apart
  limit::Cost cost = 0;
  std::string cost_field;  // of the request, that names the cost; empty: none
};

}  // namespace weir::policy
