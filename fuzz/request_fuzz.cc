// SPDX-License-Identifier: Apache-2.0
//
// Requests, heads and bodies: whatever the pieces, the same messages; and every view of a head lies in its bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weir/http/exchange_for_tests.h"

namespace {

using weir::http::Exchange;
using weir::http::Field;
using weir::http::PaddedBytes;
using weir::http::Parsed;
using weir::http::RequestHead;
using weir::http::RequestParser;
using weir::http::RequestRules;

void require(bool holds) {
  if (!holds) std::abort();
}

bool lies_in(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_head(std::string_view input, const RequestRules& rules) {
  const PaddedBytes bytes(input);
  RequestParser parser(rules);
  if (parser.parse(bytes.view()) != Parsed::kComplete) return;
  const RequestHead& head = parser.head();
  require(parser.consumed() <= input.size() && head.bytes.size() <= rules.max_head);
  require(lies_in(head.bytes, bytes.view()) && head.bytes.ends_with("\r\n\r\n"));
  require(lies_in(head.method, head.bytes) && lies_in(head.target, head.bytes) && lies_in(head.query, head.bytes));
  require(lies_in(head.host, head.bytes) && (head.path == "/" || lies_in(head.path, head.bytes)));
  require(head.path == "*" || head.path.starts_with('/'));
  require(head.minor_version == 0 || !head.host.empty());
  require(head.fields.size() <= rules.max_fields && head.target.size() <= rules.max_target);
  for (const Field& field : head.fields) {
    require(field.line_end <= head.bytes.size() && field.value_at + field.value_size + 2 <= field.line_end);
    require(head.find(field.name(head.bytes)) != nullptr && field.line(head.bytes).ends_with("\r\n"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const RequestRules& rules :
       {RequestRules{}, RequestRules{.max_target = 20, .max_head = 100, .max_fields = 3, .drop_underscores = true}}) {
    check_head(input, rules);
    const Exchange whole = weir::http::play(input, 0, rules);
    for (std::size_t step : {1, 3}) {
      const Exchange cut = weir::http::play(input, step, rules);
      require(cut.text == whole.text && cut.end == whole.end && cut.whole == whole.whole);
    }
  }
  return 0;
}
