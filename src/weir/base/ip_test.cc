// SPDX-License-Identifier: Apache-2.0
#include "weir/base/ip.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <random>

namespace weir {
namespace {

std::string canonical(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->to_string() : "refused";
}

std::string canonical_with_port(std::string_view text) {
  const auto address = IpAddress::parse_with_port(text);
  return address ? address->to_string() : "refused";
}

struct TextCase {
  std::string_view text;
  std::string_view expected;
};

TEST(IpAddressTest, TextFormsAreStrictAndPrintedInTheirCanonicalForm) {
  const TextCase cases[] = {
      {"192.0.2.1", "192.0.2.1"},
      {"0.0.0.0", "0.0.0.0"},
      {"255.255.255.255", "255.255.255.255"},
      {"::", "::"},
      {"::1", "::1"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},     // the first of equal runs, RFC 5952 section 4.2.3
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},           // the longest run
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},  // one group is not shortened
      {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
      {"::ffff:1.2.3.4", "1.2.3.4"},
      {"::ffff:102:304", "1.2.3.4"},
      {"64:ff9b::1.2.3.4", "1.2.3.4"},
      {"64:ff9b::102:304", "1.2.3.4"},
      {"2001:db8::1.2.3.4", "2001:db8::102:304"},
      {"64:ff9b:1::1.2.3.4", "64:ff9b:1::102:304"},  // local-use translation is another network
      {"01.2.3.4", "refused"},
      {"1.2.3", "refused"},
      {"1.2.3.4.5", "refused"},
      {"256.1.1.1", "refused"},
      {"0x7f.0.0.1", "refused"},
      {"1.2.3.4 ", "refused"},
      {" 1.2.3.4", "refused"},
      {"", "refused"},
      {":::", "refused"},
      {"1::2::3", "refused"},
      {"12345::", "refused"},
      {"1:2:3:4:5:6:7:8:9", "refused"},
      {"fe80::1%eth0", "refused"},
      {"[::1]", "refused"},
      {"1.2.3.4:80", "refused"},
      {"localhost", "refused"},
      {std::string_view("1.2.3.4\0", 8), "refused"},
      {"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", "refused"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(canonical(text), expected) << text;
}

TEST(IpAddressTest, APortBracketsAndAZoneAreDroppedOnlyWhereTheyAreAllowed) {
  const TextCase cases[] = {
      {"1.2.3.4", "1.2.3.4"},
      {"1.2.3.4:55", "1.2.3.4"},
      {"1.2.3.4:65535", "1.2.3.4"},
      {"2001:db8::1", "2001:db8::1"},
      {"[2001:db8::1]", "2001:db8::1"},
      {"[2001:db8::1]:55", "2001:db8::1"},
      {"fe80::1%eth0", "fe80::1"},
      {"[fe80::1%eth0]:55", "fe80::1"},
      {"1.2.3.4:", "refused"},
      {"1.2.3.4:65536", "refused"},
      {"1.2.3.4:x", "refused"},
      {"1.2.3.4:000080", "refused"},
      {"1.2.3.4%eth0", "refused"},
      {"fe80::1%", "refused"},
      {"[1.2.3.4]", "refused"},
      {"[1.2.3.4]:80", "refused"},
      {"[::1", "refused"},
      {"[::1]80", "refused"},
      {"[::1]:", "refused"},
      {"[]", "refused"},
      {"unknown", "refused"},
      {"", "refused"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(canonical_with_port(text), expected) << text;
}

TEST(IpAddressTest, AnAddressComesFromASocketAddress) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  inet_pton(AF_INET, "192.0.2.7", &v4.sin_addr);
  EXPECT_EQ(IpAddress::from(reinterpret_cast<const sockaddr&>(v4)).to_string(), "192.0.2.7");

  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  inet_pton(AF_INET6, "2001:db8::7", &v6.sin6_addr);
  EXPECT_EQ(IpAddress::from(reinterpret_cast<const sockaddr&>(v6)).to_string(), "2001:db8::7");
  inet_pton(AF_INET6, "::ffff:192.0.2.7", &v6.sin6_addr);
  EXPECT_EQ(IpAddress::from(reinterpret_cast<const sockaddr&>(v6)).to_string(), "192.0.2.7");
}

TEST(IpAddressTest, GroupingCutsIpv6AndLeavesIpv4) {
  const auto grouped = [](std::string_view text, int bits) {
    return IpAddress::parse(text)->grouped(bits).to_string();
  };
  EXPECT_EQ(grouped("2001:db8:1:2:3::9", 64), "2001:db8:1:2::");
  EXPECT_EQ(grouped("2001:db8:1:2ff:3::9", 56), "2001:db8:1:200::");
  EXPECT_EQ(grouped("2001:db8:ffff::", 33), "2001:db8:8000::");
  EXPECT_EQ(grouped("2001:db8::9", 128), "2001:db8::9");
  EXPECT_EQ(grouped("192.0.2.1", 64), "192.0.2.1");
  EXPECT_EQ(grouped("::ffff:192.0.2.1", 32), "192.0.2.1");
}

TEST(IpAddressTest, EveryAddressSurvivesARoundTripThroughItsText) {
  std::mt19937 random(5952);  // NOLINT: the same trace every time
  for (int i = 0; i < 20'000; ++i) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    for (auto& byte : v6.sin6_addr.s6_addr) byte = random() % 3 == 0 ? static_cast<std::uint8_t>(random()) : 0;
    const IpAddress address = IpAddress::from(reinterpret_cast<const sockaddr&>(v6));
    const std::string text = address.to_string();
    ASSERT_LE(text.size(), 46u);
    ASSERT_EQ(IpAddress::parse(text), address) << text;
  }
}

struct NetworkCase {
  std::string_view network;
  std::string_view address;
  bool contains;
};

TEST(IpNetworkTest, ANetworkContainsTheAddressesWithItsPrefix) {
  const NetworkCase cases[] = {
      {"10.0.0.0/8", "10.255.0.1", true},
      {"10.0.0.0/8", "11.0.0.1", false},
      {"10.0.0.0/8", "::ffff:10.1.1.1", true},
      {"10.1.2.3/8", "10.0.0.1", true},  // host bits do not matter
      {"192.0.2.1", "192.0.2.1", true},
      {"192.0.2.1", "192.0.2.2", false},
      {"192.0.2.0/31", "192.0.2.1", true},
      {"192.0.2.0/31", "192.0.2.2", false},
      {"0.0.0.0/0", "203.0.113.9", true},
      {"0.0.0.0/0", "2001:db8::1", false},
      {"2001:db8::/32", "2001:db8:ffff::1", true},
      {"2001:db8::/32", "2001:db9::1", false},
      {"2001:db8::1", "2001:db8::1", true},
      {"::/0", "2001:db8::1", true},
      {"::/0", "192.0.2.1", false},  // every IPv6 address, and no IPv4 address
      {"::ffff:10.0.0.0/104", "10.2.3.4", true},
      {"64:ff9b::a00:0/104", "10.2.3.4", true},
      {"fe80::/10", "febf::1", true},
      {"fe80::/10", "fec0::1", false},
  };
  for (const auto& [network, address, contains] : cases) {
    ASSERT_TRUE(IpNetwork::parse(network)) << network;
    EXPECT_EQ(IpNetwork::parse(network)->contains(*IpAddress::parse(address)), contains) << network << " " << address;
  }
}

TEST(IpNetworkTest, MalformedNetworksAreRefused) {
  for (const std::string_view text : {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10/8",
                                      "/8", "", "10.0.0.0/0008", "10.0.0.0/ 8", "example.com/8", "::1%lo/128"}) {
    EXPECT_FALSE(IpNetwork::parse(text)) << text;
  }
}

}  // namespace
}  // namespace weir
