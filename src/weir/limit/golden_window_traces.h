// SPDX-License-Identifier: Apache-2.0
//
// Traces of the window algorithms with every value that each step must give (golden_traces.h).
#pragma once

#include <vector>

#include "weir/limit/fixed_window.h"
#include "weir/limit/golden_trace.h"
#include "weir/limit/sliding_log.h"
#include "weir/limit/sliding_window.h"

namespace weir::limit::golden {

inline Limit fixed(Cost capacity, Ticks window, Ticks offset, Ticks second) {
  return FixedWindow::create(
             {.capacity = capacity, .alignment = {.window = window, .offset = offset}, .ticks_per_second = second})
      .value();
}

inline Limit sliding(Cost capacity, Ticks window, Ticks second) {
  return SlidingWindow::create({.capacity = capacity, .alignment = {.window = window}, .ticks_per_second = second})
      .value();
}

inline Limit log(Cost capacity, Ticks window, Ticks second) {
  return SlidingLog::create({.capacity = capacity, .window = window, .ticks_per_second = second}).value();
}

inline std::vector<Trace> fixed_windows() {
  return {
      {"two full windows around one edge",
       fixed(100, 60000, 0, kMs),
       kMs,
       {},
       {{59900, 100, A, 0, 0, 100},
        {59900, 1, D, 0, 100, 100},
        {60000, 0, A, 100, 0, 0},
        {60100, 100, A, 0, 0, 59900},
        {60100, 1, D, 0, 59900, 59900},
        {119999, 1, D, 0, 1, 1},
        {120000, 1, A, 99, 0, 60000}}},
      {"windows of an offset, and a clock that steps back across an edge",
       fixed(3, 60, 17, kSecond),
       kSecond,
       {},
       {{10, 2, A, 1, 0, 7},
        {16, 1, A, 0, 0, 1},
        {16, 1, D, 0, 1, 1},
        {17, 1, A, 2, 0, 60},
        {76, 3, D, 2, 1, 1},
        {76, 2, A, 0, 0, 1},
        {77, 3, A, 0, 0, 60},
        {70, 1, D, 0, 67, 67}}},
  };
}

inline std::vector<Trace> sliding_windows() {
  return {
      {"three quarters of the window before still count",
       sliding(100, 60000, kMs),
       kMs,
       {60000, 100, 20},
       {{75000, 0, A, 5, 0, 105000},
        {75000, 6, D, 5, 600, 105000},
        {75000, 5, A, 0, 0, 105000},
        {75000, 1, D, 0, 600, 105000},
        {75600, 1, A, 0, 0, 104400}}},
      {"seven tenths of the window before still count",
       sliding(100, 60000, kMs),
       kMs,
       {60000, 80, 20},
       {{78000, 0, A, 24, 0, 102000},
        {78000, 25, D, 24, 750, 102000},
        {78000, 24, A, 0, 0, 102000},
        {78000, 1, D, 0, 750, 102000}}},
      {"the weight is neither rounded down nor to the nearest",
       sliding(100, 60000, kMs),
       kMs,
       {60000, 100, 0},
       {{60000, 1, D, 0, 600, 60000},
        {60301, 1, D, 0, 299, 59699},
        {60599, 1, D, 0, 1, 59401},
        {60600, 1, A, 0, 0, 119400}}},
      {"all but one of two limits in one trailing window",
       sliding(100, 60000, kMs),
       kMs,
       {},
       {{59990, 100, A, 0, 0, 60010},
        {119399, 99, D, 98, 1, 601},
        {119400, 99, A, 0, 0, 60600},
        {119400, 1, D, 0, 600, 60600},
        {120000, 1, A, 0, 0, 120000}}},
  };
}

inline std::vector<Trace> logs() {
  return {
      {"charges of the same tick all count",
       log(3, 1000, kMs),
       kMs,
       {},
       {{0, 1, A, 2, 0, 1000},
        {0, 1, A, 1, 0, 1000},
        {400, 1, A, 0, 0, 1000},
        {500, 1, D, 0, 500, 900},
        {500, 2, D, 0, 500, 900},
        {999, 1, D, 0, 1, 401},
        {1000, 2, A, 0, 0, 1000},
        {1000, 1, D, 0, 400, 1000},
        {1400, 1, A, 0, 0, 1000}}},
  };
}

}  // namespace weir::limit::golden
