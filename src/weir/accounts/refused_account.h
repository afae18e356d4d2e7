// SPDX-License-Identifier: Apache-2.0
//
// An account that one limit has refused lately, or would have if it were no shadow. Thread safety: a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weir/base/clock.h"

namespace weir::accounts {

struct RefusedAccount {
  std::string limit;
  std::string account;  // the values of `per`, joined by commas (store::AccountText)
  bool shadow = false;
  std::uint64_t refused = 0;  // requests
  WallTime first{};
  WallTime last{};
  std::optional<WallTime> until;  // when the last of them would have passed; absent: at no time
};

}  // namespace weir::accounts
