// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "weir/base/log.h"

namespace weir::gateway {
namespace {

constexpr auto kFlushInterval = std::chrono::milliseconds(50);
constexpr auto kRetryInterval = std::chrono::milliseconds(1);

Result<io::Descriptor> open_target(const std::string& target) {
  const int fd = target == "stdout" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : ::open(target.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return std::unexpected(Error{ErrorKind::kIo, Origin::kSelf,
                                 fmt::format("cannot open the access log {}: {}", target, std::strerror(errno))});
  }
  return io::Descriptor(fd);
}

}  // namespace

void AccessLog::Writer::append(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  if (pending_.size() + line.size() > kMaxPending) {
    ++dropped_;
    return;
  }
  pending_.append(line);
  ++lines_;
}

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& target) {
  auto file = open_target(target);
  if (!file) return std::unexpected(file.error());
  return std::unique_ptr<AccessLog>(new AccessLog(target, std::move(*file)));
}

AccessLog::AccessLog(std::string target, io::Descriptor file)
    : target_(std::move(target)), file_(std::move(file)), thread_([this] { run(); }) {}

AccessLog::~AccessLog() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  write_pending();
}

AccessLog::Writer& AccessLog::add_writer() {
  const std::scoped_lock lock(mutex_);
  return *writers_.emplace_back(std::make_unique<Writer>());
}

void AccessLog::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, kFlushInterval, [this] { return stopping_; });
    lock.unlock();
    if (reopen_.exchange(false) && target_ != "stdout") {
      auto file = open_target(target_);
      if (file) file_ = std::move(*file);
      if (!file) log_error("{}; lines still go to the file that was open", file.error().message);
    }
    write_pending();
    lock.lock();
  }
}

void AccessLog::write_pending() {
  std::vector<Writer*> writers;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& writer : writers_) writers.push_back(writer.get());
  }
  for (Writer* writer : writers) {
    std::uint64_t lines = 0;
    batch_.clear();
    {
      const std::scoped_lock lock(writer->mutex_);
      batch_.swap(writer->pending_);
      lines = std::exchange(writer->lines_, 0);
      dropped_.fetch_add(std::exchange(writer->dropped_, 0), std::memory_order_relaxed);
    }
    if (!batch_.empty()) write_all(batch_, lines);
  }
}

void AccessLog::write_all(std::string_view bytes, std::uint64_t lines) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // a pipe that somebody made non-blocking: this thread may wait
      std::unique_lock lock(mutex_);
      if (!wake_.wait_for(lock, kRetryInterval, [this] { return stopping_; })) continue;
    }
    if (written < 0) {
      dropped_.fetch_add(lines, std::memory_order_relaxed);
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  written_.fetch_add(lines, std::memory_order_relaxed);
}

void append_json_text(Text& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto is_plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
  };
  while (!text.empty()) {
    const auto run = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out.append(text.substr(0, run));
    if (run == text.size()) return;
    const auto byte = static_cast<unsigned char>(text[run]);
    if (byte == '"' || byte == '\\') {
      out.append('\\').append(text[run]);
    } else {
      out.append("\\u00").append(kHex[byte >> 4]).append(kHex[byte & 15]);
    }
    text.remove_prefix(run + 1);
  }
}

}  // namespace weir::gateway
