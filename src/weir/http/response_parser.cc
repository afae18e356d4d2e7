// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "weir/http/faults.h"
#include "weir/http/framing.h"
#include "weir/http/parser.h"
#include "weir/http/scan.h"

namespace weir::http {
namespace {

constexpr std::uint32_t kMaxHead = 65536;
constexpr std::uint32_t kMaxFields = 100;
constexpr std::uint32_t kStatusSize = 12;  // "HTTP/1.1 200"
constexpr std::size_t kUsualFields = 32;

constexpr std::uint64_t bit(FieldId id) { return std::uint64_t{1} << static_cast<unsigned>(id); }
constexpr std::uint64_t kOnce = bit(FieldId::kContentLength) | bit(FieldId::kTransferEncoding);

// Whether `c` may stand at this place of "HTTP/1.x NNN".
bool fits_status(std::uint32_t at, char c) {
  constexpr std::string_view kShape = "HTTP/1.? ???";
  if (at == 7) return c == '0' || c == '1';
  if (at == 9) return c >= '1' && c <= '5';  // RFC 9110 section 15: 100 to 599
  if (at > 9) return is_in(c, kDigitChar);
  return c == kShape[at];
}

}  // namespace

void ResponseParser::reset(bool to_head) {
  std::vector<Field> fields = std::move(head_.fields);
  fields.clear();
  head_ = ResponseHead{};
  head_.fields = std::move(fields);
  rejection_ = {};
  consumed_ = 0;
  at_ = reason_end_ = connection_ = 0;
  phase_ = Phase::kStatus;
  to_head_ = to_head;
}

Parsed ResponseParser::parse(std::string_view input) {
  if (phase_ == Phase::kRejected) return Parsed::kRejected;
  if (phase_ == Phase::kDone) return Parsed::kComplete;
  const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(input.size(), kMaxHead));
  const Parsed result = read_head(input.data(), size);
  if (result == Parsed::kIncomplete && input.size() > size) return reject(fault::kHeadTooLarge);
  return result;
}

Parsed ResponseParser::read_head(const char* head, std::uint32_t size) {
  Parsed part = Parsed::kComplete;
  if (phase_ == Phase::kStatus) part = read_status(head, size);
  if (phase_ == Phase::kReason && part == Parsed::kComplete) part = read_reason(head, size);
  if (phase_ == Phase::kFields && part == Parsed::kComplete) part = read_fields(head, size);
  return part;
}

// The byte behind the status must be there too: a space, or the end of the line.
Parsed ResponseParser::read_status(const char* head, std::uint32_t size) {
  for (; at_ < std::min(size, kStatusSize); ++at_) {
    if (!fits_status(at_, head[at_])) return reject(head[at_] == '\n' ? fault::kLoneLf : fault::kStatusLine);
  }
  if (size <= kStatusSize) return Parsed::kIncomplete;
  const char next = head[kStatusSize];
  if (next == '\n') return reject(fault::kLoneLf);
  if (next != ' ' && next != '\r') return reject(fault::kStatusLine);
  head_.minor_version = head[7] == '0' ? 0 : 1;
  head_.status = static_cast<std::uint16_t>((head[9] - '0') * 100 + (head[10] - '0') * 10 + (head[11] - '0'));
  phase_ = Phase::kReason;
  return Parsed::kComplete;
}

// A reason phrase may hold anything but CR, LF and NUL: nobody reads it.
Parsed ResponseParser::read_reason(const char* head, std::uint32_t size) {
  const char* const end = head + size;
  const char* stop = find_control(head + at_, end);
  while (stop < end && *stop != '\r' && *stop != '\n' && *stop != '\0') stop = find_control(stop + 1, end);
  at_ = static_cast<std::uint32_t>(stop - head);
  if (stop == end) return Parsed::kIncomplete;
  if (*stop != '\r') return reject(*stop == '\n' ? fault::kLoneLf : fault::kStatusLine);
  if (stop + 1 == end) return Parsed::kIncomplete;
  if (stop[1] != '\n') return reject(fault::kLoneCr);
  reason_end_ = at_;
  lines_.start(at_ + 2, kMaxFields, true);
  if (head_.fields.capacity() == 0) head_.fields.reserve(kUsualFields);
  phase_ = Phase::kFields;
  return Parsed::kComplete;
}

Parsed ResponseParser::read_fields(const char* head, std::uint32_t size) {
  Field field;
  for (;;) {
    switch (lines_.next(head, size, field)) {
      case FieldLines::Event::kMore:
        return Parsed::kIncomplete;
      case FieldLines::Event::kFault:
        return reject(lines_.fault());
      case FieldLines::Event::kEnd:
        return finish(head);
      case FieldLines::Event::kField:
        if (const Rejection* why = take(head, field)) return reject(*why);
    }
  }
}

const Rejection* ResponseParser::take(const char* head, const Field& field) {
  head_.fields.push_back(field);
  if (field.id == FieldId::kOther) return nullptr;
  if ((head_.known & kOnce & bit(field.id)) != 0) return &fault::kRepeated;
  head_.known |= bit(field.id);
  const std::string_view value(head + field.value_at, field.value_size);
  if (field.id == FieldId::kContentLength) {
    const auto length = read_content_length(value);
    if (!length) return &fault::kContentLength;
    if (head_.has(FieldId::kTransferEncoding)) return &fault::kTwoLengths;
    head_.body = {BodyKind::kLength, *length};
  } else if (field.id == FieldId::kTransferEncoding) {
    return take_transfer_encoding(value);
  } else if (field.id == FieldId::kConnection) {
    connection_ |= read_connection(value);
  }
  return nullptr;
}

const Rejection* ResponseParser::take_transfer_encoding(std::string_view value) {
  if (head_.minor_version == 0) return &fault::kTransferEncodingOld;
  if (head_.has(FieldId::kContentLength)) return &fault::kTwoLengths;
  if (read_transfer_encoding(value) != TransferCoding::kChunked) return &fault::kTransferEncoding;
  head_.body = {BodyKind::kChunked, 0};
  return nullptr;
}

// RFC 9112 section 6.3.
void ResponseParser::settle_body() {
  const bool never = head_.status < 200 || head_.status == 204;
  if (to_head_ || never || head_.status == 304) {
    const bool announced = head_.body.kind == BodyKind::kChunked || head_.body.length > 0;
    head_.stray_body = never && announced;
    head_.body = {};
  } else if (head_.body.kind == BodyKind::kNone) {
    head_.body.kind = BodyKind::kUntilClose;
    head_.keep_alive = false;
  }
}

Parsed ResponseParser::finish(const char* head) {
  head_.bytes = {head, lines_.end()};
  const std::uint32_t reason_at = std::min(kStatusSize + 1, reason_end_);
  head_.reason = head_.bytes.substr(reason_at, reason_end_ - reason_at);
  head_.keep_alive = asks_keep_alive(head_.minor_version, connection_);
  head_.names_fields = (connection_ & kNamesOther) != 0;
  head_.asks_upgrade = (connection_ & kNamesUpgrade) != 0;
  settle_body();
  consumed_ = lines_.end();
  phase_ = Phase::kDone;
  return Parsed::kComplete;
}

Parsed ResponseParser::reject(const Rejection& why) {
  rejection_ = why;
  rejection_.status = 502;
  phase_ = Phase::kRejected;
  return Parsed::kRejected;
}

}  // namespace weir::http
