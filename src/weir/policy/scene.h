// SPDX-License-Identifier: Apache-2.0
//
// One request on its way through the rules of a policy. Thread safety: a plain value.
#pragma once

#include <cstdint>

#include "weir/http/message.h"
#include "weir/identity/attributes.h"
#include "weir/policy/policy.h"
#include "weir/policy/row_table.h"
#include "weir/route/router.h"

namespace weir::policy {

struct Policy::Scene {
  static constexpr std::uint32_t kNoKind = UINT32_MAX;

  const route::Route& route;
  const http::RequestHead& request;
  const identity::Attributes& attributes;
  const CallerRows& rows;
  std::uint32_t kind = kNoKind;  // of the rule before
  bool lacks = false;            // this kind's subject misses a value
  bool opened = false;           // this kind has an account in the charges
};

}  // namespace weir::policy
