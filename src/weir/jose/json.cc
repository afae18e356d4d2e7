// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/json.h"

#include <algorithm>
#include <cstdint>

#include "weir/jose/library.h"

namespace weir::jose {
namespace {

constexpr int kDeepest = 32;

// Looked at before anything is built, so that depth costs nothing.
bool is_shallow(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      continue;
    }
    depth += (c == '{' || c == '[' ? 1 : 0) - (c == '}' || c == ']' ? 1 : 0);
    if (depth > kDeepest) return false;
  }
  return true;
}

}  // namespace

Json read_object(std::string_view text) {
  if (!is_shallow(text)) return nullptr;
  Json json(json_loadb(text.data(), text.size(), JSON_REJECT_DUPLICATES, nullptr));
  return json_is_object(json.get()) ? std::move(json) : nullptr;
}

std::optional<std::string_view> text_member(const json_t* object, const char* name) {
  const json_t* member = json_object_get(object, name);
  const bool is_text = json_is_string(member);
  if (!is_text) return std::nullopt;
  return std::string_view(json_string_value(member), json_string_length(member));
}

std::optional<std::string> decode_base64url(std::string_view text) {
  if (text.empty()) return std::string();
  std::string octets(text.size() / 4 * 3 + 3, '\0');
  const std::size_t size = jose_b64_dec_buf(text.data(), text.size(), octets.data(), octets.size());
  if (size == SIZE_MAX) return std::nullopt;
  octets.resize(size);
  return octets;
}

}  // namespace weir::jose
