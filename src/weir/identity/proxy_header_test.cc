// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/proxy_header.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::identity {
namespace {

using State = ProxyHeader::State;

const std::string kMark("\r\n\r\n\0\r\nQUIT\n", 12);

std::string binary(std::uint8_t command, std::uint8_t family, const std::string& body) {
  return kMark + static_cast<char>(command) + static_cast<char>(family) + static_cast<char>(body.size() >> 8) +
         static_cast<char>(body.size() & 255) + body;
}

const std::string kV4("\xCB\x00\x71\x09\x0A\x00\x00\x01\x12\x34\x01\xBB", 12);  // 203.0.113.9 to 10.0.0.1
const std::string kV6 = std::string("\x20\x01\x0d\xb8", 4) + std::string(11, '\0') + "\x05" + std::string(20, '\x01');
const std::string kMappedV6 =
    std::string(10, '\0') + "\xff\xff" + std::string("\xCB\x00\x71\x09", 4) + std::string(20, '\x01');

// "source size", "- size" without a source, "partial" or "wrong".
std::string parse(const std::string& bytes) {
  const ProxyHeader header = parse_proxy_header(bytes);
  if (header.state == State::kPartial) return "partial";
  if (header.state == State::kWrong) return "wrong";
  return (header.source ? header.source->to_string() : "-") + " " + std::to_string(header.size);
}

TEST(ProxyHeaderTest, TextNamesTheClient) {
  EXPECT_EQ(parse("PROXY TCP4 203.0.113.9 10.0.0.1 56324 443\r\nGET /"), "203.0.113.9 43");
  EXPECT_EQ(parse("PROXY TCP6 2001:db8::5 2001:db8::1 1 0\r\n"), "2001:db8::5 40");
  EXPECT_EQ(parse("PROXY TCP6 ::ffff:203.0.113.9 ::1 1 2\r\n"), "203.0.113.9 39");
  EXPECT_EQ(parse("PROXY UNKNOWN\r\n"), "- 15");
  EXPECT_EQ(parse("PROXY UNKNOWN whatever it says 1 2\r\n"), "- 36");
}

TEST(ProxyHeaderTest, TextIsReadStrictly) {
  for (const char* text :
       {"PROXY TCP4 203.0.113.9 10.0.0.1 56324\r\n", "PROXY TCP4 203.0.113.9 10.0.0.1 56324 443 \r\n",
        "PROXY TCP4  203.0.113.9 10.0.0.1 56324 443\r\n", "PROXY TCP4 2001:db8::5 10.0.0.1 56324 443\r\n",
        "PROXY TCP6 203.0.113.9 ::1 56324 443\r\n", "PROXY TCP4 203.0.113.9 garbage 56324 443\r\n",
        "PROXY TCP4 203.0.113.09 10.0.0.1 56324 443\r\n", "PROXY TCP4 203.0.113.9 10.0.0.1 65536 443\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 0443 443\r\n", "PROXY TCP4 203.0.113.9 10.0.0.1 1 -2\r\n",
        "PROXY tcp4 203.0.113.9 10.0.0.1 1 2\r\n", "PROXY \r\n", "proxy TCP4 203.0.113.9 10.0.0.1 1 2\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 1 2\n\r\n", "GET / HTTP/1.1\r\n"}) {
    EXPECT_EQ(parse(text), "wrong") << text;
  }
}

TEST(ProxyHeaderTest, BinaryNamesTheClient) {
  EXPECT_EQ(parse(binary(0x21, 0x11, kV4) + "GET /"), "203.0.113.9 28");
  EXPECT_EQ(parse(binary(0x21, 0x12, kV4)), "203.0.113.9 28");
  EXPECT_EQ(parse(binary(0x21, 0x21, kV6)), "2001:db8::5 52");
  EXPECT_EQ(parse(binary(0x21, 0x21, kMappedV6)), "203.0.113.9 52");
  EXPECT_EQ(parse(binary(0x21, 0x11, kV4 + std::string("\x03\x00\x01x", 4))), "203.0.113.9 32") << "with a TLV";
  EXPECT_EQ(parse(binary(0x20, 0x00, "")), "- 16") << "LOCAL";
  EXPECT_EQ(parse(binary(0x20, 0x11, kV4)), "- 28") << "LOCAL says nothing about addresses";
  EXPECT_EQ(parse(binary(0x21, 0x00, "abc")), "- 19") << "unspecified";
  EXPECT_EQ(parse(binary(0x21, 0x31, std::string(216, 'u'))), "- 232") << "a Unix socket";
}

TEST(ProxyHeaderTest, BinaryIsReadStrictly) {
  EXPECT_EQ(parse(binary(0x11, 0x11, kV4)), "wrong") << "version 1";
  EXPECT_EQ(parse(binary(0x22, 0x11, kV4)), "wrong") << "an unknown command";
  EXPECT_EQ(parse(binary(0x21, 0x41, kV4)), "wrong") << "an unknown family";
  EXPECT_EQ(parse(binary(0x21, 0x13, kV4)), "wrong") << "an unknown transport";
  EXPECT_EQ(parse(binary(0x21, 0x11, kV4.substr(1))), "wrong") << "too short for its family";
  EXPECT_EQ(parse(binary(0x21, 0x21, kV4)), "wrong") << "too short for its family";
  EXPECT_EQ(parse(binary(0x21, 0x11, std::string(5000, 'x'))), "wrong") << "too long";
}

TEST(ProxyHeaderTest, EveryPartOfAHeaderIsPartial) {
  for (const std::string& whole :
       {std::string("PROXY TCP4 203.0.113.9 10.0.0.1 56324 443\r\n"), binary(0x21, 0x21, kV6)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_EQ(parse(whole.substr(0, size)), "partial") << size << " of " << whole.size();
    }
  }
  EXPECT_EQ(parse("PROXY " + std::string(101, 'x')), "wrong") << "107 bytes without an end";
  EXPECT_EQ(parse("PROXY " + std::string(100, 'x')), "partial");
}

}  // namespace
}  // namespace weir::identity
