// SPDX-License-Identifier: Apache-2.0
//
// Chunked bodies: the same content and the same end in pieces of any size.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weir/http/exchange_for_tests.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::http::BodyRead;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const weir::http::Body chunked{weir::http::BodyKind::kChunked, 0};
  const BodyRead whole = weir::http::read_body(chunked, input);
  require(whole.consumed <= size && whole.content.size() <= size);
  for (std::size_t step : {1, 2, 5}) {
    const BodyRead cut = weir::http::read_body(chunked, input, step);
    require(cut.state == whole.state && cut.consumed == whole.consumed);
    require(cut.content == whole.content && cut.code == whole.code);
  }
  return 0;
}
