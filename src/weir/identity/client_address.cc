// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/client_address.h"

#include <algorithm>
#include <array>
#include <optional>

#include "weir/http/field.h"

namespace weir::identity {
namespace {

constexpr std::size_t kAddressText = 46;  // what IpAddress::write may need

// The elements of a field, all its lines joined, from the right. A comma in a quoted string separates nothing.
class Elements {
 public:
  Elements(const http::RequestHead& request, const FieldName& field) : request_(request), field_(field) {}

  std::optional<std::string_view> next() {
    while (!in_line_) {
      if (at_ == request_.fields.size()) return std::nullopt;
      const http::Field& field = request_.fields[request_.fields.size() - ++at_];
      if (!field_.matches(request_, field)) continue;
      line_ = request_.value(field);
      in_line_ = true;
    }
    const std::size_t comma = last_comma();
    const bool leftmost = comma == std::string_view::npos;
    const std::string_view element = trimmed(line_.substr(leftmost ? 0 : comma + 1));
    line_ = line_.substr(0, leftmost ? 0 : comma);
    in_line_ = !leftmost;
    return element;
  }

 private:
  std::size_t last_comma() const {
    bool quoted = false;
    for (std::size_t i = line_.size(); i-- > 0;) {
      const bool escaped = quoted && i > 0 && line_[i - 1] == '\\';
      if (line_[i] == '"' && !escaped) quoted = !quoted;
      if (line_[i] == ',' && !quoted) return i;
    }
    return std::string_view::npos;
  }

  const http::RequestHead& request_;
  const FieldName& field_;
  std::size_t at_ = 0;
  std::string_view line_;
  bool in_line_ = false;
};

// Takes the pair before the next `;` that is in no quoted string off the front, and the `;`.
std::string_view take_pair(std::string_view& element) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < element.size() && (quoted || element[end] != ';'); ++end) {
    if (quoted && element[end] == '\\') {
      ++end;
    } else if (element[end] == '"') {
      quoted = !quoted;
    }
  }
  end = std::min(end, element.size());
  const std::string_view pair = trimmed(element.substr(0, end));
  element.remove_prefix(std::min(end + 1, element.size()));
  return pair;
}

// The value of `for` in an element of Forwarded: the only one that is looked at. Twice: none.
std::string_view for_of(std::string_view element) {
  std::string_view found;
  while (!element.empty()) {
    const std::string_view pair = take_pair(element);
    if (pair.size() < 4 || pair[3] != '=' || !http::same_name(pair.substr(0, 3), "for")) continue;
    if (!found.empty()) return {};
    found = pair.substr(4);
  }
  if (found.size() >= 2 && found.front() == '"' && found.back() == '"') return found.substr(1, found.size() - 2);
  // Only in quotes may there be a colon (RFC 7239 section 4), and so an IPv6 address or a port.
  return found.find_first_of(":[\"") == std::string_view::npos ? found : std::string_view();
}

std::optional<IpAddress> address_of(std::string_view element, AddressField::Form form) {
  const bool forwarded = form == AddressField::Form::kForwarded;
  return IpAddress::parse_with_port(forwarded ? for_of(element) : element);
}

AddressField::Form form_of(const FieldName& field) {
  if (field.id == http::FieldId::kXForwardedFor) return AddressField::Form::kList;
  return field.id == http::FieldId::kForwarded ? AddressField::Form::kForwarded : AddressField::Form::kSingle;
}

IpAddress walk(Elements elements, const IpAddress& peer, const std::vector<IpNetwork>& trusted,
               AddressField::Form form) {
  IpAddress last = peer;
  while (const auto element = elements.next()) {
    const auto entry = address_of(*element, form);
    if (!entry) break;
    last = *entry;
    if (!is_in(trusted, last)) break;
  }
  return last;
}

}  // namespace

bool is_in(const std::vector<IpNetwork>& networks, const IpAddress& address) {
  return std::ranges::any_of(networks, [&](const IpNetwork& network) { return network.contains(address); });
}

AddressField::AddressField(const config::ClientAddress& configured)
    : field(configured.header), form(form_of(field)), trusted_hops(configured.trusted_hops) {}

IpAddress client_address(const http::RequestHead& request, const IpAddress& peer,
                         const std::vector<IpNetwork>& trusted, const AddressField& field) {
  if (field.form == AddressField::Form::kSingle) {
    const Single found = find_field(request, field.field);
    return found.twice ? peer : IpAddress::parse_with_port(found.value).value_or(peer);
  }
  Elements elements(request, field.field);
  if (field.trusted_hops == 0) return walk(elements, peer, trusted, field.form);
  std::optional<std::string_view> element;
  for (std::uint32_t hop = 0; hop < field.trusted_hops; ++hop) {
    element = elements.next();
    if (!element) return peer;
  }
  return address_of(*element, field.form).value_or(peer);
}

void write_group(const IpAddress& address, int ipv6_prefix, std::string& text) {
  std::array<char, kAddressText> buffer;
  text.assign(buffer.data(), address.grouped(ipv6_prefix).write(buffer.data()));
  if (address.is_v4()) return;
  text += '/';
  if (ipv6_prefix >= 100) text += static_cast<char>('0' + ipv6_prefix / 100);
  if (ipv6_prefix >= 10) text += static_cast<char>('0' + ipv6_prefix / 10 % 10);
  text += static_cast<char>('0' + ipv6_prefix % 10);
}

}  // namespace weir::identity
