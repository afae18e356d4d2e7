// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/secrets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>

#include "weir/http/field.h"
#include "weir/identity/sources.h"

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
    if (!is_credential(field.name(head.bytes))) continue;
    add(head.value(field));
    if (http::same_name(field.name(head.bytes), "Cookie")) add_pairs(head.value(field), ';');
  }
  const std::string_view query = head.target.substr(std::min(head.target.find('?'), head.target.size()));
  if (!query.empty()) add_pairs(query.substr(1), '&');
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

// The values of `name=value`, as they stand there and as limits count by them.
void Secrets::add_pairs(std::string_view text, char separator) {
  while (!text.empty()) {
    std::string_view value = identity::take_until(separator, text);
    identity::take_until('=', value);
    std::string room;
    add(identity::trimmed(value));
    add(identity::decoded(value, room));
  }
}

bool Secrets::hides(std::string_view attribute, std::string_view value) const {
  constexpr std::string_view kHeader = "header:";
  if (attribute.starts_with("cookie:") || attribute.starts_with("query:")) return true;
  if (attribute.starts_with(kHeader) && is_credential(attribute.substr(kHeader.size()))) return true;
  return std::ranges::find(values_, value) != values_.end();
}

std::string Secrets::shown(std::string_view value) const { return std::string(hides({}, value) ? kHidden : value); }

std::string without_user(std::string_view path) {
  const std::size_t scheme = path.find("://");
  std::string shown(path.substr(0, scheme == path.npos ? 0 : scheme + 3));
  path.remove_prefix(shown.size());
  const bool is_path = path.starts_with('/');
  for (bool first = true; !path.empty(); first = false) {
    const std::string_view segment = path.substr(0, std::min(path.find('/'), path.size() - 1) + 1);
    path.remove_prefix(segment.size());
    const std::size_t at = segment.rfind('@');
    const bool is_user = at != segment.npos && ((first && !is_path) || segment.find(':') < at);
    shown += is_user ? fmt::format("{}{}", kHidden, segment.substr(at)) : std::string(segment);
  }
  return shown;
}

std::string shown_target(std::string_view target) {
  const std::string_view plain = target.substr(0, target.find_first_of("?#"));
  std::string shown = without_user(plain);
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
