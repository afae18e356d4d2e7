// SPDX-License-Identifier: Apache-2.0
//
// The parts of URLs and addresses: hosts, ports, users and passwords. What is wrong is said without the password.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

struct HostPort {
  std::string_view host;  // without brackets
  std::optional<std::string_view> port;
  bool bracketed = false;
};

// `host`, `host:port`, `[v6]`, `[v6]:port`; a bare IPv6 address is not told apart and fails later.
std::optional<HostPort> split_host_port(std::string_view text);
bool is_v6(std::string_view host);

struct UrlForm {
  std::uint64_t default_port;
  std::string_view description;
};

// `name:port` of the URL `text`.
Parsed<Endpoint> parse_authority(std::string_view text, std::string_view authority, const UrlForm& form);

// RFC 3986 section 2.1. `where` reads as in "'%' in a user or password".
Parsed<std::string> percent_decoded(std::string_view text, std::string_view where = "a user or password");

// What follows the scheme of a URL, with user and password percent-decoded. Views of the URL.
struct UrlParts {
  std::string user;
  std::string password;
  std::string_view server;
  std::string_view tail;  // from the first '/' on
};
Parsed<UrlParts> split_url(std::string_view rest);

}  // namespace weir::config
