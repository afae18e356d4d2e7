// SPDX-License-Identifier: Apache-2.0
//
// What of a request nobody may see who reads an explanation: the values of the fields that are credentials by the
// configuration (`api_key`, `jwt`, `bypass`) or by HTTP (Authorization, Proxy-Authorization, Cookie, Set-Cookie), and
// all that stands in cookies and in the query, each by itself too. Thread safety: immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/http/message.h"

namespace weir::explain {

// In place of it.
inline constexpr std::string_view kHidden = "(not shown)";

class Secrets {
 public:
  Secrets(const config::Config& config, const http::RequestHead& head);

  // `attribute`: as `per` names it. It is one for what it is, or because a credential is its value.
  bool hides(std::string_view attribute, std::string_view value) const;
  // The value, or what stands in place of it.
  std::string shown(std::string_view value) const;

 private:
  bool is_credential(std::string_view field) const;
  void add(std::string_view value);
  void add_pairs(std::string_view text, char separator);

  std::vector<std::string> fields_;
  std::vector<std::string> values_;
};

// A path or a URL without user and password. What only looks like them, `a:b@c` between slashes, is hidden, too:
// wherever somebody has written them by mistake.
std::string without_user(std::string_view path);

// A target without its query and without user and password.
std::string shown_target(std::string_view target);

// The account (policy::Finding::account) without the values of these attributes. `per`: those that it counts by.
std::string shown_account(std::string_view account, const std::vector<std::string>& per,
                          const std::vector<std::string>& hidden);

}  // namespace weir::explain
