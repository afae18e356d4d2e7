// SPDX-License-Identifier: Apache-2.0
//
// For tests and fuzzers: what a connection would make of a client's bytes, by parser and decoder alone, as text that
// can be compared: every message that was read, then how it ended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "weir/http/chunked.h"
#include "weir/http/padded_bytes.h"
#include "weir/http/parser.h"

namespace weir::http {

// The bytes of a body so far.
struct BodyRead {
  Parsed state = Parsed::kIncomplete;
  std::size_t consumed = 0;
  std::string content;
  std::string code;  // of a rejection
};

// Reads a body whose bytes come in pieces of `step` bytes (0: in one piece).
inline BodyRead read_body(const Body& body, std::string_view input, std::size_t step = 0) {
  BodyRead read;
  if (body.kind == BodyKind::kNone) read.state = Parsed::kComplete;
  if (body.kind == BodyKind::kUntilClose) read = {Parsed::kComplete, input.size(), std::string(input), {}};
  if (body.kind == BodyKind::kLength) {
    read.consumed = static_cast<std::size_t>(std::min<std::uint64_t>(body.length, input.size()));
    read.content = input.substr(0, read.consumed);
    read.state = read.consumed == body.length ? Parsed::kComplete : Parsed::kIncomplete;
  }
  if (body.kind != BodyKind::kChunked) return read;
  ChunkedDecoder decoder;
  std::size_t end = step == 0 ? input.size() : std::min(step, input.size());
  while (read.state == Parsed::kIncomplete && read.consumed < input.size()) {
    const auto part = decoder.next(input.substr(read.consumed, end - read.consumed));
    read.consumed += part.consumed;
    read.content += part.payload;
    read.state = part.state;
    if (read.consumed == end) end = std::min(end + std::max<std::size_t>(step, 1), input.size());
  }
  read.code = decoder.rejection().code;
  return read;
}

inline std::string describe(const RequestHead& head) {
  std::string text;
  for (std::string_view part : {head.method, head.target, head.path, head.query, head.host}) {
    text.append(part).append("|");
  }
  for (const Field& field : head.fields) {
    text.append(field.name(head.bytes)).append("=").append(head.value(field)).append("|");
    text.append(std::to_string(static_cast<int>(field.id))).append(";");
  }
  const bool flags[] = {head.keep_alive, head.expects_continue, head.names_fields, head.asks_upgrade,
                        head.absolute_form};
  for (bool flag : flags) text += flag ? '1' : '0';
  return text + std::to_string(static_cast<int>(head.body.kind)) + ":" + std::to_string(head.body.length);
}

struct Exchange {
  std::size_t whole = 0;  // messages that were read to their end
  Parsed end = Parsed::kIncomplete;
  std::string text;  // of all messages and the end
};

// Plays a whole connection. The head's bytes come in pieces of `step` (0: in one piece), in fresh memory each time.
inline Exchange play(std::string_view input, std::size_t step = 0, const RequestRules& rules = {}) {
  Exchange exchange;
  RequestParser parser(rules);
  for (;;) {
    parser.reset();
    Parsed state = Parsed::kIncomplete;
    std::vector<PaddedBytes> shown;  // the last one is what the head's views point into
    std::size_t size = step == 0 ? input.size() : 0;
    do {
      size = std::min(size + step, input.size());
      if (!shown.empty()) shown.erase(shown.begin());
      shown.emplace_back(input.substr(0, size), static_cast<char>('\r' - size % 4));
      state = parser.parse(shown.back().view());
    } while (state == Parsed::kIncomplete && size < input.size());
    exchange.end = state;
    if (state == Parsed::kRejected) exchange.text.append("!").append(parser.rejection().code);
    if (state != Parsed::kComplete) return exchange;
    const RequestHead& head = parser.head();
    exchange.text += describe(head);
    input.remove_prefix(parser.consumed());
    const BodyRead body = read_body(head.body, input, step);
    exchange.text.append("\n").append(body.content).append("\n");
    exchange.end = body.state;
    if (body.state == Parsed::kRejected) exchange.text.append("!").append(body.code);
    if (body.state != Parsed::kComplete) return exchange;
    ++exchange.whole;
    input.remove_prefix(body.consumed);
    if (!head.keep_alive || input.empty()) return exchange;
  }
}

}  // namespace weir::http
