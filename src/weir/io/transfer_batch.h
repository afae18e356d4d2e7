// SPDX-License-Identifier: Apache-2.0
//
// Receives and sends of many sockets in one system call, by io_uring, where the kernel allows it; else one call each.
// Nothing here waits: every transfer is over, or was refused by the kernel with EAGAIN, when `run` returns, so the
// ring never holds on to memory or descriptors. Thread safety: a plain resource.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct io_uring;  // NOLINT(readability-identifier-naming): the library's name

namespace weir::io {

// How a loop talks to the kernel.
enum class SocketCalls : std::uint8_t {
  kAuto,    // batched where the kernel allows it
  kSingle,  // recv and send
  kBatched,
};

struct SocketTransfer {
  enum class Direction : std::uint8_t { kReceive, kSend };

  int socket;
  Direction direction;
  char* bytes;  // not written to by a send
  std::size_t size;
  std::int64_t result = 0;  // bytes moved, or a negative errno
};

// One receive or send by a system call of its own.
std::int64_t receive_now(int socket, std::span<char> room, int flags = 0);
std::int64_t send_now(int socket, const char* bytes, std::size_t size);

class TransferBatch {
 public:
  explicit TransferBatch(SocketCalls wanted);
  ~TransferBatch();
  TransferBatch(const TransferBatch&) = delete;
  TransferBatch& operator=(const TransferBatch&) = delete;

  // Does all of them, in order, and fills in the results.
  void run(std::span<SocketTransfer> transfers);

  bool batched() const { return ring_ != nullptr; }
  // Why it is not batched although it should be if possible; empty otherwise.
  const std::string& obstacle() const { return obstacle_; }

 private:
  std::size_t run_ring(std::span<SocketTransfer> transfers);
  void give_up(int error);

  std::unique_ptr<io_uring> ring_;
  std::string obstacle_;
};

}  // namespace weir::io
