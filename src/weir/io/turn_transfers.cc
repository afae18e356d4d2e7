// SPDX-License-Identifier: Apache-2.0
#include "weir/io/turn_transfers.h"

#include <algorithm>

#include "weir/io/stream.h"

namespace weir::io {
namespace {

constexpr std::size_t kAhead = 2048;          // bytes received ahead per stream: a head and a small body
constexpr std::size_t kStride = kAhead + 64;  // so that the first lines of neighbours are not in the same cache set
constexpr std::size_t kMostAhead = 128;       // streams
constexpr int kMostSends = 4;                 // batches of one turn, before new events get their turn

}  // namespace

void TurnTransfers::forget(Stream& stream) {
  for (auto* list : {&arrived_, &senders_, &under_way_}) {
    std::ranges::replace(*list, &stream, nullptr);
  }
}

void TurnTransfers::receive_and_notify() {
  if (batch_.batched() && arrived_.size() > 1) receive_ahead();
  for (Stream* const& stream : arrived_) {  // one may close another, which is then null
    if (stream != nullptr) stream->deliver();
  }
  arrived_.clear();
}

void TurnTransfers::receive_ahead() {
  if (memory_.empty()) memory_.resize(kMostAhead * kStride);
  under_way_.clear();
  transfers_.clear();
  for (Stream* stream : arrived_) {
    if (stream == nullptr || !stream->wants_input_ || !stream->readable_ || !stream->ahead_.empty()) continue;
    transfers_.push_back({.socket = stream->socket_.get(),
                          .direction = SocketTransfer::Direction::kReceive,
                          .bytes = memory_.data() + (transfers_.size() * kStride),
                          .size = kAhead});
    under_way_.push_back(stream);
    if (transfers_.size() == kMostAhead) break;
  }
  if (transfers_.size() < 2) return;
  batch_.run(transfers_);
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    under_way_[i]->received_ahead(transfers_[i].result, {transfers_[i].bytes, kAhead});
  }
  under_way_.clear();
}

void TurnTransfers::send_and_notify() {
  for (int round = 0; round < kMostSends && !senders_.empty(); ++round) {
    under_way_.clear();
    std::swap(under_way_, senders_);
    std::erase(under_way_, nullptr);
    transfers_.clear();
    for (Stream* stream : under_way_) {
      transfers_.push_back({.socket = stream->socket_.get(),
                            .direction = SocketTransfer::Direction::kSend,
                            .bytes = const_cast<char*>(stream->unsent_.data()),
                            .size = stream->unsent_.size()});
    }
    batch_.run(transfers_);
    // Nobody acts before everybody knows: who looks after two streams must not see one of them out of date.
    for (std::size_t i = 0; i < under_way_.size(); ++i) under_way_[i]->sent(transfers_[i].result, transfers_[i].size);
    for (Stream* const& stream : under_way_) {  // one may close another, which is then null
      if (stream != nullptr) stream->notify();
    }
    under_way_.clear();
  }
}

}  // namespace weir::io
