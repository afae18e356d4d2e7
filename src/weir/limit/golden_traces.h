// SPDX-License-Identifier: Apache-2.0
//
// All golden traces (golden_trace.h): of the arithmetic itself and of every store that uses it. For tests.
#pragma once

#include <vector>

#include "weir/limit/golden_bucket_traces.h"
#include "weir/limit/golden_trace.h"
#include "weir/limit/golden_window_traces.h"

namespace weir::limit::golden {

inline std::vector<Trace> traces() {
  std::vector<Trace> all;
  for (const auto& table :
       {rates(), clocks_and_costs(), extreme_rates(), fixed_windows(), sliding_windows(), logs()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace weir::limit::golden
