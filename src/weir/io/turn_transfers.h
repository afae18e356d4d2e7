// SPDX-License-Identifier: Apache-2.0
//
// What the streams of a loop receive and send in one turn, in as few system calls as the kernel allows. All events of
// a turn are taken in first; then one batch receives for the streams that wait for input and have it, and everybody
// is notified; whatever comes of that is sent in one batch at the end of the turn. A peer on another core is so woken
// once and not for every message, and a system call costs more than what it moves. Thread safety: the loop's thread.
#pragma once

#include <span>
#include <vector>

#include "weir/io/transfer_batch.h"

namespace weir::io {

class Stream;

class TurnTransfers {
 public:
  explicit TurnTransfers(SocketCalls calls) : batch_(calls) {}

  // Something happened to the stream; its observer is to be notified.
  void arrived(Stream& stream) { arrived_.push_back(&stream); }
  void send_soon(Stream& stream) { senders_.push_back(&stream); }
  void forget(Stream& stream);

  void receive_and_notify();
  void send_and_notify();
  // Something is left for the next turn.
  bool pending() const { return !senders_.empty(); }

  const TransferBatch& batch() const { return batch_; }

 private:
  void receive_ahead();

  TransferBatch batch_;
  std::vector<Stream*> arrived_;
  std::vector<Stream*> senders_;
  std::vector<Stream*> under_way_;  // null: closed meanwhile
  std::vector<SocketTransfer> transfers_;
  std::vector<char> memory_;  // what was received ahead
};

}  // namespace weir::io
