// SPDX-License-Identifier: Apache-2.0
//
// How long processes were on a CPU and how long they waited for one, from the scheduler's own nanosecond counts
// (/proc/PID/task/*/schedstat), which unlike getrusage's are not sampled. A running thread's count lags by up to one
// scheduler tick.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir::bench {

struct CpuTime {
  std::uint64_t running = 0;  // ns on a CPU, all threads that live
  std::uint64_t waiting = 0;  // ns runnable without a CPU, of the thread that ran most: what strangers took from it
};

// Processes to watch, by a name that several may share.
using Watched = std::map<std::string, std::vector<pid_t>>;
using CpuTimes = std::map<std::string, CpuTime>;

CpuTimes cpu_times_of(const Watched& watched);
CpuTimes difference(const CpuTimes& later, const CpuTimes& earlier);

}  // namespace weir::bench
