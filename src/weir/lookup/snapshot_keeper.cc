// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/snapshot_keeper.h"

#include <utility>

#include "weir/base/log.h"
#include "weir/lookup/snapshot.h"

namespace weir::lookup {

SnapshotKeeper::SnapshotKeeper(std::string path, nanoseconds every, Cache& cache)
    : path_(std::move(path)), every_(every), cache_(cache) {
  if (path_.empty()) return;
  load();
  if (every_.count() == 0) return;
  thread_ = std::thread([this] { run(); });
}

SnapshotKeeper::~SnapshotKeeper() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  write();
}

void SnapshotKeeper::load() {
  const auto read = read_snapshot(path_, cache_);
  if (!read) return log_warn("policies: {}", read.error().message);
  if (*read > 0) log_info("policies: {} records of {}, until the database answers", *read, path_);
  written_ = cache_.changes();
}

void SnapshotKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, every_, [this] { return stopping_; })) {
    lock.unlock();
    write();
    lock.lock();
  }
}

void SnapshotKeeper::write() {
  const std::uint64_t changes = cache_.changes();
  if (changes == written_) return;
  const auto written = write_snapshot(path_, cache_);
  if (written) written_ = changes;
  if (!written && !failed_) log_warn("policies: {}", written.error().message);
  failed_ = !written;
}

}  // namespace weir::lookup
