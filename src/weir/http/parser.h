// SPDX-License-Identifier: Apache-2.0
//
// Strict, incremental, zero-copy parsers for HTTP/1.1 heads (RFC 9112). No sockets and no allocation after the
// first message: bytes in, a head or a rejection out. Bytes that two careful parsers could read differently are
// rejected, never repaired. A fault is reported as soon as the bytes that show it are there.
// Thread safety: one thread per parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/http/field_lines.h"
#include "weir/http/message.h"
#include "weir/http/rejection.h"

namespace weir::http {

struct RequestRules {
  std::uint32_t max_target = 8192;     // bytes; 414 above
  std::uint32_t max_head = 65536;      // bytes of request line, fields and empty line; 431 above
  std::uint32_t max_fields = 100;      // 431 above
  bool drop_underscores = false;       // names with '_' are left out of `fields`; false: 400
  bool target_authority_wins = false;  // else an absolute target that differs from Host is 400
};

class RequestParser {
 public:
  explicit RequestParser(const RequestRules& rules) : rules_(rules) {}

  // Goes on with `input`, which starts with the first byte that belongs to this message and has grown since the
  // last call; it may have moved. kIncomplete: come back with more. Results other than that stand until reset().
  // Requires: 32 readable bytes behind `input` (their content does not matter).
  Parsed parse(std::string_view input);

  // After kComplete: the head, and how many bytes of input it took, empty lines before it included.
  RequestHead& head() { return head_; }
  const RequestHead& head() const { return head_; }
  std::size_t consumed() const { return consumed_; }

  // After kRejected.
  const Rejection& rejection() const { return rejection_; }

  // True when at least one byte of a request line was seen (an empty line does not count).
  bool started() const { return started_; }

  // Ready for the next message.
  void reset();

 private:
  enum class Phase : std::uint8_t { kEmptyLines, kMethod, kPath, kQuery, kVersion, kFields, kDone, kRejected };

  // Each step reads on within head[at_, size) and gives kComplete when its part is behind it.
  Parsed skip_empty_lines(std::string_view input);
  Parsed read_head(const char* head, std::uint32_t size);
  Parsed read_request_line(const char* head, std::uint32_t size);
  Parsed read_method(const char* head, std::uint32_t size);
  Parsed read_path(const char* head, std::uint32_t size);
  Parsed read_query(const char* head, std::uint32_t size);
  Parsed end_target(const char* head, const char* stop, std::uint32_t size);
  Parsed read_version(const char* head, std::uint32_t size);
  Parsed read_fields(const char* head, std::uint32_t size);
  Parsed finish(const char* head);

  // What a part means; null, or why it is refused.
  const Rejection* classify_target(const char* head);
  const Rejection* split_absolute(std::string_view target);
  const Rejection* take(const char* head, const Field& field);
  const Rejection* take_host(std::string_view value, std::string_view authority);
  const Rejection* take_length(std::string_view value);
  const Rejection* take_transfer_encoding(std::string_view value);
  const Rejection* take_expect(std::string_view value);

  Parsed reject(const Rejection& why);

  RequestRules rules_;
  RequestHead head_;
  Rejection rejection_;
  FieldLines lines_;
  std::size_t consumed_ = 0;
  std::size_t start_ = 0;  // of the head: behind the empty lines
  // Offsets in the head; the views of head_ are made of them when it is complete.
  std::uint32_t at_ = 0;  // first byte that was not accepted yet, up to the end of the request line
  std::uint32_t method_size_ = 0;
  std::uint32_t query_at_ = 0;  // the '?', or the end of the target
  std::uint32_t target_end_ = 0;
  std::uint32_t path_at_ = 0;
  std::uint32_t authority_at_ = 0;  // of an absolute target
  std::uint32_t authority_size_ = 0;
  std::uint32_t host_at_ = 0;
  std::uint32_t host_size_ = 0;
  std::uint32_t connection_ = 0;  // what Connection asks for
  std::uint8_t empty_lines_ = 0;
  Phase phase_ = Phase::kEmptyLines;
  bool started_ = false;
};

// For the answers of upstreams: the same strictness for lines and names, freedom in reason phrases. Rejections
// carry status 502.
class ResponseParser {
 public:
  // `to_head`: the answer belongs to a HEAD request, so it has no body.
  void reset(bool to_head);

  // As RequestParser::parse, at most 64 KiB and 100 fields.
  Parsed parse(std::string_view input);

  ResponseHead& head() { return head_; }
  const ResponseHead& head() const { return head_; }
  std::size_t consumed() const { return consumed_; }
  const Rejection& rejection() const { return rejection_; }

 private:
  enum class Phase : std::uint8_t { kStatus, kReason, kFields, kDone, kRejected };

  Parsed read_head(const char* head, std::uint32_t size);
  Parsed read_status(const char* head, std::uint32_t size);
  Parsed read_reason(const char* head, std::uint32_t size);
  Parsed read_fields(const char* head, std::uint32_t size);
  Parsed finish(const char* head);
  const Rejection* take(const char* head, const Field& field);
  const Rejection* take_transfer_encoding(std::string_view value);
  void settle_body();
  Parsed reject(const Rejection& why);

  ResponseHead head_;
  Rejection rejection_;
  FieldLines lines_;
  std::size_t consumed_ = 0;
  std::uint32_t at_ = 0;  // first byte of the status line that was not accepted yet
  std::uint32_t reason_end_ = 0;
  std::uint32_t connection_ = 0;  // what Connection asks for
  Phase phase_ = Phase::kStatus;
  bool to_head_ = false;
};

}  // namespace weir::http
