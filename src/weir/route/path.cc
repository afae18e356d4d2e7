// SPDX-License-Identifier: Apache-2.0
#include "weir/route/path.h"

#include <array>

namespace weir::route {
namespace {

enum ByteClass : std::uint8_t {
  kForbidden,   // control bytes: 0x00-0x1F, 0x7F
  kUnreserved,  // RFC 3986 section 2.3
  kReserved,    // may stand in a segment, but its escape is not the same thing (RFC 3986 section 3.3)
  kEscapeOnly,  // may stand in a segment only as an escape
};

constexpr ByteClass class_of(unsigned char byte) {
  if (byte < 0x20 || byte == 0x7F) return kForbidden;
  const char c = static_cast<char>(byte);
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return kUnreserved;
  if (std::string_view("-._~").contains(c)) return kUnreserved;
  return std::string_view("!$&'()*+,;=:@").contains(c) ? kReserved : kEscapeOnly;
}

constexpr auto kClasses = [] {
  std::array<ByteClass, 256> classes{};
  for (unsigned byte = 0; byte < 256; ++byte) classes[byte] = class_of(static_cast<unsigned char>(byte));
  return classes;
}();

ByteClass byte_class(char c) { return kClasses[static_cast<unsigned char>(c)]; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that the escape at the front of `text` stands for, or -1.
int escaped_byte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = hex_digit(text[1]);
  const int low = hex_digit(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void write_escape(char c, std::string& out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
}

// A byte that the sender did not escape.
void write_raw(char c, std::string& out) {
  if (byte_class(c) == kEscapeOnly) {
    write_escape(c, out);
  } else {
    out += c;
  }
}

// A byte that the sender escaped.
void write_escaped(char c, std::string& out) {
  if (byte_class(c) == kUnreserved) {
    out += c;
  } else {
    write_escape(c, out);
  }
}

Reading doubts_of_escape(char c) {
  if (c == '/') return kSlash;
  if (c == '\\') return kBackslash;
  return c == '%' || byte_class(c) == kReserved ? kDecoded : kPlain;
}

Reading doubts_of_raw(char c) { return c == ';' ? kParameters : c == '\\' ? kBackslash : kPlain; }

// Empty segments can come from `//` and from every other way to split or shorten segments.
Reading with_empty(Reading doubts, bool double_slash, bool dots) {
  constexpr Reading kMakesEmpty = kSlash | kBackslash | kParameters;
  return dots && (double_slash || (doubts & kMakesEmpty) != 0) ? doubts | kEmpty : doubts;
}

// Collects segments and resolves them one by one.
class SegmentWriter {
 public:
  SegmentWriter(Reading reading, std::string& out) : reading_(reading), out_(out) { out_.clear(); }

  void begin() {
    start_ = out_.size();
    out_ += '/';
  }

  // False when the segment leads above the root.
  bool end() {
    if (reading_ & kParameters) cut_parameters();
    const std::string_view segment = std::string_view(out_).substr(start_ + 1);
    const bool parent = segment == "..";
    if (parent || segment == "." || (segment.empty() && !(reading_ & kEmpty))) out_.resize(start_);
    if (!parent) return true;
    if (out_.empty()) return false;
    out_.resize(out_.rfind('/'));
    return true;
  }

  bool next() {
    const bool inside = end();
    begin();
    return inside;
  }

 private:
  void cut_parameters() {
    const std::size_t semicolon = out_.find(';', start_);
    if (semicolon != std::string::npos) out_.resize(semicolon);
  }

  Reading reading_;
  std::string& out_;
  std::size_t start_ = 0;
};

bool separates(char c, Reading reading) {
  return (c == '/' && (reading & kSlash)) || (c == '\\' && (reading & kBackslash));
}

}  // namespace

Inspection inspect(std::string_view path) {
  Inspection seen;
  bool double_slash = false;
  bool dots = false;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const char c = path[at];
    if (byte_class(c) == kUnreserved) continue;
    if (c == '/') {
      const char next = at + 1 < path.size() ? path[at + 1] : 'x';
      double_slash |= next == '/';
      dots |= next == '.';
      if (next == '/' || next == '.') seen.shape = PathShape::kUnusual;
      continue;
    }
    if (byte_class(c) == kForbidden) return {PathShape::kBad};
    if (c == '%') {
      const int byte = escaped_byte(path.substr(at));
      if (byte < 0 || byte_class(static_cast<char>(byte)) == kForbidden) return {PathShape::kBad};
      seen.doubts |= doubts_of_escape(static_cast<char>(byte));
      dots |= byte == '.';
      at += 2;
    } else {
      seen.doubts |= doubts_of_raw(c);
      if (byte_class(c) == kReserved && c != ';') continue;
    }
    seen.shape = PathShape::kUnusual;
  }
  // A dot behind an escaped separator or before a parameter was not looked for one by one.
  dots |= seen.doubts != kPlain && path.contains('.');
  seen.doubts = with_empty(seen.doubts, double_slash, dots);
  return seen;
}

bool decode_fully(std::string_view path, std::string& decoded) {
  decoded.clear();
  for (const char c : path) {
    decoded += c;
    // What was decoded may complete the escape before it; every round makes the text shorter.
    while (decoded.size() >= 3) {
      const int byte = escaped_byte(std::string_view(decoded).substr(decoded.size() - 3));
      if (byte < 0) break;
      if (byte_class(static_cast<char>(byte)) == kForbidden) return false;
      decoded.resize(decoded.size() - 3);
      decoded += byte == '/' ? kEscapedSlash : static_cast<char>(byte);
    }
  }
  return true;
}

Reading doubts_of_decoded(std::string_view decoded) {
  Reading doubts = kDecoded;
  if (decoded.contains(kEscapedSlash)) doubts |= kSlash;
  if (decoded.contains('\\')) doubts |= kBackslash;
  if (decoded.contains(';')) doubts |= kParameters;
  return with_empty(doubts, decoded.contains("//"), decoded.contains(".."));
}

bool normalise(std::string_view path, Reading reading, std::string& normal) {
  SegmentWriter writer(reading, normal);
  writer.begin();
  for (std::size_t at = 1; at < path.size(); ++at) {
    char c = path[at];
    bool escaped = false;
    if (c == '%' && !(reading & kDecoded)) {
      c = static_cast<char>(escaped_byte(path.substr(at)));
      escaped = true;
      at += 2;
    } else if (c == kEscapedSlash) {
      c = '/';
      escaped = true;
    }
    if ((c == '/' && !escaped) || separates(c, reading)) {
      if (!writer.next()) return false;
    } else if (escaped) {
      write_escaped(c, normal);
    } else {
      write_raw(c, normal);
    }
  }
  if (!writer.end()) return false;
  if (normal.empty()) normal = "/";
  return true;
}

std::string_view take_segment(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

std::string normal_segment(std::string_view segment, Reading reading) {
  std::string normal;
  std::string decoded;
  if ((reading & kDecoded) && decode_fully(segment, decoded)) segment = decoded;
  for (std::size_t at = 0; at < segment.size(); ++at) {
    const int byte = reading & kDecoded ? -1 : escaped_byte(segment.substr(at));
    if (byte >= 0) {
      write_escaped(static_cast<char>(byte), normal);
      at += 2;
    } else if (segment[at] == kEscapedSlash) {
      write_escape('/', normal);
    } else {
      write_raw(segment[at], normal);
    }
  }
  return normal;
}

}  // namespace weir::route
