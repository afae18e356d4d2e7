// SPDX-License-Identifier: Apache-2.0
//
// The access log: one JSON object per line. Workers append finished lines to a buffer of their own; a thread writes
// them out. A worker never waits for the disk: when its buffer is full the line is dropped and counted.
// Thread safety: a Writer belongs to one worker's thread; everything else may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "weir/base/result.h"
#include "weir/base/text.h"
#include "weir/io/descriptor.h"

namespace weir::gateway {

class AccessLog {
 public:
  static constexpr std::size_t kMaxPending = 4U << 20;  // bytes per worker

  class Writer {
   public:
    // `line` ends with a line feed.
    void append(std::string_view line);

   private:
    friend class AccessLog;
    std::mutex mutex_;
    std::string pending_;
    std::uint64_t lines_ = 0;
    std::uint64_t dropped_ = 0;
  };

  // `target`: "stdout" or a path that is appended to.
  static Result<std::unique_ptr<AccessLog>> open(const std::string& target);
  ~AccessLog();  // writes what is pending

  // A buffer for one more worker; lives as long as the log.
  Writer& add_writer();
  // Opens the path anew, after log rotation.
  void reopen() { reopen_.store(true); }

  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  AccessLog(std::string target, io::Descriptor file);
  void run();
  void write_pending();
  void write_all(std::string_view bytes, std::uint64_t lines);

  std::string target_;
  io::Descriptor file_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::atomic<bool> reopen_{false};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::string batch_;
  std::thread thread_;
};

// Appends `text` as the inside of a JSON string: control bytes, quotes and bytes that are not ASCII are escaped.
void append_json_text(Text& out, std::string_view text);

}  // namespace weir::gateway
