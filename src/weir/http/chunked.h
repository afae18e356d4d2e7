// SPDX-License-Identifier: Apache-2.0
//
// The chunked transfer coding (RFC 9112 section 7.1), strict: a decoder that hands out the payload in place, and
// the framing of an encoder. No sockets, no allocation. Thread safety: one thread per decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/http/rejection.h"

namespace weir::http {

class ChunkedDecoder {
 public:
  struct Step {
    Parsed state = Parsed::kIncomplete;  // kComplete: the last chunk and the trailers are behind us
    std::size_t consumed = 0;            // bytes of the input that are done with, `payload` included
    std::string_view payload;            // a run of body bytes inside the input, or empty
  };

  // Reads on. While a payload is returned there may be more in the rest of the input: call again with it. Without a
  // payload, kIncomplete says that all of the input was consumed: come back with the bytes that follow it.
  // Framing never has to be kept or shown again. Chunk extensions take at most 4096 bytes of the whole message,
  // trailers at most 65536 bytes and 100 fields.
  Step next(std::string_view input);

  // After kRejected.
  const Rejection& rejection() const { return rejection_; }

  // True when some trailer field was read (they are checked and dropped).
  bool had_trailers() const { return trailer_fields_ > 0; }

 private:
  // The place in the grammar of RFC 9112 section 7.1 in front of the next byte.
  enum class Place : std::uint8_t {
    kSizeStart,
    kSize,
    kExtensionName,
    kExtensionNameRest,
    kExtensionValue,
    kExtensionToken,
    kExtensionQuoted,
    kExtensionEscape,
    kExtensionQuoteEnd,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerLine,
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kEndLf,
    kDone,
    kRejected,
  };

  // Each takes one byte of its part; false: the message is refused.
  bool take(char c);
  bool take_size(char c);
  bool take_size_end(char c);
  bool take_extension(char c);
  bool end_extension(char c, const Rejection& otherwise);
  bool take_data_end(char c);
  bool take_trailer(char c);
  bool expect(char c, char wanted, Place next, const Rejection& otherwise);
  bool go(Place place);
  bool reject(const Rejection& why);

  Rejection rejection_;
  std::uint64_t left_ = 0;             // bytes of the current chunk that are still to come
  std::uint32_t extension_bytes_ = 0;  // of the whole message
  std::uint32_t trailer_bytes_ = 0;
  std::uint16_t trailer_fields_ = 0;
  std::uint8_t digits_ = 0;  // of the current size
  Place place_ = Place::kSizeStart;
};

// Writes the line in front of a chunk of `size` bytes, e.g. "1f4\r\n", at `out` (room for 18 bytes); returns its
// length.
std::size_t write_chunk_line(char* out, std::uint64_t size);

inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace weir::http
