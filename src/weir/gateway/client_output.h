// SPDX-License-Identifier: Apache-2.0
//
// What a client is to get and has not taken yet, in order: answers of the upstream and of our own. Bytes leave at the
// end of the loop's turn (io::Stream::send). Thread safety: the worker's thread.
#pragma once

#include <string_view>

#include "weir/io/buffer.h"
#include "weir/io/stream.h"

namespace weir::gateway {

class ClientOutput {
 public:
  explicit ClientOutput(io::Stream& stream) : stream_(stream) {}

  bool empty() const { return buffer_.empty(); }

  io::Transferred append(std::string_view bytes) {
    buffer_.append(bytes);
    return flush();
  }
  // Sends what can be sent; how much has left since the last time.
  io::Transferred flush() {
    io::Transferred all{.status = io::Transfer::kWouldBlock};
    while (!buffer_.empty()) {
      const auto sent = stream_.send(buffer_.view());
      if (sent.status == io::Transfer::kBroken) return sent;
      if (sent.bytes == 0) break;
      buffer_.consume(sent.bytes);
      all = {.status = io::Transfer::kDone, .bytes = all.bytes + sent.bytes};
    }
    return all;
  }
  // Between two answers; keeps a little memory for the next one.
  void shrink() {
    if (buffer_.capacity() > kKeptCapacity) buffer_.release();
  }

 private:
  static constexpr std::size_t kKeptCapacity = 1024;

  io::Stream& stream_;
  io::Buffer buffer_;
};

}  // namespace weir::gateway
