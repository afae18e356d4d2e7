// SPDX-License-Identifier: Apache-2.0
#include "weir/io/transfer_batch.h"

#include <liburing.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace weir::io {
namespace {

constexpr unsigned kRingEntries = 256;

std::int64_t now(SocketTransfer& transfer) {
  return transfer.direction == SocketTransfer::Direction::kReceive
             ? receive_now(transfer.socket, {transfer.bytes, transfer.size})
             : send_now(transfer.socket, transfer.bytes, transfer.size);
}

}  // namespace

// The C library's send and recv are points where a thread may be cancelled, which costs two atomic operations a call;
// nobody cancels threads here.
std::int64_t receive_now(int socket, std::span<char> room, int flags) {
  const long got = ::syscall(SYS_recvfrom, socket, room.data(), room.size(), flags | MSG_DONTWAIT, nullptr, nullptr);
  return got < 0 ? -errno : got;
}

std::int64_t send_now(int socket, const char* bytes, std::size_t size) {
  const long sent = ::syscall(SYS_sendto, socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
  return sent < 0 ? -errno : sent;
}

TransferBatch::TransferBatch(SocketCalls wanted) {
  if (wanted == SocketCalls::kSingle) return;
  ring_ = std::make_unique<io_uring>();
  if (const int failed = ::io_uring_queue_init(kRingEntries, ring_.get(), 0); failed < 0) {
    ring_.reset();
    obstacle_ = "io_uring: " + std::generic_category().message(-failed);
  }
}

TransferBatch::~TransferBatch() {
  if (ring_) ::io_uring_queue_exit(ring_.get());
}

void TransferBatch::run(std::span<SocketTransfer> transfers) {
  while (ring_ && transfers.size() > 1) {
    transfers = transfers.subspan(run_ring(transfers.first(std::min<std::size_t>(transfers.size(), kRingEntries))));
  }
  for (SocketTransfer& transfer : transfers) transfer.result = now(transfer);
}

// How many were done; fewer than all only when the ring has failed.
std::size_t TransferBatch::run_ring(std::span<SocketTransfer> transfers) {
  for (SocketTransfer& transfer : transfers) {
    io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
    if (transfer.direction == SocketTransfer::Direction::kReceive) {
      ::io_uring_prep_recv(entry, transfer.socket, transfer.bytes, transfer.size, MSG_DONTWAIT);
    } else {
      ::io_uring_prep_send(entry, transfer.socket, transfer.bytes, transfer.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    ::io_uring_sqe_set_data(entry, &transfer);
  }
  std::size_t done = 0;
  while (done < transfers.size()) {
    // MSG_DONTWAIT: all that was taken is over when the call returns. Asking for the completions costs nothing then,
    // and would wait for one that a kernel finished on a thread of its own.
    const int taken = ::io_uring_submit_and_wait(ring_.get(), static_cast<unsigned>(transfers.size() - done));
    io_uring_cqe* completion = nullptr;
    unsigned head = 0;
    unsigned seen = 0;
    io_uring_for_each_cqe(ring_.get(), head, completion) {
      static_cast<SocketTransfer*>(::io_uring_cqe_get_data(completion))->result = completion->res;
      ++seen;
    }
    ::io_uring_cq_advance(ring_.get(), seen);
    done += seen;
    if (taken < 0 && taken != -EINTR && seen == 0) {
      give_up(-taken);
      return done;  // in order, so the first `done` are done
    }
  }
  return done;
}

void TransferBatch::give_up(int error) {
  ::io_uring_queue_exit(ring_.get());
  ring_.reset();
  obstacle_ = "io_uring: " + std::generic_category().message(error);
}

}  // namespace weir::io
