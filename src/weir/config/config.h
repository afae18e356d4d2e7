// SPDX-License-Identifier: Apache-2.0
//
// The configuration as plain, validated values: what the YAML file says, with every default filled in and every
// reference checked. Whoever receives a Config may rely on the rules written beside the members.
// Made by config/load.h. Thread safety: plain values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "weir/base/ip.h"
#include "weir/base/sha256.h"
#include "weir/jose/algorithm.h"

namespace weir::jose {
class KeySet;
}

namespace weir::config {

using std::chrono::nanoseconds;

// Where a listener waits or an upstream is found.
struct Endpoint {
  std::string text;        // as written, for messages and metrics
  std::string host;        // address or name without brackets; empty for a Unix socket
  std::uint16_t port = 0;  // 0 only in listeners: any free port
  std::string unix_path;   // absolute or relative path; empty for TCP

  bool operator==(const Endpoint&) const = default;
};

struct Listener {
  Endpoint address;             // host is a literal address
  bool proxy_protocol = false;  // trusted proxies begin their connections with a PROXY header

  bool operator==(const Listener&) const = default;
};

struct Admin {
  Endpoint address{"127.0.0.1:9090", "127.0.0.1", 9090, {}};
  std::optional<std::string> token;  // the content of token_file; present when address is not loopback
};

struct UpstreamTimeouts {
  nanoseconds connect = std::chrono::seconds(1);
  nanoseconds response = std::chrono::seconds(30);  // to the first byte of the answer, and each gap after it
  nanoseconds idle = std::chrono::seconds(60);      // of a connection in the pool
};

struct Upstream {
  std::string name;
  std::vector<Endpoint> endpoints;  // at least one
  bool preserve_host = true;
  UpstreamTimeouts timeouts;
  std::uint32_t max_running = 1024;  // requests under way at once; more are answered with 503
};

struct Service {
  std::string name;
  std::size_t upstream = 0;               // index in Config::upstreams
  std::vector<std::string> hosts;         // lower case, without port and trailing dot; empty: every host
  std::vector<std::string> paths;         // start with '/', no trailing '/', except "/" itself; at least one
  std::optional<std::uint64_t> max_body;  // absent: unlimited
};

enum class TrustedFrom { kTrustedProxies, kAnyone };

// Key `client_address`: what a trusted proxy says about who is behind it.
struct ClientAddress {
  std::string header = "X-Forwarded-For";  // a list, as is Forwarded; any other has one address
  std::uint32_t trusted_hops = 0;  // of a list: the client is so many places from the right; 0: the first place from
                                   // the right that is no trusted proxy

  bool operator==(const ClientAddress&) const = default;
};

struct ApiKeyCaller {
  std::string header;
};
struct HeaderCaller {
  std::string header;
  std::string attribute;
  TrustedFrom from = TrustedFrom::kTrustedProxies;
};
// What a claim of a signed token becomes.
struct ClaimAttribute {
  std::string attribute;
  std::string claim;  // its whole name, or a path of names with dots between them
};
struct JwtCaller {
  std::string header = "Authorization";
  std::string issuer;                             // empty: whoever has the keys
  std::string audience;                           // empty: whoever it is for
  std::string keys;                               // a file, or a URL that begins with https://
  std::shared_ptr<const jose::KeySet> file_keys;  // null: a URL
  std::vector<ClaimAttribute> attributes;
  jose::Algorithms algorithms = jose::Algorithms::all();
  nanoseconds leeway = std::chrono::seconds(30);
  std::string type;                                // `typ`; empty: absent, JWT or at+jwt
  nanoseconds refresh = std::chrono::minutes(10);  // of a URL
  std::string ca;                                  // of a URL: a readable file; empty: the authorities of the system
  std::uint32_t cache = 10'000;                    // good tokens that each worker remembers

  bool has_url() const { return file_keys == nullptr; }
};
using Caller = std::variant<ApiKeyCaller, HeaderCaller, JwtCaller>;

struct ApiKey {
  std::variant<std::string, Sha256> key;  // clear text, or SHA-256 of it
  std::string partner;
  std::optional<std::string> plan;
};

// Key `guessing`: how often credentials from one address may be wrong.
struct Guessing {
  std::int64_t count = 60;
  nanoseconds period = std::chrono::minutes(1);
  std::int64_t burst = 60;  // default: the count

  bool operator==(const Guessing&) const = default;
};

struct HeaderBypass {
  std::string header;
  std::string value;
  TrustedFrom from = TrustedFrom::kTrustedProxies;
};
struct AddressBypass {
  std::vector<IpNetwork> networks;
};
using Bypass = std::variant<HeaderBypass, AddressBypass>;

// What a calendar quota is counted over. kNone: a period of a fixed length, whatever its name.
enum class CivilUnit : std::uint8_t { kNone, kDay, kWeek, kMonth, kYear };

// `count` per `period`; absent where `unlimited` was written. A count of 0 blocks: its burst is 0 too.
struct Rate {
  std::int64_t count = 0;
  nanoseconds period{};  // 0 of a month and a year, which have no fixed length: only for calendar quotas
  CivilUnit civil = CivilUnit::kNone;  // `/day`, `/week`, `/month`, `/year`; not `/1day`

  bool operator==(const Rate&) const = default;
};

// A source of subjects in `per`.
struct PerAttribute {
  enum class Source { kAttribute, kHeader, kQuery, kCookie, kClaim };
  Source source = Source::kAttribute;
  std::string name;  // attribute name, or the header's (as written), query parameter's, cookie's, claim's name

  bool operator==(const PerAttribute&) const = default;
};

// METHOD /path/{segment}/*; method "*" is any.
struct EndpointPattern {
  std::string method;
  std::string path;  // starts with '/'
  std::string text;  // as written

  bool operator==(const EndpointPattern&) const = default;
};

struct HeaderCost {
  std::string header;
  std::int64_t fallback = 1;
  std::int64_t max = 0;
};
// Known only from the answer: `reserve` is taken before, and what the answer says is settled after it.
struct ResponseCost {
  std::string header;
  std::int64_t reserve = 1;
  std::int64_t max = 0;  // the largest cost that is believed
};
using Cost = std::variant<std::int64_t, HeaderCost, ResponseCost>;  // what one request costs

// One alternative of `by`: callers whose attribute has this value get this rate instead.
struct ByRate {
  std::string attribute;
  std::string value;
  std::optional<Rate> rate;  // absent: unlimited; always absent with concurrency
  std::int64_t burst = 0;
  std::int64_t max = 0;    // of concurrency
  bool unlimited = false;  // of concurrency: `unlimited` was written, so max and burst, 0 then, say nothing

  bool operator==(const ByRate&) const = default;
};

// Status codes of answers, both ends included.
struct StatusRange {
  int first = 0;
  int last = 0;

  bool operator==(const StatusRange&) const = default;
};

// `count: {status: …}` and `refund: {status: …}`: which answers count, decided when they are there.
struct CountedAnswers {
  enum class Rule : std::uint8_t {
    kAll,     // neither was written
    kOnly,    // `count`: only answers with these codes
    kAllBut,  // `refund`: answers with these codes are given back
  };
  Rule rule = Rule::kAll;
  std::vector<StatusRange> statuses;  // not empty unless kAll

  bool operator==(const CountedAnswers&) const = default;
};

// Key `calendar` of a limit.
struct CivilCalendar {
  std::string zone = "UTC";  // a time zone that exists on this machine
  int anchor_day = 1;        // 1 to 31: the day of the month when a month begins, or its last day if it has fewer
  std::chrono::weekday week_starts = std::chrono::Monday;

  bool operator==(const CivilCalendar&) const = default;
};

enum class Algorithm {
  kTokenBucket,
  kFixedWindow,
  kSlidingWindow,
  kSlidingLog,
  kLeakyBucket,
  kConcurrency,
  kCalendar
};
enum class Mode { kEnforce, kShadow };
enum class StoreFailure { kOpen, kClosed, kLocal };
enum class Missing { kSkip, kRefuse, kShare };

struct Limit {
  static constexpr std::size_t kMost = 65'534;    // limits in a configuration
  static constexpr std::size_t kMostRates = 254;  // of one limit: its own and those of `by`

  std::string name;  // printable ASCII, at most 128 characters, unique
  std::vector<PerAttribute> per;
  std::vector<EndpointPattern> match;  // empty: every request
  std::vector<std::size_t> services;   // indexes in Config::services; empty: all
  std::optional<Rate> rate;            // absent: unlimited; always absent with concurrency and `from_policies`
  bool from_policies = false;          // acts only on callers that have a row in the policies, by its numbers
  std::int64_t burst = 0;              // of token_bucket, and of leaky_bucket without a queue; else the count
  Algorithm algorithm = Algorithm::kTokenBucket;
  Cost cost = std::int64_t{1};                   // 1 with a queue; not from the answer with concurrency
  bool jitter = false;                           // of fixed_window and sliding_window only
  CivilCalendar calendar;                        // of calendar only; its rates all have a civil unit
  std::int64_t queue = 0;                        // of leaky_bucket: places to wait in line; 0: no line
  std::int64_t undelayed = 0;                    // of these, how many need not wait; at most `queue`
  std::int64_t max = 0;                          // of concurrency: requests at the same time
  nanoseconds lease = std::chrono::seconds(30);  // of concurrency: of a slot whose holder vanished
  CountedAnswers counted;                        // not with concurrency nor a queue
  std::vector<ByRate> by;                        // in order, first match wins over `rate`
  std::vector<std::string> only_if_missing;      // acts only on requests that lack all of these attributes
  Mode mode = Mode::kEnforce;
  StoreFailure on_store_failure = StoreFailure::kOpen;
  Missing missing = Missing::kSkip;
  bool advertise = true;  // false: never in header fields
};

struct MemoryStore {
  std::uint64_t max_accounts = 10'000'000;
};

struct RedisUrl {
  Endpoint server;       // its text is without user and password: it goes to logs
  bool tls = false;      // never with a Unix socket
  std::string user;      // percent-decoded; empty: the server's default user
  std::string password;  // percent-decoded; empty: none, and no user either
  int database = 0;

  bool operator==(const RedisUrl&) const = default;
};

// Key `redis` of the store: counters that several gateways share.
struct Redis {
  enum class Cluster { kAuto, kOn, kOff };
  enum class Clock { kStore, kGateway };

  std::vector<RedisUrl> urls;  // at least one; several are seeds of a cluster, then kAuto or kOn, and database 0
  Cluster cluster = Cluster::kAuto;
  std::string prefix = "weir";  // printable ASCII without braces and spaces, 1 to 64 characters
  nanoseconds budget = std::chrono::milliseconds(20);  // for one decision, connection included
  Clock clock = Clock::kStore;
  std::uint64_t lease_max = 0;  // tokens that one gateway may hold for a busy key; 0: none
  std::string ca;               // a readable file; empty: the authorities of the system
  bool verify = true;           // the certificate of a rediss:// server

  bool operator==(const Redis&) const = default;
};

// A database: `sqlite:path` or `mysql://user:password@name:port/database`.
struct SqlUrl {
  std::string text;      // without user and password: it goes to logs
  std::string path;      // of sqlite, taken from the file's folder; empty: a server
  Endpoint server;       // of mysql, which is MariaDB's protocol too
  std::string user;      // percent-decoded
  std::string password;  // percent-decoded; may be empty
  std::string database;  // percent-decoded; not empty

  bool operator==(const SqlUrl&) const = default;
};

// Key `policies`: what is kept about partners in a database, and changes while the gateway runs.
struct Policies {
  struct Sql {
    SqlUrl url;
    std::string ca;                                 // a readable file; empty: no TLS is asked for
    bool verify = true;                             // with `ca`: the certificate must name the server
    nanoseconds timeout = std::chrono::seconds(2);  // to connect, and of each statement
    std::uint32_t connections = 2;                  // of one gateway

    bool operator==(const Sql&) const = default;
  };
  struct Cache {
    nanoseconds ttl = std::chrono::seconds(60);
    nanoseconds absent_ttl = std::chrono::seconds(10);  // of names that have no row; at most `ttl`
    bool redis = true;                                  // has a meaning with store.redis only
    std::uint64_t max = 1'000'000;                      // records in memory
    std::string snapshot = "policies.snapshot";         // a file; empty: none

    bool operator==(const Cache&) const = default;
  };

  Sql sql;
  Cache cache;
  nanoseconds budget = std::chrono::milliseconds(20);  // of one look-up on the way of a request
  nanoseconds poll = std::chrono::seconds(1);          // how often the database is asked for changes

  bool operator==(const Policies&) const = default;
};

enum class RateLimitFields { kStructured, kLegacy, kOff };
enum class ResetFormat { kEpoch, kDelta };
enum class Merge { kTighten, kReplace, kKeep, kOff };

struct Responses {
  bool x_ratelimit = true;
  RateLimitFields ratelimit = RateLimitFields::kStructured;
  ResetFormat reset = ResetFormat::kEpoch;
  Merge merge = Merge::kTighten;
  std::string refusal_detail = "Too many requests. Try again in {retry_after} s.";
};

struct Log {
  enum class Level { kDebug, kInfo, kWarn, kError };
  Level level = Level::kInfo;
  std::string access = "stdout";  // "stdout", "off", or a path
};

// Limits of the HTTP/1.1 side that faces clients (key `http`).
struct Http {
  std::uint32_t max_target = 8192;
  std::uint32_t max_head = 65536;
  std::uint32_t max_fields = 100;
  std::uint32_t max_requests = 100'000;    // on one connection
  std::uint32_t max_connections = 65'536;  // of the whole process
  bool drop_underscores = false;           // `underscores: drop`; default `refuse`
  bool target_authority_wins = false;      // `authority: replace`; default `refuse` when it differs from Host
  nanoseconds head_timeout = std::chrono::seconds(10);
  nanoseconds idle_timeout = std::chrono::seconds(60);
  nanoseconds body_timeout = std::chrono::seconds(30);   // without a byte
  std::uint32_t body_min_rate = 512;                     // bytes per second, over 10 s
  nanoseconds write_timeout = std::chrono::seconds(30);  // without progress
};

// Key `shutdown`.
struct Shutdown {
  nanoseconds delay{};                             // goes on accepting for so long after SIGTERM
  nanoseconds timeout = std::chrono::seconds(30);  // then the rest is cut
};

struct Config {
  std::vector<Listener> listeners;  // at least one
  std::optional<Admin> admin;       // absent: no admin listener
  std::vector<IpNetwork> trusted_proxies;
  ClientAddress client_address;
  int ipv6_prefix = 64;
  std::vector<Upstream> upstreams;
  std::vector<Service> services;
  std::vector<Caller> callers;
  std::vector<ApiKey> keys;
  bool identify_required = false;
  std::optional<Guessing> guessing = Guessing{};  // absent: nobody is held off
  std::vector<Bypass> bypass;
  std::vector<Limit> limits;
  MemoryStore store;
  std::optional<Redis> redis;  // absent: counted in memory only
  std::uint32_t gateways = 1;
  std::optional<Policies> policies;  // absent: everything about partners is in this file
  Responses responses;
  Log log;
  Http http;
  Shutdown shutdown;
  std::uint32_t workers = 0;  // event loops; 0: one per available core
};

}  // namespace weir::config
