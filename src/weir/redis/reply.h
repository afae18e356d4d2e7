// SPDX-License-Identifier: Apache-2.0
//
// What a server answered. Thread safety: a plain value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

struct redisReply;   // NOLINT(readability-identifier-naming): a name of hiredis
struct redisReader;  // NOLINT(readability-identifier-naming): a name of hiredis

namespace weir::redis {

// Looks at a reply or an element of one; lives as long as the Reply. Of another type than asked for: empty, 0.
class ReplyView {
 public:
  ReplyView() = default;
  explicit ReplyView(const redisReply* reply) : reply_(reply) {}

  bool is_error() const;
  bool is_nil() const;
  bool is_list() const;
  std::string_view text() const;  // of a string, a status or an error
  std::int64_t integer() const;
  std::size_t size() const;  // of a list
  ReplyView operator[](std::size_t index) const;
  // An error with this code, e.g. "NOSCRIPT".
  bool is_error(std::string_view code) const;

 private:
  const redisReply* reply_ = nullptr;
};

// What TIME answers, as microseconds since 1970. Absent: it is something else.
std::optional<std::int64_t> time_of(const ReplyView& reply);

class Reply {
 public:
  Reply() = default;
  explicit Reply(redisReply* reply) : reply_(reply) {}

  explicit operator bool() const { return reply_ != nullptr; }
  ReplyView view() const { return ReplyView(reply_.get()); }

 private:
  struct Free {
    void operator()(redisReply* reply) const;
  };
  std::unique_ptr<redisReply, Free> reply_;
};

// Replies from the bytes of a connection, in order.
class ReplyReader {
 public:
  ReplyReader();
  void feed(std::string_view bytes);
  // False: what came is no reply. An empty `reply`: there is none yet.
  bool next(Reply& reply);

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace weir::redis
