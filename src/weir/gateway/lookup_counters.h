// SPDX-License-Identifier: Apache-2.0
//
// What requests have found when they asked for policies. Thread safety: written by one worker, read by any thread.
#pragma once

#include "weir/base/counter.h"

namespace weir::gateway {

struct LookupCounters {
  OwnedCounter known;    // at hand
  OwnedCounter expired;  // at hand, but too old: it holds because nothing newer could be had
  OwnedCounter wanted;   // looked up while the request waited
  OwnedCounter away;     // could not be had at all
};

}  // namespace weir::gateway
