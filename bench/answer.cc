// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include <charconv>
#include <optional>

namespace weir::bench {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLengthName = "\r\ncontent-length:";
constexpr std::size_t kStatusLineStart = 12;  // "HTTP/1.1 200"

bool equal_without_case(std::string_view text, std::string_view lower) {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c) != lower[i]) return false;
  }
  return true;
}

// The offset of the Content-Length field's first byte in a complete head.
std::optional<std::size_t> find_length_field(std::string_view head) {
  for (std::size_t at = head.find("\r\n"); at + kLengthName.size() < head.size(); at = head.find("\r\n", at + 2)) {
    if (equal_without_case(head.substr(at, kLengthName.size()), kLengthName)) return at + 2;
  }
  return std::nullopt;
}

template <typename Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool AnswerScanner::looks_like_last(std::string_view received) const {
  return received.size() == last_.size && head_size_ != 0 && received.starts_with(status_line_start_) &&
         received.substr(length_at_, length_field_.size()) == length_field_ &&
         received.substr(head_size_ - kHeadEnd.size(), kHeadEnd.size()) == kHeadEnd;
}

AnswerScanner::Verdict AnswerScanner::parse(std::string_view received) {
  const std::size_t end = received.find(kHeadEnd);
  if (end == std::string_view::npos) return Verdict::kIncomplete;
  const std::string_view head = received.substr(0, end + kHeadEnd.size());
  const auto field = find_length_field(head);
  if (!head.starts_with("HTTP/1.1 ") || !field) return Verdict::kMalformed;
  const std::size_t value = *field + kLengthName.size() - 2;
  const std::size_t line_end = head.find("\r\n", value);
  const auto body = to_number<std::size_t>(trimmed(head.substr(value, line_end - value)));
  const auto status = to_number<int>(head.substr(9, 3));
  if (!body || !status) return Verdict::kMalformed;

  const std::size_t size = head.size() + *body;
  if (received.size() < size) return Verdict::kIncomplete;
  if (received.size() > size) return Verdict::kMalformed;
  last_ = {.status = *status, .body = *body, .size = size};
  status_line_start_ = head.substr(0, kStatusLineStart);
  length_field_ = head.substr(*field, line_end + 2 - *field);
  length_at_ = *field;
  head_size_ = head.size();
  return Verdict::kComplete;
}

}  // namespace weir::bench
