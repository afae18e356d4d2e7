// SPDX-License-Identifier: Apache-2.0
//
// Heads of answers: the same result in one piece and byte by byte, and every view of a head lies in its bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weir/http/padded_bytes.h"
#include "weir/http/parser.h"

namespace {

using weir::http::BodyKind;
using weir::http::Field;
using weir::http::PaddedBytes;
using weir::http::Parsed;
using weir::http::ResponseHead;
using weir::http::ResponseParser;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_head(const ResponseHead& head, std::string_view input) {
  require(head.bytes.data() == input.data() && head.bytes.size() <= input.size());
  require(head.status >= 100 && head.status <= 599 && head.minor_version <= 1);
  require(head.reason.data() >= input.data() && head.reason.size() < head.bytes.size());
  require(head.body.kind != BodyKind::kUntilClose || !head.keep_alive);
  for (const Field& field : head.fields) {
    require(field.line_end <= head.bytes.size() && field.value_at + field.value_size + 2 <= field.line_end);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const PaddedBytes bytes({reinterpret_cast<const char*>(data), size});
  for (bool to_head : {false, true}) {
    ResponseParser whole;
    whole.reset(to_head);
    const Parsed result = whole.parse(bytes.view());
    if (result == Parsed::kComplete) check_head(whole.head(), bytes.view());

    ResponseParser cut;
    cut.reset(to_head);
    Parsed state = Parsed::kIncomplete;
    for (std::size_t end = 1; end <= size && state == Parsed::kIncomplete; ++end) {
      state = cut.parse(bytes.view().substr(0, end));
    }
    require(state == result && cut.rejection().code == whole.rejection().code);
    require(cut.consumed() == whole.consumed() && cut.head().reason == whole.head().reason);
    require(cut.head().fields.size() == whole.head().fields.size() && cut.head().known == whole.head().known);
    require(cut.head().body.kind == whole.head().body.kind && cut.head().body.length == whole.head().body.length);
  }
  return 0;
}
