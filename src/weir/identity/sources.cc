// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/sources.h"

namespace weir::identity {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Takes the next decoded byte off the front. Requires: `text` is not empty.
char take_decoded(std::string_view& text) {
  const char c = text[0];
  const int high = c == '%' && text.size() > 2 ? hex_digit(text[1]) : -1;
  const int low = high >= 0 ? hex_digit(text[2]) : -1;
  text.remove_prefix(low >= 0 ? 3 : 1);
  if (low >= 0) return static_cast<char>(high * 16 + low);
  return c == '+' ? ' ' : c;
}

bool decodes_to(std::string_view text, std::string_view name) {
  for (; !text.empty() && !name.empty(); name.remove_prefix(1)) {
    if (take_decoded(text) != name[0]) return false;
  }
  return text.empty() && name.empty();
}

}  // namespace

std::string_view take_until(char separator, std::string_view& text) {
  const std::string_view taken = text.substr(0, text.find(separator));
  text.remove_prefix(taken.size() < text.size() ? taken.size() + 1 : taken.size());
  return taken;
}

std::string_view decoded(std::string_view text, std::string& room) {
  if (text.find_first_of("%+") == std::string_view::npos) return text;
  const std::size_t start = room.size();
  while (!text.empty()) room += take_decoded(text);
  return std::string_view(room).substr(start);
}

bool FieldName::matches(const http::RequestHead& request, const http::Field& field) const {
  if (id != http::FieldId::kOther) return field.id == id;
  return field.id == id && field.name_size == text.size() && http::same_name(field.name(request.bytes), text);
}

Single find_field(const http::RequestHead& request, const FieldName& name) {
  Single found;
  if (name.id != http::FieldId::kOther && !request.has(name.id)) return found;
  for (const http::Field& field : request.fields) {
    if (!name.matches(request, field)) continue;
    if (found.present) {
      found.twice = true;
      return found;
    }
    found = {request.value(field), true};
  }
  return found;
}

Single find_query(std::string_view query, std::string_view name, std::string& room) {
  Single found;
  if (query.starts_with('?')) query.remove_prefix(1);
  while (!query.empty()) {
    std::string_view value = take_until('&', query);
    if (!decodes_to(take_until('=', value), name)) continue;
    if (found.present) {
      found.twice = true;
      return found;
    }
    found = {decoded(value, room), true};
  }
  return found;
}

Single find_cookie(const http::RequestHead& request, std::string_view name) {
  if (!request.has(http::FieldId::kCookie)) return {};
  for (const http::Field& field : request.fields) {
    if (field.id != http::FieldId::kCookie) continue;
    std::string_view cookies = request.value(field);
    while (!cookies.empty()) {
      std::string_view value = take_until(';', cookies);
      if (trimmed(take_until('=', value)) == name) return {trimmed(value), true};
    }
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace weir::identity
