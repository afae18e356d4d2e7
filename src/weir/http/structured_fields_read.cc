// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "weir/http/base64.h"
#include "weir/http/structured_chars.h"
#include "weir/http/structured_fields.h"

namespace weir::http::sf {
namespace {

// Parsers have to take 256 parameters and 1024 dictionary members; more would make looking for equal keys slow.
constexpr std::size_t kMaxKeys = 1024;

// One reading of a field, front to back. Every function takes its part off the front of the text, or gives nothing
// and thereby fails the field as a whole. Named after the algorithms of RFC 9651 section 4.2.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { skip_spaces(); }

  std::optional<List> list();
  std::optional<Dictionary> dictionary();
  std::optional<Item> item();

  // Nothing but spaces is left.
  bool at_end() {
    skip_spaces();
    return text_.empty();
  }

 private:
  std::optional<Member> item_or_inner_list();
  std::optional<Member> inner_list();
  std::optional<BareItem> bare_item();
  std::optional<Parameters> parameters();
  std::optional<std::string> key();
  std::optional<BareItem> number();
  std::optional<BareItem> decimal(std::string_view digits, std::int64_t sign);
  std::optional<BareItem> string();
  std::optional<BareItem> token();
  std::optional<BareItem> bytes();
  std::optional<BareItem> boolean();
  std::optional<BareItem> date();
  std::optional<BareItem> display_string();
  std::optional<char> escaped_octet();
  // Behind a member: true when another one follows, false at the end.
  std::optional<bool> comma();

  std::string_view take_digits();
  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  char take_any() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  void skip_spaces() {
    while (take(' ')) {
    }
  }

  std::string_view text_;
};

// Sets a key that is new at the end, and a known one where it is. False: too many keys.
template <class Value>
bool set(std::vector<std::pair<std::string, Value>>& map, std::string key, Value value) {
  const auto found = std::ranges::find(map, key, &std::pair<std::string, Value>::first);
  if (found != map.end()) {
    found->second = std::move(value);
    return true;
  }
  if (map.size() == kMaxKeys) return false;
  map.emplace_back(std::move(key), std::move(value));
  return true;
}

std::optional<List> Reader::list() {
  List list;
  bool more = !text_.empty();
  while (more) {
    auto member = item_or_inner_list();
    if (!member) return std::nullopt;
    list.push_back(std::move(*member));
    const auto next = comma();
    if (!next) return std::nullopt;
    more = *next;
  }
  return list;
}

std::optional<Dictionary> Reader::dictionary() {
  Dictionary dictionary;
  bool more = !text_.empty();
  while (more) {
    auto name = key();
    if (!name) return std::nullopt;
    std::optional<Member> member;
    if (take('=')) {
      member = item_or_inner_list();
    } else if (auto own = parameters()) {
      member = Item{true, std::move(*own)};
    }
    if (!member || !set(dictionary, std::move(*name), std::move(*member))) return std::nullopt;
    const auto next = comma();
    if (!next) return std::nullopt;
    more = *next;
  }
  return dictionary;
}

std::optional<bool> Reader::comma() {
  while (take(' ') || take('\t')) {
  }
  if (text_.empty()) return false;
  if (!take(',')) return std::nullopt;
  while (take(' ') || take('\t')) {
  }
  if (text_.empty()) return std::nullopt;
  return true;
}

std::optional<Member> Reader::item_or_inner_list() {
  if (text_.starts_with('(')) return inner_list();
  auto single = item();
  if (!single) return std::nullopt;
  return Member(std::move(*single));
}

std::optional<Member> Reader::inner_list() {
  InnerList list;
  take('(');
  for (;;) {
    skip_spaces();
    if (take(')')) break;
    auto member = item();
    if (!member || !(text_.starts_with(' ') || text_.starts_with(')'))) return std::nullopt;
    list.items.push_back(std::move(*member));
  }
  auto own = parameters();
  if (!own) return std::nullopt;
  list.parameters = std::move(*own);
  return Member(std::move(list));
}

std::optional<Item> Reader::item() {
  auto value = bare_item();
  if (!value) return std::nullopt;
  auto own = parameters();
  if (!own) return std::nullopt;
  return Item{std::move(*value), std::move(*own)};
}

std::optional<BareItem> Reader::bare_item() {
  if (text_.empty()) return std::nullopt;
  const char first = text_.front();
  if (first == '-' || is_digit(first)) return number();
  if (first == '"') return string();
  if (starts_token(first)) return token();
  if (first == ':') return bytes();
  if (first == '?') return boolean();
  if (first == '@') return date();
  if (first == '%') return display_string();
  return std::nullopt;
}

std::optional<Parameters> Reader::parameters() {
  Parameters parameters;
  while (take(';')) {
    skip_spaces();
    auto name = key();
    if (!name) return std::nullopt;
    std::optional<BareItem> value = true;
    if (take('=')) value = bare_item();
    if (!value || !set(parameters, std::move(*name), std::move(*value))) return std::nullopt;
  }
  return parameters;
}

std::optional<std::string> Reader::key() {
  if (text_.empty() || !starts_key(text_.front())) return std::nullopt;
  std::string key;
  while (!text_.empty() && continues_key(text_.front())) key += take_any();
  return key;
}

std::string_view Reader::take_digits() {
  const auto stop = std::ranges::find_if_not(text_, is_digit);
  const std::string_view digits = text_.substr(0, static_cast<std::size_t>(stop - text_.begin()));
  text_.remove_prefix(digits.size());
  return digits;
}

// Requires: at most 18 digits.
std::int64_t to_number(std::string_view digits) {
  std::int64_t number = 0;
  for (char c : digits) number = number * 10 + (c - '0');
  return number;
}

std::optional<BareItem> Reader::number() {
  const std::int64_t sign = take('-') ? -1 : 1;
  const std::string_view digits = take_digits();
  if (digits.empty() || digits.size() > 15) return std::nullopt;
  if (take('.')) return decimal(digits, sign);
  return BareItem(sign * to_number(digits));
}

std::optional<BareItem> Reader::decimal(std::string_view digits, std::int64_t sign) {
  const std::string_view fraction = take_digits();
  if (digits.size() > 12 || fraction.empty() || fraction.size() > 3) return std::nullopt;
  std::int64_t thousandths = to_number(fraction);
  for (std::size_t i = fraction.size(); i < 3; ++i) thousandths *= 10;
  return BareItem(Decimal{sign * (to_number(digits) * 1000 + thousandths)});
}

std::optional<BareItem> Reader::string() {
  std::string content;
  take('"');
  while (!text_.empty()) {
    char c = take_any();
    if (c == '"') return BareItem(std::move(content));
    if (c == '\\') {
      if (!text_.starts_with('"') && !text_.starts_with('\\')) return std::nullopt;
      c = take_any();
    }
    if (!is_printable(c)) return std::nullopt;
    content += c;
  }
  return std::nullopt;
}

std::optional<BareItem> Reader::token() {
  Token token;
  while (!text_.empty() && continues_token(text_.front())) token.text += take_any();
  return BareItem(std::move(token));
}

std::optional<BareItem> Reader::bytes() {
  take(':');
  const std::size_t close = text_.find(':');
  if (close == text_.npos) return std::nullopt;
  auto octets = decode_base64(text_.substr(0, close));
  text_.remove_prefix(close + 1);
  if (!octets) return std::nullopt;
  return BareItem(Bytes{std::move(*octets)});
}

std::optional<BareItem> Reader::boolean() {
  take('?');
  if (take('1')) return BareItem(true);
  if (take('0')) return BareItem(false);
  return std::nullopt;
}

std::optional<BareItem> Reader::date() {
  take('@');
  const auto value = number();
  if (!value || !std::holds_alternative<std::int64_t>(*value)) return std::nullopt;
  return BareItem(Date{std::get<std::int64_t>(*value)});
}

std::optional<BareItem> Reader::display_string() {
  take('%');
  if (!take('"')) return std::nullopt;
  std::string octets;
  while (!text_.empty()) {
    const char c = take_any();
    if (!is_printable(c)) return std::nullopt;
    if (c == '"') {
      if (!is_utf8(octets)) return std::nullopt;
      return BareItem(DisplayString{std::move(octets)});
    }
    const auto octet = c == '%' ? escaped_octet() : std::optional(c);
    if (!octet) return std::nullopt;
    octets += *octet;
  }
  return std::nullopt;
}

// The two hex digits behind a '%', lower case only.
std::optional<char> Reader::escaped_octet() {
  if (text_.size() < 2) return std::nullopt;
  int octet = 0;
  for (int i = 0; i < 2; ++i) {
    const char digit = take_any();
    if (!is_in(digit, kHexChar) || (digit >= 'A' && digit <= 'F')) return std::nullopt;
    octet = octet * 16 + (is_digit(digit) ? digit - '0' : digit - 'a' + 10);
  }
  return static_cast<char>(octet);
}

}  // namespace

std::optional<List> parse_list(std::string_view text) {
  Reader reader(text);
  auto list = reader.list();
  if (!reader.at_end()) return std::nullopt;
  return list;
}

std::optional<Dictionary> parse_dictionary(std::string_view text) {
  Reader reader(text);
  auto dictionary = reader.dictionary();
  if (!reader.at_end()) return std::nullopt;
  return dictionary;
}

std::optional<Item> parse_item(std::string_view text) {
  Reader reader(text);
  auto item = reader.item();
  if (!reader.at_end()) return std::nullopt;
  return item;
}

const BareItem* Item::parameter(std::string_view key) const {
  const auto found = std::ranges::find(parameters, key, &Parameters::value_type::first);
  return found == parameters.end() ? nullptr : &found->second;
}

}  // namespace weir::http::sf
