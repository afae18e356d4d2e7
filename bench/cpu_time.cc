// SPDX-License-Identifier: Apache-2.0
#include "cpu_time.h"

#include <filesystem>
#include <fstream>

namespace weir::bench {

namespace {

std::vector<CpuTime> threads_of(pid_t pid) {
  std::vector<CpuTime> threads;
  std::error_code gone;  // threads may end while we look
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream file(task.path() / "schedstat");
    CpuTime thread;
    if (file >> thread.running >> thread.waiting) threads.push_back(thread);
  }
  return threads;
}

CpuTime cpu_time_of(const std::vector<pid_t>& pids) {
  CpuTime sum;
  CpuTime busiest;
  for (const pid_t pid : pids) {
    for (const CpuTime& thread : threads_of(pid)) {
      sum.running += thread.running;
      if (thread.running > busiest.running) busiest = thread;
    }
  }
  sum.waiting = busiest.waiting;
  return sum;
}

}  // namespace

CpuTimes cpu_times_of(const Watched& watched) {
  CpuTimes times;
  for (const auto& [name, pids] : watched) times[name] = cpu_time_of(pids);
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
