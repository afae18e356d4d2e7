// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/reply.h"

#include <hiredis/hiredis.h>

#include <charconv>
#include <new>

namespace weir::redis {

bool ReplyView::is_error() const { return reply_ != nullptr && reply_->type == REDIS_REPLY_ERROR; }
bool ReplyView::is_nil() const { return reply_ == nullptr || reply_->type == REDIS_REPLY_NIL; }
bool ReplyView::is_list() const { return reply_ != nullptr && reply_->type == REDIS_REPLY_ARRAY; }

std::string_view ReplyView::text() const {
  if (reply_ == nullptr || reply_->str == nullptr) return {};
  return {reply_->str, reply_->len};
}

std::int64_t ReplyView::integer() const {
  return reply_ != nullptr && reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0;
}

std::size_t ReplyView::size() const { return is_list() ? reply_->elements : 0; }

ReplyView ReplyView::operator[](std::size_t index) const {
  return index < size() ? ReplyView(reply_->element[index]) : ReplyView();
}

bool ReplyView::is_error(std::string_view code) const {
  if (!is_error() || !text().starts_with(code)) return false;
  return text().size() == code.size() || text()[code.size()] == ' ';
}

std::optional<std::int64_t> time_of(const ReplyView& reply) {
  if (reply.size() != 2) return std::nullopt;
  const auto number = [](std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return number(reply[0].text()) * 1'000'000 + number(reply[1].text());
}

void Reply::Free::operator()(redisReply* reply) const { ::freeReplyObject(reply); }

void ReplyReader::Free::operator()(redisReader* reader) const { ::redisReaderFree(reader); }

ReplyReader::ReplyReader() : reader_(::redisReaderCreate()) {
  if (!reader_) throw std::bad_alloc();
}

void ReplyReader::feed(std::string_view bytes) { ::redisReaderFeed(reader_.get(), bytes.data(), bytes.size()); }

bool ReplyReader::next(Reply& reply) {
  void* read = nullptr;
  if (::redisReaderGetReply(reader_.get(), &read) != REDIS_OK) return false;
  reply = Reply(static_cast<redisReply*>(read));
  return true;
}

}  // namespace weir::redis
