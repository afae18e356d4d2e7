// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "weir/config/language.h"
#include "weir/config/network_types.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

constexpr std::size_t kLongestToken = 4096;

// `admin` as written.
struct AdminText {
  Endpoint address = Admin{}.address;
  std::string token_file;
};

std::expected<std::string, std::string> read_token(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string token(kLongestToken + 1, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  if (!file.eof() && file.gcount() == 0) {
    return std::unexpected(fmt::format("the file '{}' cannot be read: {}", path.string(), std::strerror(errno)));
  }
  token.resize(static_cast<std::size_t>(file.gcount()));
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty()) return std::unexpected(fmt::format("the file '{}' is empty", path.string()));
  const bool visible = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!visible || token.size() > kLongestToken) {
    return std::unexpected(fmt::format("the file '{}' is not one line of at most {} visible ASCII characters",
                                       path.string(), kLongestToken));
  }
  return token;
}

void check_admin(Reader& reader, const Fields& fields, AdminText& admin) {
  if (fields.has("token_file") || !fields.good("address") || is_local(admin.address)) return;
  reader.report.error(
      fields.place("address"),
      fmt::format("'{}' can be reached from elsewhere, so admin needs a token_file", admin.address.text),
      "use 127.0.0.1, a unix: socket, or add `token_file: admin.token`");
}

bool to_admin(Reader& reader, const Node& node, AdminText&& text, std::optional<Admin>& out) {
  out = Admin{.address = std::move(text.address), .token = std::nullopt};
  if (text.token_file.empty()) return true;
  auto token = read_token(reader.folder / text.token_file);
  if (!token) {
    reader.report.error(Fields(node).place("token_file"), token.error());
    return false;
  }
  out->token = *std::move(token);
  return true;
}

}  // namespace

Type<std::vector<Listener>> listeners_section() {
  Object<Listener> listener("a listener");
  listener
      .required("address", &Listener::address, listen_address(),
                "host:port, [v6]:port, or unix:/path. The host is a literal address.")
      .key("proxy_protocol", &Listener::proxy_protocol, boolean(),
           "Whether trusted proxies (and whoever connects to a Unix socket) begin their connections with a PROXY "
           "protocol header, version 1 or 2, that names the client. Others are clients themselves.")
      .later("tls", "TLS on a listener");
  auto list = list_of<Listener>(listener, 1);
  list.read = [read = std::move(list.read)](Reader& reader, const Node& node, std::vector<Listener>& out) {
    bool good = read(reader, node, out);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Endpoint& address = out[i].address;
      if (address.text.empty() || is_any_port(address) || seen.insert(address.text).second) continue;
      reader.report.error(Fields(*node.items[i]).place("address"),
                          fmt::format("two listeners have the address '{}'", address.text));
      good = false;
    }
    return good;
  };
  return list;
}

Type<std::optional<Admin>> admin_section() {
  Object<AdminText> admin("admin");
  admin
      .key("address", &AdminText::address, listen_address(),
           "host:port, [v6]:port, or unix:/path. Another address than a local one needs a token.")
      .key("token_file", &AdminText::token_file, text(),
           "A file with the token that clients of the admin listener must send; relative to the configuration file.")
      .check(check_admin);
  return word_or<std::optional<Admin>>("off", std::nullopt,
                                       turned<std::optional<Admin>>(Type<AdminText>(admin), to_admin));
}

}  // namespace weir::config
