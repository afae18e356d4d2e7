// SPDX-License-Identifier: Apache-2.0
//
// What a client has sent and nobody has used yet. Bytes are received into a buffer that all connections of a worker
// share; only what is left over when a connection has to wait is copied into memory of its own.
// Thread safety: the worker's thread.
#pragma once

#include <span>
#include <string_view>

#include "weir/io/buffer.h"
#include "weir/io/stream.h"

namespace weir::gateway {

class ClientInput {
 public:
  // `shared` has io::Buffer::kSlack readable bytes behind it.
  explicit ClientInput(std::span<char> shared) : shared_(shared) {}

  std::string_view view() const { return view_; }
  bool empty() const { return view_.empty(); }

  // One receive; view() grows by what came.
  io::Transferred fill(io::Stream& stream) {
    if (in_shared_) keep();
    const auto got = stream.receive(shared_);
    if (got.status != io::Transfer::kDone) return got;
    const std::string_view fresh(shared_.data(), got.bytes);
    if (own_.empty()) {
      view_ = fresh;
      in_shared_ = true;
    } else {
      own_.append(fresh);
      view_ = own_.view();
    }
    return got;
  }

  void consume(std::size_t bytes) {
    view_.remove_prefix(bytes);
    if (!in_shared_) own_.consume(bytes);
  }

  // Before every suspension: other connections are going to use the shared buffer.
  void keep() {
    if (in_shared_ && !view_.empty()) {
      own_.append(view_);
      view_ = own_.view();
    }
    in_shared_ = false;
    if (view_.empty()) {
      view_ = {};
      own_.release();
    }
  }

 private:
  std::span<char> shared_;
  io::Buffer own_;
  std::string_view view_;
  bool in_shared_ = false;
};

}  // namespace weir::gateway
