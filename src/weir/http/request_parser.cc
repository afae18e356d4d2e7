// SPDX-License-Identifier: Apache-2.0
//
// The order in which faults are found is the order of their bytes, so a message gives the same result in whatever
// pieces it comes: every limit is a position, and what is read never reaches beyond the nearest one.
#include <algorithm>
#include <cstring>

#include "weir/http/faults.h"
#include "weir/http/framing.h"
#include "weir/http/parser.h"
#include "weir/http/scan.h"

namespace weir::http {
namespace {

constexpr std::uint32_t kMaxMethod = 32;
constexpr std::uint8_t kMaxEmptyLines = 4;
constexpr std::uint32_t kVersionLine = 10;  // "HTTP/1.1" CRLF
constexpr std::size_t kUsualFields = 32;

constexpr std::uint64_t bit(FieldId id) { return std::uint64_t{1} << static_cast<unsigned>(id); }

// Fields of which a second line could be read differently by somebody else.
constexpr std::uint64_t kOnce = bit(FieldId::kAuthorization) | bit(FieldId::kContentLength) |
                                bit(FieldId::kContentType) | bit(FieldId::kHost) | bit(FieldId::kTransferEncoding);

Method method_id(std::string_view method) {
  switch (method.size()) {
    case 3:
      if (method == "GET") return Method::kGet;
      return method == "PUT" ? Method::kPut : Method::kOther;
    case 4:
      if (method == "POST") return Method::kPost;
      return method == "HEAD" ? Method::kHead : Method::kOther;
    case 5:
      if (method == "PATCH") return Method::kPatch;
      return method == "TRACE" ? Method::kTrace : Method::kOther;
    case 6:
      return method == "DELETE" ? Method::kDelete : Method::kOther;
    case 7:
      if (method == "OPTIONS") return Method::kOptions;
      return method == "CONNECT" ? Method::kConnect : Method::kOther;
    default:
      return Method::kOther;
  }
}

// Why a method cannot end with `stop`.
const Rejection& method_fault(char stop) {
  if (stop == '\n') return fault::kLoneLf;
  return stop == '\r' || is_space(stop) ? fault::kRequestLine : fault::kMethod;
}

const char* earlier(const char* end, const char* at, std::size_t size) {
  return static_cast<std::size_t>(end - at) < size ? end : at + size;
}

}  // namespace

void RequestParser::reset() {
  std::vector<Field> fields = std::move(head_.fields);
  fields.clear();
  head_ = RequestHead{};
  head_.fields = std::move(fields);
  rejection_ = {};
  consumed_ = start_ = 0;
  at_ = method_size_ = query_at_ = target_end_ = path_at_ = 0;
  authority_at_ = authority_size_ = host_at_ = host_size_ = connection_ = 0;
  empty_lines_ = 0;
  phase_ = Phase::kEmptyLines;
  started_ = false;
}

Parsed RequestParser::parse(std::string_view input) {
  if (phase_ == Phase::kRejected) return Parsed::kRejected;
  if (phase_ == Phase::kDone) return Parsed::kComplete;
  if (phase_ == Phase::kEmptyLines) {
    const Parsed skipped = skip_empty_lines(input);
    if (skipped != Parsed::kComplete) return skipped;
  }
  const std::size_t available = input.size() - start_;
  const std::size_t size = std::min<std::size_t>(available, rules_.max_head);
  const Parsed result = read_head(input.data() + start_, static_cast<std::uint32_t>(size));
  if (result == Parsed::kIncomplete && available > size) return reject(fault::kHeadTooLarge);
  return result;
}

// RFC 9112 section 2.2: some clients send an empty line behind a body.
Parsed RequestParser::skip_empty_lines(std::string_view input) {
  for (;; start_ += 2, ++empty_lines_) {
    if (start_ >= input.size()) return Parsed::kIncomplete;
    if (input[start_] == '\n') return reject(fault::kLoneLf);
    if (input[start_] != '\r') break;
    if (empty_lines_ == kMaxEmptyLines) return reject(fault::kEmptyLines);
    if (start_ + 1 == input.size()) return Parsed::kIncomplete;
    if (input[start_ + 1] != '\n') return reject(fault::kLoneCr);
  }
  started_ = true;
  phase_ = Phase::kMethod;
  return Parsed::kComplete;
}

Parsed RequestParser::read_head(const char* head, std::uint32_t size) {
  if (phase_ < Phase::kFields) {
    const Parsed line = read_request_line(head, size);
    if (line != Parsed::kComplete) return line;
  }
  return read_fields(head, size);
}

Parsed RequestParser::read_request_line(const char* head, std::uint32_t size) {
  Parsed part = Parsed::kComplete;
  if (phase_ == Phase::kMethod) part = read_method(head, size);
  if (phase_ == Phase::kPath && part == Parsed::kComplete) part = read_path(head, size);
  if (phase_ == Phase::kQuery && part == Parsed::kComplete) part = read_query(head, size);
  if (phase_ == Phase::kVersion && part == Parsed::kComplete) part = read_version(head, size);
  return part;
}

Parsed RequestParser::read_method(const char* head, std::uint32_t size) {
  const char* const end = head + size;
  const char* const window = earlier(end, head, kMaxMethod + 1);
  const char* const stop = find_token_end(head + at_, window, kAnyToken);
  at_ = static_cast<std::uint32_t>(stop - head);
  if (at_ > kMaxMethod) return reject(fault::kMethodTooLong);
  if (stop == end) return Parsed::kIncomplete;
  if (*stop != ' ' || at_ == 0) return reject(method_fault(*stop));
  method_size_ = at_++;
  head_.method_id = method_id(std::string_view(head, method_size_));
  phase_ = Phase::kPath;
  return Parsed::kComplete;
}

Parsed RequestParser::read_path(const char* head, std::uint32_t size) {
  const char* const window = earlier(head + size, head + method_size_ + 1, std::size_t{rules_.max_target} + 1);
  const char* const stop = find_path_end(head + at_, window);
  at_ = static_cast<std::uint32_t>(stop - head);
  if (stop == window || *stop != '?') return end_target(head, stop, size);
  query_at_ = at_;
  phase_ = Phase::kQuery;
  return Parsed::kComplete;
}

Parsed RequestParser::read_query(const char* head, std::uint32_t size) {
  const char* const window = earlier(head + size, head + method_size_ + 1, std::size_t{rules_.max_target} + 1);
  const char* const stop = find_query_end(head + at_, window);
  at_ = static_cast<std::uint32_t>(stop - head);
  return end_target(head, stop, size);
}

Parsed RequestParser::end_target(const char* head, const char* stop, std::uint32_t size) {
  const std::uint32_t target_size = at_ - method_size_ - 1;
  if (target_size > rules_.max_target) return reject(fault::kTargetTooLong);
  if (stop == head + size) return Parsed::kIncomplete;
  if (*stop == '\n') return reject(fault::kLoneLf);
  if (*stop == '\r' || *stop == '\t') return reject(fault::kRequestLine);
  if (*stop != ' ') return reject(fault::kTarget);
  if (target_size == 0) return reject(fault::kRequestLine);
  if (phase_ == Phase::kPath) query_at_ = at_;
  target_end_ = at_++;
  phase_ = Phase::kVersion;
  return Parsed::kComplete;
}

// Looks at up to 10 bytes again when it is called again. What the target means is judged behind the version, so that
// the preface of HTTP/2 ("PRI * HTTP/2.0") is told about its version.
Parsed RequestParser::read_version(const char* head, std::uint32_t size) {
  constexpr std::string_view kShape = "HTTP/0.0\r\n";
  const char* const version = head + at_;
  const std::uint32_t seen = std::min(size - at_, kVersionLine);
  for (std::uint32_t i = 0; i < seen; ++i) {
    if (version[i] == kShape[i] || (kShape[i] == '0' && is_in(version[i], kDigitChar))) continue;
    if (version[i] == '\n') return reject(fault::kLoneLf);
    if (version[i] == ' ' || version[i] == '\t') return reject(fault::kRequestLine);
    return reject(i == kVersionLine - 1 ? fault::kLoneCr : fault::kVersion);
  }
  if (seen < kVersionLine) return Parsed::kIncomplete;
  if (version[5] != '1') return reject(fault::kVersionUnknown);
  head_.minor_version = version[7] == '0' ? 0 : 1;
  at_ += kVersionLine;
  if (const Rejection* why = classify_target(head)) return reject(*why);
  lines_.start(at_, rules_.max_fields, rules_.drop_underscores);
  if (head_.fields.capacity() == 0) head_.fields.reserve(kUsualFields);
  phase_ = Phase::kFields;
  return Parsed::kComplete;
}

// RFC 9112 section 3.2.
const Rejection* RequestParser::classify_target(const char* head) {
  path_at_ = method_size_ + 1;
  const std::string_view target(head + path_at_, target_end_ - path_at_);
  if (target.front() == '/') return nullptr;
  if (head_.method_id == Method::kConnect) {
    path_at_ = query_at_;  // host:port, which names no path
    return nullptr;
  }
  if (target == "*") return head_.method_id == Method::kOptions ? nullptr : &fault::kTargetForm;
  return split_absolute(target);
}

const Rejection* RequestParser::split_absolute(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (scheme == target.npos) return &fault::kTargetForm;
  const std::string_view name = target.substr(0, scheme);
  if (!same_name(name, "http") && !same_name(name, "https")) return &fault::kTargetForm;
  const std::string_view rest = target.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, std::min(rest.find_first_of("/?"), rest.size()));
  if (authority.find('@') != authority.npos) return &fault::kUserinfo;
  if (!is_authority(authority)) return &fault::kTargetForm;
  head_.absolute_form = true;
  authority_at_ = path_at_ + static_cast<std::uint32_t>(scheme) + 3;
  authority_size_ = static_cast<std::uint32_t>(authority.size());
  path_at_ = authority_at_ + authority_size_;
  return nullptr;
}

Parsed RequestParser::read_fields(const char* head, std::uint32_t size) {
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

const Rejection* RequestParser::take(const char* head, const Field& field) {
  if (rules_.drop_underscores && std::memchr(head + field.line_at, '_', field.name_size) != nullptr) return nullptr;
  head_.fields.push_back(field);
  if (field.id == FieldId::kOther) return nullptr;
  if ((head_.known & kOnce & bit(field.id)) != 0) return &fault::kRepeated;
  head_.known |= bit(field.id);
  const std::string_view value(head + field.value_at, field.value_size);
  switch (field.id) {
    case FieldId::kHost:
      host_at_ = field.value_at;
      host_size_ = field.value_size;
      if (!is_authority(value)) return &fault::kHost;
      return head_.absolute_form ? take_host(value, {head + authority_at_, authority_size_}) : nullptr;
    case FieldId::kContentLength:
      return take_length(value);
    case FieldId::kTransferEncoding:
      return take_transfer_encoding(value);
    case FieldId::kConnection:
      connection_ |= read_connection(value);
      return nullptr;
    case FieldId::kExpect:
      return take_expect(value);
    default:
      return nullptr;
  }
}

const Rejection* RequestParser::take_host(std::string_view value, std::string_view authority) {
  return rules_.target_authority_wins || same_name(value, authority) ? nullptr : &fault::kHostDiffers;
}

const Rejection* RequestParser::take_length(std::string_view value) {
  const auto length = read_content_length(value);
  if (!length) return &fault::kContentLength;
  if (head_.has(FieldId::kTransferEncoding)) return &fault::kTwoLengths;
  head_.body = {BodyKind::kLength, *length};
  return nullptr;
}

const Rejection* RequestParser::take_transfer_encoding(std::string_view value) {
  if (head_.minor_version == 0) return &fault::kTransferEncodingOld;
  if (head_.has(FieldId::kContentLength)) return &fault::kTwoLengths;
  switch (read_transfer_encoding(value)) {
    case TransferCoding::kChunked:
      head_.body = {BodyKind::kChunked, 0};
      return nullptr;
    case TransferCoding::kOther:
      return &fault::kTransferCoding;
    case TransferCoding::kInvalid:
      break;
  }
  return &fault::kTransferEncoding;
}

// RFC 9110 section 10.1.1: an expectation in HTTP/1.0 is ignored.
const Rejection* RequestParser::take_expect(std::string_view value) {
  if (head_.minor_version == 0) return nullptr;
  if (!same_name(value, "100-continue")) return &fault::kExpectation;
  head_.expects_continue = true;
  return nullptr;
}

Parsed RequestParser::finish(const char* head) {
  if (!head_.has(FieldId::kHost) && head_.minor_version == 1) return reject(fault::kNoHost);
  const bool from_target = head_.absolute_form && (rules_.target_authority_wins || !head_.has(FieldId::kHost));
  const std::uint32_t query_size = target_end_ - query_at_;
  head_.bytes = {head, lines_.end()};
  head_.method = head_.bytes.substr(0, method_size_);
  head_.target = head_.bytes.substr(method_size_ + 1, target_end_ - method_size_ - 1);
  head_.path = path_at_ < query_at_ ? head_.bytes.substr(path_at_, query_at_ - path_at_) : std::string_view("/");
  head_.query = head_.bytes.substr(query_at_, query_size);
  head_.host =
      from_target ? head_.bytes.substr(authority_at_, authority_size_) : head_.bytes.substr(host_at_, host_size_);
  head_.keep_alive = asks_keep_alive(head_.minor_version, connection_);
  head_.names_fields = (connection_ & kNamesOther) != 0;
  head_.asks_upgrade = (connection_ & kNamesUpgrade) != 0;
  consumed_ = start_ + lines_.end();
  phase_ = Phase::kDone;
  return Parsed::kComplete;
}

Parsed RequestParser::reject(const Rejection& why) {
  rejection_ = why;
  phase_ = Phase::kRejected;
  return Parsed::kRejected;
}

}  // namespace weir::http
