// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;

constexpr std::uint32_t kMebibyte = 1 << 20;

Type<nanoseconds> timeout() { return duration(milliseconds(1), days(1)); }

Type<MemoryStore> memory_store() {
  Object<MemoryStore> object("memory");
  object.key("max_accounts", &MemoryStore::max_accounts, number<std::uint64_t>(1, 1'000'000'000'000),
             "The most accounts that are kept; at the bound, full ones are forgotten first.");
  return object;
}

void check_http(Reader& reader, const Fields& fields, Http& http) {
  if (!fields.good("max_target") || !fields.good("max_head") || http.max_target <= http.max_head) return;
  reader.report.error(fields.place(fields.has("max_target") ? "max_target" : "max_head"),
                      fmt::format("max_target {} is more than max_head {}, which includes it",
                                  size_text(http.max_target), size_text(http.max_head)));
}

// `{retry_after}` is all that a refusal can say.
void check_refusal(Reader& reader, const Fields& fields, Responses& responses) {
  const std::string& detail = responses.refusal_detail;
  for (std::size_t open = detail.find('{'); open != detail.npos; open = detail.find('{', open + 1)) {
    const std::size_t close = detail.find('}', open);
    const std::string word = detail.substr(open, close == detail.npos ? close : close - open + 1);
    if (word == "{retry_after}") continue;
    reader.report.error(fields.place("detail"),
                        fmt::format("'{}' is not a placeholder; there is {{retry_after}}", word));
  }
}

}  // namespace

Object<Config> store_section() {
  Object<Config> store("store", "Where the counters are kept.");
  store.key("memory", &Config::store, memory_store(), "The memory of this process.")
      .key("redis", &Config::redis, redis_store(), "Counters that several gateways share. Default: none.")
      .key("gateways", &Config::gateways, number<std::uint32_t>(1, 100'000),
           "How many gateways share the limits, for `on_store_failure: local`.");
  return store;
}

Type<Responses> responses_section() {
  Object<Responses> refusal("refusal", "The answer to a request that a limit refuses.");
  refusal
      .key("detail", &Responses::refusal_detail, text(),
           "The sentence in the problem document; {retry_after} becomes the seconds to wait.")
      .check(check_refusal);
  Object<Responses> responses("responses");
  responses.key("x_ratelimit", &Responses::x_ratelimit, boolean(), "X-RateLimit-Limit, -Remaining and -Reset.")
      .key("ratelimit", &Responses::ratelimit,
           choice<RateLimitFields>("ratelimit", {{"structured", RateLimitFields::kStructured},
                                                 {"legacy", RateLimitFields::kLegacy},
                                                 {"off", RateLimitFields::kOff}}),
           "RateLimit and RateLimit-Policy, or the older RateLimit-Limit, -Remaining and -Reset.")
      .key("reset", &Responses::reset,
           choice<ResetFormat>("reset", {{"epoch", ResetFormat::kEpoch}, {"delta", ResetFormat::kDelta}}),
           "X-RateLimit-Reset as a point in time or as seconds from now.")
      .key("merge", &Responses::merge,
           choice<Merge>("merge", {{"tighten", Merge::kTighten},
                                   {"replace", Merge::kReplace},
                                   {"keep", Merge::kKeep},
                                   {"off", Merge::kOff}}),
           "What becomes of the fields that an upstream sent.")
      .group("refusal", refusal);
  return responses;
}

Type<Log> log_section() {
  using Level = Log::Level;
  Object<Log> log("log");
  log.key("level", &Log::level,
          choice<Level>(
              "level",
              {{"debug", Level::kDebug}, {"info", Level::kInfo}, {"warn", Level::kWarn}, {"error", Level::kError}}),
          "The least severe messages that are written.")
      .key("access", &Log::access, text(), "The access log, one JSON object a line: a path, stdout, or off.");
  return log;
}

Type<Http> http_section() {
  Object<Http> http("http");
  http.key("max_target", &Http::max_target, size<std::uint32_t>(64, kMebibyte),
           "The longest request target; 414 above it.")
      .key("max_head", &Http::max_head, size<std::uint32_t>(256, kMebibyte),
           "The longest request head; 431 above it.")
      .key("max_fields", &Http::max_fields, number<std::uint32_t>(1, 10'000), "The most header fields of a request.")
      .key("max_requests", &Http::max_requests, number<std::uint32_t>(1, UINT32_MAX),
           "The most requests of one connection.")
      .key("max_connections", &Http::max_connections, number<std::uint32_t>(1, 10'000'000),
           "The most client connections of the process.")
      .key("underscores", &Http::drop_underscores, choice<bool>("underscores", {{"refuse", false}, {"drop", true}}),
           "Field names with '_': 400, or removed.")
      .key("authority", &Http::target_authority_wins,
           choice<bool>("authority", {{"refuse", false}, {"replace", true}}),
           "A target whose authority differs from Host: 400, or it replaces Host.")
      .key("head", &Http::head_timeout, timeout(), "Until a request head is complete.")
      .key("idle", &Http::idle_timeout, timeout(), "Between two requests.")
      .key("body", &Http::body_timeout, timeout(), "Without a byte of the body.")
      .key("body_min_rate", &Http::body_min_rate, size<std::uint32_t>(0, 1 << 30),
           "The slowest body, in bytes per second over 10 s.")
      .key("write", &Http::write_timeout, timeout(), "Without progress in sending an answer.")
      .check(check_http);
  return http;
}

Type<Shutdown> shutdown_section() {
  Object<Shutdown> shutdown("shutdown");
  shutdown
      .key("delay", &Shutdown::delay, duration(nanoseconds(0), days(1)),
           "Goes on accepting for so long after SIGTERM.")
      .key("timeout", &Shutdown::timeout, duration(nanoseconds(0), days(1)),
           "Then open requests have so long to end.");
  return shutdown;
}

}  // namespace weir::config
