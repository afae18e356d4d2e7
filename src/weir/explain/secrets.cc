// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/secrets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "weir/http/field.h"

namespace weir::explain {
namespace {

// The field that is a credential; empty: it holds none.
std::string credential_of(const config::Caller& caller) {
  if (const auto* key = std::get_if<config::ApiKeyCaller>(&caller)) return key->header;
  const auto* token = std::get_if<config::JwtCaller>(&caller);
  return token == nullptr ? std::string() : token->header;
}

// As they are escaped.
std::vector<std::string> values_in(std::string_view account) {
  std::vector<std::string> values(1);
  for (std::size_t at = 0; at < account.size(); ++at) {
    if (account[at] == ',') {
      values.emplace_back();
      continue;
    }
    values.back() += account[at];
    if (account[at] == '\\' && at + 1 < account.size()) values.back() += account[++at];
  }
  return values;
}

}  // namespace

Secrets::Secrets(const config::Config& config, const http::RequestHead& head)
    : fields_{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"} {
  for (const config::Caller& caller : config.callers) fields_.push_back(credential_of(caller));
  for (const config::Bypass& bypass : config.bypass) {
    if (const auto* header = std::get_if<config::HeaderBypass>(&bypass)) fields_.push_back(header->header);
  }
  for (const http::Field& field : head.fields) {
    if (is_credential(field.name(head.bytes))) add(head.value(field));
  }
}

bool Secrets::is_credential(std::string_view field) const {
  return std::ranges::any_of(fields_, [&](const std::string& one) { return http::same_name(one, field); });
}

// Also without its scheme.
void Secrets::add(std::string_view value) {
  if (value.empty()) return;
  values_.emplace_back(value);
  if (const std::size_t space = value.rfind(' '); space != std::string_view::npos) {
    values_.emplace_back(value.substr(space + 1));
  }
}

bool Secrets::hides(std::string_view attribute, std::string_view value) const {
  constexpr std::string_view kHeader = "header:";
  if (attribute.starts_with("cookie:") || attribute.starts_with("query:")) return true;
  if (attribute.starts_with(kHeader) && is_credential(attribute.substr(kHeader.size()))) return true;
  return std::ranges::find(values_, value) != values_.end();
}

std::string Secrets::shown(std::string_view value) const { return std::string(hides({}, value) ? kHidden : value); }

std::string shown_target(std::string_view target) {
  const std::string_view plain = target.substr(0, target.find_first_of("?#"));
  std::string shown(plain);
  const std::size_t scheme = plain.find("://");
  const std::size_t begin = plain.starts_with('/') ? plain.size() : scheme == plain.npos ? 0 : scheme + 3;
  const std::size_t user = plain.substr(begin, plain.find('/', begin) - begin).rfind('@');
  if (user != std::string_view::npos) shown.replace(begin, user, kHidden);
  if (plain.size() < target.size()) shown += fmt::format("{}{}", target[plain.size()], kHidden);
  return shown;
}

std::string shown_account(std::string_view account, const std::vector<std::string>& per,
                          const std::vector<std::string>& hidden) {
  const auto is_hidden = [&](const std::string& one) { return std::ranges::find(hidden, one) != hidden.end(); };
  if (std::ranges::none_of(per, is_hidden)) return std::string(account);
  std::vector<std::string> values = values_in(account);
  if (values.size() != per.size()) return std::string(kHidden);
  for (std::size_t i = 0; i < per.size(); ++i) {
    if (is_hidden(per[i])) values[i] = kHidden;
  }
  return fmt::format("{}", fmt::join(values, ","));
}

}  // namespace weir::explain
