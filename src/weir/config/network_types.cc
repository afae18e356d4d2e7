// SPDX-License-Identifier: Apache-2.0
#include "weir/config/network_types.h"

#include <algorithm>
#include <limits>

#include "weir/config/scalars.h"
#include "weir/config/url.h"

namespace weir::config {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kRedis = "redis://";
constexpr std::string_view kRediss = "rediss://";
constexpr std::string_view kUnixWithUser = "unix://";
constexpr std::size_t kLongestUnixPath = 107;  // sockaddr_un, unix(7)

Parsed<Endpoint> parse_unix(std::string_view text) {
  const std::string_view path = text.substr(kUnix.size());
  if (path.empty()) return fault("'unix:' needs the path of a socket, for example unix:/run/weir.sock");
  if (path.size() > kLongestUnixPath) {
    return fault(
        fmt::format("the path of a Unix socket has at most {} bytes, this one {}", kLongestUnixPath, path.size()));
  }
  if (path.find('\0') != path.npos) return fault("the path of a Unix socket cannot have a NUL byte");
  return Endpoint{.text = std::string(text), .host = {}, .port = 0, .unix_path = std::string(path)};
}

std::string listen_suggestion(const HostPort& parts) {
  if (parts.host == "localhost") return fmt::format("did you mean '127.0.0.1:{}'?", *parts.port);
  if (parts.host.empty() || parts.host == "*") return fmt::format("did you mean '0.0.0.0:{}'?", *parts.port);
  return {};
}

constexpr UrlForm kUpstreamForm{80, "an upstream is http://name:port or unix:/path"};
constexpr UrlForm kRedisForm{6379, "a Redis server is redis://name:port or unix:/path"};

RedisUrl redis_url_of(UrlParts&& parts, Endpoint&& server) {
  return {.server = std::move(server),
          .tls = false,
          .user = std::move(parts.user),
          .password = std::move(parts.password),
          .database = 0};
}

Parsed<RedisUrl> parse_redis_socket(std::string_view text) {
  UrlParts parts;
  std::string path(text);
  if (text.starts_with(kUnixWithUser)) {
    auto split = split_url(text.substr(kUnixWithUser.size()));
    if (!split) return std::unexpected(split.error());
    parts = *std::move(split);
    if (!parts.server.empty()) {
      return fault(fmt::format("a Unix socket has no host, but '{}' is there", parts.server),
                   parts.password.empty() ? fmt::format("did you mean '{}/{}{}'?", kUnix, parts.server, parts.tail)
                                          : "after '@' comes the path");
    }
    path = fmt::format("{}{}", kUnix, parts.tail);
  }
  auto server = parse_unix(path);
  if (!server) return std::unexpected(server.error());
  return redis_url_of(std::move(parts), *std::move(server));
}

// `/0`; nothing and `/` too.
Parsed<int> parse_database(std::string_view tail) {
  if (tail.empty() || tail == "/") return 0;
  const auto number = parse_digits(tail.substr(1), std::numeric_limits<int>::max());
  if (tail[0] == '/' && number) return static_cast<int>(*number);
  return fault(
      fmt::format("after its port, a Redis URL has the number of a database, such as /0, but '{}' is there", tail));
}

// The scheme is none of Redis.
std::unexpected<Fault> not_a_redis_url(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::string expected = "a Redis server is redis://name:port, rediss://name:port for TLS, or unix:/path";
  if (scheme != text.npos)
    return fault(fmt::format("'{}' is not a scheme of Redis; {}", text.substr(0, scheme + 3), expected));
  if (text.find('@') != text.npos) return fault("the scheme is missing; " + expected);
  return fault(fmt::format("'{}' has no scheme; {}", text, expected),
               text.starts_with("redis") ? std::string() : fmt::format("did you mean '{}{}'?", kRedis, text));
}

}  // namespace

Parsed<Endpoint> parse_listen_address(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_unix(text);
  const auto parts = split_host_port(text);
  if (!parts || !parts->port) {
    const bool bare_v6 = IpAddress::parse(text).has_value();
    return fault(fmt::format("'{}' is not an address such as 0.0.0.0:8080, [::1]:80 or unix:/path", text),
                 bare_v6 ? "an address needs a port" : "");
  }
  const auto port = parse_digits(*parts->port, 65535);
  if (!port) return fault(fmt::format("'{}' is not a port; ports are 0 to 65535", *parts->port));
  if (!IpAddress::parse(parts->host) || is_v6(parts->host) != parts->bracketed) {
    return fault(fmt::format("'{}' is not a literal address; listeners have addresses, not names", parts->host),
                 listen_suggestion(*parts));
  }
  return Endpoint{.text = std::string(text),
                  .host = std::string(parts->host),
                  .port = static_cast<std::uint16_t>(*port),
                  .unix_path = {}};
}

Parsed<Endpoint> parse_upstream_url(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_unix(text);
  if (text.starts_with("https://")) return not_available(fmt::format("'{}'", text), "TLS to an upstream");
  if (!text.starts_with(kHttp)) {
    const bool scheme = text.find("://") != text.npos;
    return fault(fmt::format("'{}' is not an upstream such as http://name:8080 or unix:/path", text),
                 scheme ? std::string() : fmt::format("did you mean 'http://{}'?", text));
  }
  const std::string_view rest = text.substr(kHttp.size());
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::string_view tail = rest.substr(authority.size());
  if (authority.find('@') != authority.npos) return fault("the URL of an upstream has no user and password");
  if (!tail.empty() && tail != "/") {
    return fault(fmt::format("the URL of an upstream has no path or query, but '{}' is there", tail),
                 "the client's path is forwarded unchanged");
  }
  return parse_authority(text, authority, kUpstreamForm);
}

Parsed<RedisUrl> parse_redis_url(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_redis_socket(text);
  const bool tls = text.starts_with(kRediss);
  const std::string_view scheme = tls ? kRediss : kRedis;
  if (!text.starts_with(scheme)) return not_a_redis_url(text);
  auto parts = split_url(text.substr(scheme.size()));
  if (!parts) return std::unexpected(parts.error());
  const std::string shown = fmt::format("{}{}{}", scheme, parts->server, parts->tail);
  auto server = parse_authority(shown, parts->server, kRedisForm);
  if (!server) return std::unexpected(server.error());
  const auto database = parse_database(parts->tail);
  if (!database) return std::unexpected(database.error());
  RedisUrl url = redis_url_of(*std::move(parts), *std::move(server));
  url.tls = tls;
  url.database = *database;
  return url;
}

Type<Endpoint> listen_address() {
  Json schema{{"type", "string"}, {"pattern", "^(unix:.+|[0-9.]+:[0-9]{1,5}|\\[[0-9A-Fa-f:.]+\\]:[0-9]{1,5})$"}};
  auto type = scalar<Endpoint>("an address such as 0.0.0.0:8080", std::move(schema), parse_listen_address);
  type.show = [](const Endpoint& endpoint) { return endpoint.text.empty() ? Json() : Json(endpoint.text); };
  return type;
}

Type<Endpoint> upstream_url() {
  Json schema{{"type", "string"}, {"pattern", "^(unix:.+|http://[^/?#@]+/?)$"}};
  return scalar<Endpoint>("an upstream such as http://name:8080", std::move(schema), parse_upstream_url);
}

Type<RedisUrl> redis_url() {
  Json schema{{"type", "string"}, {"pattern", "^(unix:.+|rediss?://[^/?#]+(/[0-9]*)?)$"}};
  return scalar<RedisUrl>("a Redis server such as redis://name:6379", std::move(schema), parse_redis_url);
}

Type<IpNetwork> network() {
  const auto parse = [](std::string_view text) -> Parsed<IpNetwork> {
    if (auto network = IpNetwork::parse(text)) return *network;
    return fault(fmt::format("'{}' is not a network such as 10.0.0.0/8 or 2001:db8::/32", text));
  };
  Json schema{{"type", "string"}, {"pattern", "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"}};
  return scalar<IpNetwork>("a network such as 10.0.0.0/8", std::move(schema), parse);
}

bool is_any_port(const Endpoint& endpoint) { return endpoint.unix_path.empty() && endpoint.port == 0; }

bool is_local(const Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return true;
  const auto address = IpAddress::parse(endpoint.host);
  return address && (*address == *IpAddress::parse("::1") || IpNetwork::parse("127.0.0.0/8")->contains(*address));
}

}  // namespace weir::config
