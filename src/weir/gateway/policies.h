// SPDX-License-Identifier: Apache-2.0
//
// The directory of policies that a configuration asks for: its database, its cache, and the Redis that all gateways
// share. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <memory>

#include "weir/base/clock.h"
#include "weir/config/config.h"
#include "weir/gateway/resolver.h"
#include "weir/lookup/directory.h"

namespace weir::gateway {

// Whether gateways share records, and the news of changes, through the Redis of their counters. A file is at hand on
// one machine only, and what another machine has read is of another one.
bool shares_policies(const config::Config& config);

// Whoever only looks asks the database, and neither tells others what it has read nor keeps it.
enum class PoliciesUse : std::uint8_t { kServe, kLook };

// Null without policies. Nothing is waited for: what cannot be reached is tried again. Fails when the certificates of
// Redis cannot be used. `clock` and `resolver` outlive the directory.
Result<std::unique_ptr<lookup::Directory>> open_policies(const config::Config& config, const Clock& clock,
                                                         Resolver& resolver, PoliciesUse use = PoliciesUse::kServe);

}  // namespace weir::gateway
