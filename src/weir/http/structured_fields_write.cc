// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "weir/http/base64.h"
#include "weir/http/structured_chars.h"
#include "weir/http/structured_fields.h"

namespace weir::http::sf {
namespace {

// Appends the parts of a field (RFC 9651 section 4.1). Once a part cannot be written the text does not matter.
class Writer {
 public:
  void member(const Member& member) {
    std::visit([this](const auto& either) { write(either); }, member);
  }
  void write(const Item& item) {
    bare_item(item.value);
    parameters(item.parameters);
  }
  void write(const InnerList& list);
  void dictionary_member(const std::string& name, const Member& value);
  void separate() {
    if (!text_.empty()) text_ += ", ";
  }

  std::optional<std::string> result() && {
    if (failed_) return std::nullopt;
    return std::move(text_);
  }

 private:
  void bare_item(const BareItem& value) {
    std::visit([this](const auto& content) { write(content); }, value);
  }
  void write(std::int64_t integer);
  void write(Decimal decimal);
  void write(const std::string& string);
  void write(const Token& token);
  void write(const Bytes& bytes) { text_ += ":" + encode_base64(bytes.octets) + ":"; }
  void write(bool boolean) { text_ += boolean ? "?1" : "?0"; }
  void write(Date date) {
    text_ += '@';
    write(date.epoch_seconds);
  }
  void write(const DisplayString& string);
  void parameters(const Parameters& parameters);
  void key(const std::string& key);
  void require(bool holds) { failed_ = failed_ || !holds; }

  std::string text_;
  bool failed_ = false;
};

bool is_true(const BareItem& value) {
  const bool* boolean = std::get_if<bool>(&value);
  return boolean != nullptr && *boolean;
}

void Writer::write(const InnerList& list) {
  text_ += '(';
  for (const Item& item : list.items) {
    if (&item != &list.items.front()) text_ += ' ';
    write(item);
  }
  text_ += ')';
  parameters(list.parameters);
}

void Writer::dictionary_member(const std::string& name, const Member& value) {
  key(name);
  const Item* item = std::get_if<Item>(&value);
  if (item != nullptr && is_true(item->value)) {
    parameters(item->parameters);
  } else {
    text_ += '=';
    member(value);
  }
}

void Writer::write(std::int64_t integer) {
  require(integer >= -kMaxInteger && integer <= kMaxInteger);
  text_ += std::to_string(integer);
}

void Writer::write(Decimal decimal) {
  const std::int64_t value = decimal.thousandths;
  if (value < -kMaxInteger || value > kMaxInteger) return require(false);
  const std::int64_t size = std::abs(value);
  if (value < 0) text_ += '-';
  std::string fraction = std::to_string(1000 + size % 1000).substr(1);
  while (fraction.size() > 1 && fraction.back() == '0') fraction.pop_back();
  text_ += std::to_string(size / 1000) + '.' + fraction;
}

void Writer::write(const std::string& string) {
  require(std::ranges::all_of(string, is_printable));
  text_ += '"';
  for (char c : string) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

void Writer::write(const Token& token) {
  require(!token.text.empty() && starts_token(token.text.front()) &&
          std::ranges::all_of(token.text, continues_token));
  text_ += token.text;
}

void Writer::write(const DisplayString& string) {
  require(is_utf8(string.utf8));
  text_ += "%\"";
  for (char c : string.utf8) {
    if (is_printable(c) && c != '%' && c != '"') {
      text_ += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto octet = static_cast<unsigned char>(c);
    text_ += '%';
    text_ += kDigits[octet >> 4U];
    text_ += kDigits[octet & 15U];
  }
  text_ += '"';
}

void Writer::parameters(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) {
    text_ += ';';
    key(name);
    if (is_true(value)) continue;
    text_ += '=';
    bare_item(value);
  }
}

void Writer::key(const std::string& key) {
  require(!key.empty() && starts_key(key.front()) && std::ranges::all_of(key, continues_key));
  text_ += key;
}

}  // namespace

Decimal Decimal::nearest(double value) {
  constexpr double kTooLarge = 1e15;
  const double thousandths = std::nearbyint(value * 1000);
  if (!(std::abs(thousandths) < kTooLarge)) return Decimal{kMaxInteger + 1};
  return Decimal{static_cast<std::int64_t>(thousandths)};
}

std::optional<std::string> serialize(const List& list) {
  Writer writer;
  for (const Member& member : list) {
    writer.separate();
    writer.member(member);
  }
  return std::move(writer).result();
}

std::optional<std::string> serialize(const Dictionary& dictionary) {
  Writer writer;
  for (const auto& [name, member] : dictionary) {
    writer.separate();
    writer.dictionary_member(name, member);
  }
  return std::move(writer).result();
}

std::optional<std::string> serialize(const Item& item) {
  Writer writer;
  writer.write(item);
  return std::move(writer).result();
}

}  // namespace weir::http::sf
