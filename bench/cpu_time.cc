// SPDX-License-Identifier: Apache-2.0
#include "cpu_time.h"

#include <filesystem>
#include <fstream>

namespace weir::bench {

CpuTime cpu_time_of(pid_t pid) {
  CpuTime sum;
  std::error_code gone;  // threads may end while we look
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream file(task.path() / "schedstat");
    CpuTime thread;
    if (file >> thread.running >> thread.waiting) {
      sum.running += thread.running;
      sum.waiting += thread.waiting;
    }
  }
  return sum;
}

CpuTimes cpu_times_of(const Watched& watched) {
  CpuTimes times;
  for (const auto& [name, pids] : watched) {
    for (const pid_t pid : pids) {
      const CpuTime time = cpu_time_of(pid);
      times[name].running += time.running;
      times[name].waiting += time.waiting;
    }
  }
  return times;
}

CpuTimes difference(const CpuTimes& later, const CpuTimes& earlier) {
  CpuTimes result = later;
  for (const auto& [name, time] : earlier) {
    result[name].running -= time.running;
    result[name].waiting -= time.waiting;
  }
  return result;
}

}  // namespace weir::bench
