// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/client_address.h"

#include <gtest/gtest.h>

#include "weir/identity/testing/parsed_request.h"

namespace weir::identity {
namespace {

using testing::ParsedRequest;

const std::vector<IpNetwork>& trusted() {
  static const std::vector<IpNetwork> networks = {*IpNetwork::parse("10.0.0.0/8"),
                                                  *IpNetwork::parse("2001:db8:f::/48")};
  return networks;
}

std::string client(const std::vector<std::string>& lines) {
  std::vector<std::string> fields;
  for (const std::string& line : lines) fields.push_back("X-Forwarded-For: " + line);
  const ParsedRequest request("GET /", fields);
  return client_address(request.head(), *IpAddress::parse("10.0.0.1"), trusted(), AddressField({})).to_string();
}

TEST(ClientAddressTest, TheListIsWalkedFromTheRightOverTrustedProxies) {
  const struct {
    std::vector<std::string> lines;
    std::string_view client;
  } kRows[] = {
      {{}, "10.0.0.1"},
      {{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"},
      {{"203.0.113.9, 10.0.0.7"}, "203.0.113.9"},
      {{"203.0.113.9,10.0.0.7,\t10.0.0.8 "}, "203.0.113.9"},
      {{"203.0.113.9, garbage"}, "10.0.0.1"},
      {{"203.0.113.9, garbage, 10.0.0.7"}, "10.0.0.7"},
      {{"garbage"}, "10.0.0.1"},
      {{"unknown"}, "10.0.0.1"},
      {{"203.0.113.9, _hidden, 10.0.0.7"}, "10.0.0.7"},
      {{""}, "10.0.0.1"},
      {{"203.0.113.9,"}, "10.0.0.1"},
      {{"203.0.113.9,,10.0.0.7"}, "10.0.0.7"},
      {{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
      {{"[2001:db8::5]:4711"}, "2001:db8::5"},
      {{"[2001:db8::5]"}, "2001:db8::5"},
      {{"203.0.113.9:80"}, "203.0.113.9"},
      {{"::ffff:203.0.113.9"}, "203.0.113.9"},
      {{"::ffff:cb00:7109"}, "203.0.113.9"},
      {{"203.0.113.9, ::ffff:10.0.0.7"}, "203.0.113.9"},
      {{"203.0.113.9, 2001:db8:f::1"}, "203.0.113.9"},
      {{"010.0.0.1"}, "10.0.0.1"},
      {{"203.0.113.9, 010.0.0.7"}, "10.0.0.1"},
      {{"1.2.3"}, "10.0.0.1"},
      {{"0x1.2.3.4"}, "10.0.0.1"},
      {{"1.1.1.1", "203.0.113.9"}, "203.0.113.9"},
      {{"203.0.113.9", "10.0.0.7"}, "203.0.113.9"},
      {{"203.0.113.9, 10.0.0.8", "10.0.0.7"}, "203.0.113.9"},
      {{"203.0.113.9", ""}, "10.0.0.1"},
      {{"203.0.113.9", "garbage", "10.0.0.7"}, "10.0.0.7"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(client(row.lines), row.client) << ::testing::PrintToString(row.lines);
  }
}

TEST(ClientAddressTest, WhatStandsToTheLeftOfTheClientMakesNoDifference) {
  for (const auto* forged : {"1.2.3.4", "10.0.0.9", "garbage", "", "127.0.0.1, 10.0.0.2"}) {
    EXPECT_EQ(client({std::string(forged) + ", 203.0.113.9, 10.0.0.7"}), "203.0.113.9") << forged;
    EXPECT_EQ(client({forged, "203.0.113.9"}), "203.0.113.9") << forged;
  }
}

TEST(ClientAddressTest, AddressesAreGroupedForCounting) {
  const struct {
    std::string_view address;
    int prefix;
    std::string_view group;
  } kRows[] = {
      {"192.0.2.1", 64, "192.0.2.1"},
      {"192.0.2.1", 32, "192.0.2.1"},
      {"2001:db8:1:2:3::9", 64, "2001:db8:1:2::/64"},
      {"2001:db8:1:2:3::9", 56, "2001:db8:1::/56"},
      {"2001:db8:1:2:3::9", 32, "2001:db8::/32"},
      {"2001:db8:1:2:3::9", 128, "2001:db8:1:2:3::9/128"},
      {"::ffff:1.2.3.4", 64, "1.2.3.4"},
      {"64:ff9b::1.2.3.4", 64, "1.2.3.4"},
      {"2001:db8::1.2.3.4", 64, "2001:db8::/64"},
  };
  for (const auto& row : kRows) {
    std::string group = "old text";
    write_group(*IpAddress::parse(row.address), row.prefix, group);
    EXPECT_EQ(group, row.group) << row.address;
  }
}

}  // namespace
}  // namespace weir::identity
