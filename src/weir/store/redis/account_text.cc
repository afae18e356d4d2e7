// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/account_text.h"

#include <algorithm>

#include "weir/limit/alignment.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::store {
namespace {

constexpr std::string_view kNoValues = "\\.";
constexpr std::string_view kAbsent = "\\-";
constexpr std::string_view kFingerprint = "\\#";
constexpr std::size_t kFingerprintDigits = 32;

bool is_fingerprint(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return value.starts_with(kFingerprint) && value.size() == kFingerprint.size() + kFingerprintDigits &&
         value.find_first_not_of(kDigits, kFingerprint.size()) == value.npos;
}

// The values as they are escaped.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> values;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == ',') {
      values.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  values.push_back(text.substr(begin));
  return values;
}

std::optional<std::string> unescape(std::string_view value) {
  if (value == kAbsent) return std::string();
  std::string plain;
  for (std::size_t at = 0; at < value.size(); ++at) {
    char c = value[at];
    if (c == '{' || c == '}') return std::nullopt;
    if (c == '\\') {
      if (++at == value.size()) return std::nullopt;
      const std::size_t known = std::string_view(",\\()").find(value[at]);
      if (known == std::string_view::npos) return std::nullopt;
      c = ",\\{}"[known];
    }
    plain += c;
  }
  return plain;
}

// As policy/ joins them for the phase.
void append_plain(std::string_view value, std::string& out) {
  for (const char c : value) {
    if (c == ',' || c == '\\') out += '\\';
    out += c;
  }
}

}  // namespace

std::optional<AccountText> AccountText::read(std::string_view prefix, std::string_view text) {
  const std::string begin = std::string(prefix) + ":{";
  if (text.starts_with(begin) && text.ends_with('}')) {
    text = text.substr(begin.size(), text.size() - begin.size() - 1);
  }
  AccountText account;
  AccountName name(prefix, account.name_);
  std::string plain;
  std::vector<std::string> values;
  bool all_known = true;
  for (const std::string_view value :
       text.empty() || text == kNoValues ? std::vector<std::string_view>() : split(text)) {
    if (account.values_++ > 0) plain += ',';
    if (is_fingerprint(value)) {
      all_known = false;
      name.add_escaped(value);
      continue;
    }
    auto unescaped = unescape(value);
    if (!unescaped) return std::nullopt;
    name.add(*unescaped);
    append_plain(*unescaped, plain);
    values.push_back(*std::move(unescaped));
  }
  name.finish();
  if (!all_known) return account;
  account.phase_ = limit::fnv1a(plain);
  account.plain_ = std::move(values);
  return account;
}

}  // namespace weir::store
