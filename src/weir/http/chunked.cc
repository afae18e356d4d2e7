// SPDX-License-Identifier: Apache-2.0
#include "weir/http/chunked.h"

#include <algorithm>
#include <bit>

#include "weir/http/chars.h"
#include "weir/http/faults.h"

namespace weir::http {
namespace {

constexpr std::uint8_t kMaxDigits = 16;
constexpr std::uint32_t kMaxExtensions = 4096;  // bytes of a message
constexpr std::uint32_t kMaxTrailers = 65536;   // bytes, the empty line included
constexpr std::uint16_t kMaxTrailerFields = 100;

// Requires: is_in(c, kHexChar).
std::uint64_t hex_value(char c) {
  return static_cast<std::uint64_t>(is_in(c, kDigitChar) ? c - '0' : (c | 0x20) - 'a' + 10);
}

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view input) {
  Step step;
  while (step.consumed < input.size() && place_ < Place::kDone) {
    if (place_ == Place::kData) {
      const std::uint64_t here = std::min<std::uint64_t>(left_, input.size() - step.consumed);
      step.payload = input.substr(step.consumed, here);
      step.consumed += here;
      left_ -= here;
      if (left_ == 0) place_ = Place::kDataCr;
      return step;
    }
    if (take(input[step.consumed])) ++step.consumed;
  }
  if (place_ == Place::kDone) step.state = Parsed::kComplete;
  if (place_ == Place::kRejected) step.state = Parsed::kRejected;
  return step;
}

bool ChunkedDecoder::take(char c) {
  if (place_ <= Place::kSize) return take_size(c);
  if (place_ < Place::kSizeLf) return take_extension(c);
  if (place_ == Place::kSizeLf) return take_size_end(c);
  if (place_ < Place::kTrailerLine) return take_data_end(c);
  return take_trailer(c);
}

bool ChunkedDecoder::take_size(char c) {
  if (is_in(c, kHexChar)) {
    // The 16th digit must not reach bit 63.
    if (digits_ == kMaxDigits || left_ >> 59U != 0) return reject(fault::kChunkSize);
    ++digits_;
    left_ = left_ << 4U | hex_value(c);
    return go(Place::kSize);
  }
  if (c == '\n') return reject(fault::kLoneLf);
  if (digits_ == 0) return reject(fault::kChunkSize);
  if (c == ';' && ++extension_bytes_ > kMaxExtensions) return reject(fault::kChunkExtensions);
  return end_extension(c, fault::kChunkSize);
}

bool ChunkedDecoder::take_size_end(char c) {
  digits_ = 0;
  return expect(c, '\n', left_ > 0 ? Place::kData : Place::kTrailerLine, fault::kLoneCr);
}

// What may follow a size, an extension's name or its value: the next extension or the end of the line.
bool ChunkedDecoder::end_extension(char c, const Rejection& otherwise) {
  if (c == ';') return go(Place::kExtensionName);
  return expect(c, '\r', Place::kSizeLf, otherwise);
}

// RFC 9112 section 7.1.1 without the optional white space: ";name", ";name=token", ";name=\"quoted\"".
bool ChunkedDecoder::take_extension(char c) {
  if (c != '\r' && ++extension_bytes_ > kMaxExtensions) return reject(fault::kChunkExtensions);
  switch (place_) {
    case Place::kExtensionName:
      return is_in(c, kAnyToken) ? go(Place::kExtensionNameRest) : reject(fault::kChunkExtension);
    case Place::kExtensionNameRest:
      if (is_in(c, kAnyToken)) return true;
      return c == '=' ? go(Place::kExtensionValue) : end_extension(c, fault::kChunkExtension);
    case Place::kExtensionValue:
      if (c == '"') return go(Place::kExtensionQuoted);
      return is_in(c, kAnyToken) ? go(Place::kExtensionToken) : reject(fault::kChunkExtension);
    case Place::kExtensionToken:
      return is_in(c, kAnyToken) || end_extension(c, fault::kChunkExtension);
    case Place::kExtensionQuoted:
      if (c == '"') return go(Place::kExtensionQuoteEnd);
      if (c == '\\') return go(Place::kExtensionEscape);
      return is_in(c, kValueChar) || reject(fault::kChunkExtension);
    case Place::kExtensionEscape:
      return is_in(c, kValueChar) ? go(Place::kExtensionQuoted) : reject(fault::kChunkExtension);
    default:
      return end_extension(c, fault::kChunkExtension);
  }
}

bool ChunkedDecoder::take_data_end(char c) {
  if (place_ == Place::kDataCr) return expect(c, '\r', Place::kDataLf, fault::kChunkEnd);
  return expect(c, '\n', Place::kSizeStart, fault::kChunkEnd);
}

// RFC 9112 section 7.1.2, with the rules for field lines of FieldLines.
bool ChunkedDecoder::take_trailer(char c) {
  if (++trailer_bytes_ > kMaxTrailers) return reject(fault::kTrailersTooLarge);
  switch (place_) {
    case Place::kTrailerLine:
      if (c == '\r') return go(Place::kEndLf);
      if (trailer_fields_ == kMaxTrailerFields) return reject(fault::kTooManyTrailers);
      if (is_space(c)) return reject(fault::kFoldedLine);
      ++trailer_fields_;
      return is_in(c, kAnyToken) ? go(Place::kTrailerName) : reject(c == '\n' ? fault::kLoneLf : fault::kFieldName);
    case Place::kTrailerName:
      if (is_in(c, kAnyToken)) return true;
      return expect(c, ':', Place::kTrailerValue, c == '\r' ? fault::kNoColon : fault::kFieldName);
    case Place::kTrailerValue:
      return is_in(c, kValueChar) || expect(c, '\r', Place::kTrailerLf, fault::kFieldValue);
    case Place::kTrailerLf:
      return expect(c, '\n', Place::kTrailerLine, fault::kLoneCr);
    default:
      return expect(c, '\n', Place::kDone, fault::kLoneCr);
  }
}

bool ChunkedDecoder::expect(char c, char wanted, Place next, const Rejection& otherwise) {
  if (c == wanted) return go(next);
  return reject(c == '\n' ? fault::kLoneLf : otherwise);
}

bool ChunkedDecoder::go(Place place) {
  place_ = place;
  return true;
}

bool ChunkedDecoder::reject(const Rejection& why) {
  rejection_ = why;
  place_ = Place::kRejected;
  return false;
}

std::size_t write_chunk_line(char* out, std::uint64_t size) {
  const std::size_t digits = (static_cast<std::size_t>(std::bit_width(size | 1U)) + 3) / 4;
  for (std::size_t i = digits; i > 0; --i, size >>= 4U) out[i - 1] = "0123456789abcdef"[size & 15U];
  out[digits] = '\r';
  out[digits + 1] = '\n';
  return digits + 2;
}

}  // namespace weir::http
