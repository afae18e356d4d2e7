// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <tuple>

#include "weir/config/language.h"
#include "weir/config/network_types.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Parsed<std::string> parse_prefix(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  const bool printable =
      std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f && c != '{' && c != '}'; });
  if (!text.empty() && text.size() <= kLongest && printable) return std::string(text);
  return fault(fmt::format("the prefix of keys is 1 to {} printable ASCII characters without spaces, '{{' and '}}'",
                           kLongest));
}

// Urls that are written alike were reported with the list.
bool check_servers(Reader& reader, const Node& list, const std::vector<RedisUrl>& urls) {
  std::set<std::tuple<std::string, std::uint16_t, std::string>> seen;
  bool good = true;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const Endpoint& server = urls[i].server;
    if (urls[i].tls != urls.front().tls) {
      good = report_fault(reader, list.items[i]->place, {"either all urls are rediss:// or none is", {}, {}});
    }
    if (seen.emplace(server.host, server.port, server.unix_path).second) continue;
    good = report_fault(reader, list.items[i]->place,
                        {fmt::format("another url names the server of '{}' already", server.text), {}, {}});
  }
  return good;
}

Type<std::vector<RedisUrl>> redis_urls() {
  auto list = list_of(redis_url(), 1);
  list.read = [read = std::move(list.read)](Reader& reader, const Node& node, std::vector<RedisUrl>& out) {
    return read(reader, node, out) && check_servers(reader, node, out);
  };
  return list;
}

// What holds of a cluster. Requires: urls and cluster could be read.
void check_cluster(Reader& reader, const Fields& fields, const Redis& redis) {
  const bool several = redis.urls.size() > 1;
  if (several && redis.cluster == Redis::Cluster::kOff) {
    reader.report.error(fields.place("cluster"), "several urls are seeds of a cluster, but `cluster` is off");
  } else if (several || redis.cluster == Redis::Cluster::kOn) {
    for (std::size_t i = 0; i < redis.urls.size(); ++i) {
      if (redis.urls[i].database == 0) continue;
      reader.report.error(fields.find("urls")->items[i]->place,
                          fmt::format("a cluster has no database {}, only 0", redis.urls[i].database));
    }
  }
}

void check_tls(Reader& reader, const Fields& fields, Redis& redis) {
  if (!fields.readable("tls")) return;
  if (fields.readable("urls") && std::ranges::none_of(redis.urls, &RedisUrl::tls)) {
    reader.report.error(fields.place("tls"), "`tls` has no meaning where no url begins with rediss://");
  }
  if (redis.ca.empty()) return;
  redis.ca = (reader.folder / redis.ca).string();
  errno = 0;
  std::ifstream file(redis.ca, std::ios::binary);
  if (file && file.peek() != std::ifstream::traits_type::eof()) return;
  reader.report.error(Fields(*fields.find("tls")).place("ca"),
                      errno == 0 ? fmt::format("the file '{}' is empty", redis.ca)
                                 : fmt::format("the file '{}' cannot be read: {}", redis.ca, std::strerror(errno)));
}

void check_redis(Reader& reader, const Fields& fields, Redis& redis) {
  if (fields.readable("urls") && fields.good("cluster")) check_cluster(reader, fields, redis);
  check_tls(reader, fields, redis);
}

std::string_view word(StoreFailure failure) { return failure == StoreFailure::kLocal ? "local" : "closed"; }

}  // namespace

Type<std::optional<Redis>> redis_store() {
  using Cluster = Redis::Cluster;
  using Clock = Redis::Clock;
  Object<Redis> lease("lease", "What a gateway may take of a busy key in advance.");
  lease.key("max", &Redis::lease_max, number<std::uint64_t>(0, 1'000'000),
            "The most tokens that one gateway holds for a busy key; 0: none.");
  Object<Redis> tls("tls", "Of servers whose url begins with rediss://.");
  tls.key("ca", &Redis::ca, text(),
          "A file with the certificates that are trusted, relative to the configuration file. Default: those of the "
          "system.")
      .key("verify", &Redis::verify, boolean(), "Whether the certificate of the server must be trusted and name it.");
  Object<Redis> redis("redis");
  redis
      .required(
          "urls", &Redis::urls, redis_urls(),
          "redis://user:password@name:port/database, rediss:// for TLS, unix:/path, or "
          "unix://user:password@/path; user and password are percent-encoded. Several: seeds of a cluster; nodes "
          "that are found through them get the user and password of the first url.")
      .key("cluster", &Redis::cluster,
           choice<Cluster>("cluster", {{"auto", Cluster::kAuto}, {"on", Cluster::kOn}, {"off", Cluster::kOff}}),
           "Whether the servers are a cluster; `auto`: they are asked.")
      .key("prefix", &Redis::prefix, text("a prefix of keys such as 'weir'", "^[\\x21-\\x7A|~]{1,64}$", parse_prefix),
           "What all keys begin with.")
      .key("budget", &Redis::budget, duration(milliseconds(1), seconds(10)),
           "How long one decision may take, connection included; then the store is away.")
      .key("clock", &Redis::clock, choice<Clock>("clock", {{"store", Clock::kStore}, {"gateway", Clock::kGateway}}),
           "Whose clock counts: that of the server, or that of each gateway.")
      .group("lease", lease)
      .group("tls", tls)
      .check(check_redis);
  return as<std::optional<Redis>>(Type<Redis>(redis));
}

// The workers have equal shares of what their gateway may hold.
void warn_of_small_lease(Reader& reader, const Fields& fields, const Config& config) {
  const std::uint64_t most = config.redis->lease_max;
  if (most == 0 || most >= config.workers) return;
  const Fields redis(*Fields(*fields.find("store")).find("redis"));
  reader.report.warning(
      Fields(*redis.find("lease")).place("max"),
      fmt::format("this is less than one token for each of the {} `workers`: none is taken in advance",
                  config.workers));
}

void warn_of_what_cannot_act(Reader& reader, const Fields& fields, Config& config) {
  if (config.redis && fields.good("store") && fields.good("workers")) warn_of_small_lease(reader, fields, config);
  if (config.redis || !fields.good("store")) return;
  if (config.gateways > 1) {
    reader.report.warning(
        Fields(*fields.find("store")).place("gateways"),
        fmt::format("there are {} gateways but no `redis` in `store`: each of them counts for itself",
                    config.gateways));
  }
  const Node* list = fields.find("limits");
  if (list == nullptr || list->items.size() != config.limits.size()) return;
  for (std::size_t i = 0; i < config.limits.size(); ++i) {
    const StoreFailure failure = config.limits[i].on_store_failure;
    if (failure == StoreFailure::kOpen) continue;
    reader.report.warning(
        Fields(*list->items[i]).place("on_store_failure"),
        fmt::format("`on_store_failure: {}` never acts: there is no `redis` in `store`, and memory is never away",
                    word(failure)));
  }
}

}  // namespace weir::config
