// SPDX-License-Identifier: Apache-2.0
//
// For tests: random requests that keep every rule, in all the spellings that the grammar allows.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::http {

class MessageGenerator {
 public:
  explicit MessageGenerator(unsigned seed) : random_(seed) {}

  std::string request() {
    const bool old = chance(5);
    std::string text =
        pick({"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "QUERY", "x-!#$%&'*+.^_`|~"});
    text += " " + target() + (old ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    std::vector<std::string> lines = fields();
    lines.push_back(spell("Host") + ":" + space() + "example.com:80" + space() + "\r\n");
    std::string body;
    if (chance(2)) body = add_body(lines, !old);
    std::shuffle(lines.begin(), lines.end(), random_);
    for (const std::string& line : lines) text += line;
    return text + "\r\n" + body;
  }

  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

 private:
  std::string pick(std::initializer_list<const char*> choices) { return choices.begin()[below(choices.size())]; }
  std::string some(std::string_view alphabet, std::size_t longest) {
    std::string text;
    for (std::size_t left = below(longest + 1); left > 0; --left) text += alphabet[below(alphabet.size())];
    return text;
  }
  std::string space() { return some(" \t", 2); }
  // The same name with letters of random case.
  std::string spell(std::string name) {
    for (char& c : name) {
      if (chance(3)) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return name;
  }
  std::string target() {
    static constexpr std::string_view kChars = "abz09-._~!$&'()*+,;=:@/%[]{}|^`\"<>";
    std::string text = chance(6) ? pick({"http://example.com:80", "HTTPS://Example.com:80"}) : "";
    text += "/" + some(kChars, 40);
    if (chance(2)) text += "?" + some(std::string(kChars) + "?\\", 40);
    return text;
  }
  std::vector<std::string> fields() {
    std::vector<std::string> lines;
    for (std::size_t left = below(12); left > 0; --left) {
      const std::string name = chance(2)
                                   ? "x" + some("abcXYZ019-!#$%&'*+.^`|~", 30)
                                   : spell(pick({"accept", "cookie", "via", "date", "user-agent", "x-request-id"}));
      lines.push_back(name + ":" + space() + some("ab \t\"\\,;=:/@~\x80\xC3\xFF", 60) + space() + "\r\n");
    }
    if (chance(4))
      lines.push_back("connection: " + pick({"close", "keep-alive", "x-a, close", ", Keep-Alive ,"}) + "\r\n");
    return lines;
  }
  std::string add_body(std::vector<std::string>& lines, bool may_chunk) {
    std::string content = some(std::string("ab\r\n\0GET", 8), 50);
    if (!may_chunk || chance(2)) {
      lines.push_back(spell("content-length") + ":" + space() + std::to_string(content.size()) + space() + "\r\n");
      return content;
    }
    lines.push_back(spell("transfer-encoding") + ":" + space() + spell("chunked") + space() + "\r\n");
    std::string text;
    while (!content.empty()) {
      const std::string part = content.substr(0, below(content.size()) + 1);
      content.erase(0, part.size());
      text += size_line(part.size()) + part + "\r\n";
    }
    text += size_line(0);
    for (std::size_t left = below(3); left > 0; --left) text += "x-trailer:" + space() + some("ab \t", 5) + "\r\n";
    return text + "\r\n";
  }
  std::string size_line(std::size_t size) {
    std::string digits;
    for (std::size_t left = size; left > 0; left /= 16) {
      digits.insert(digits.begin(), (chance(2) ? "0123456789abcdef" : "0123456789ABCDEF")[left % 16]);
    }
    if (digits.empty() || chance(4)) digits.insert(0, "0");
    if (chance(4)) digits += pick({";a", ";a=b", ";a=\"b; \\\" c\"", ";a;b=c"});
    return digits + "\r\n";
  }

  std::mt19937 random_;
};

}  // namespace weir::http
