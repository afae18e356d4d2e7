// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/request_record.h"

#include <algorithm>

#include "weir/gateway/access_log.h"

namespace weir::gateway {
namespace {

constexpr std::size_t kMostPath = 2048;  // keeps a line below 8 KiB, escapes included

// 2026-11-30T02:00:20.123Z
void append_time(Text& out, WallTime at) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(at);
  const auto day = std::chrono::floor<std::chrono::days>(millis);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(millis - day);
  out.padded(static_cast<int>(date.year()), 4).append('-');
  out.padded(static_cast<unsigned>(date.month()), 2).append('-');
  out.padded(static_cast<unsigned>(date.day()), 2).append('T');
  out.padded(time.hours().count(), 2).append(':');
  out.padded(time.minutes().count(), 2).append(':');
  out.padded(time.seconds().count(), 2).append('.');
  out.padded(time.subseconds().count(), 3).append('Z');
}

// Milliseconds with three decimals.
void append_millis(Text& out, nanoseconds duration) {
  const std::int64_t micros = std::max<std::int64_t>(0, duration.count() / 1000);
  out.number(micros / 1000).append('.').padded(micros % 1000, 3);
}

}  // namespace

void RequestRecord::text(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  line_.append(",\"").append(key).append("\":\"");
  append_json_text(line_, value);
  line_.append('"');
}

void RequestRecord::number(std::string_view key, std::int64_t value) {
  line_.append(",\"").append(key).append("\":").number(value);
}

void RequestRecord::begin_line(WallTime at) {
  line_.clear();
  line_.append("{\"time\":\"");
  append_time(line_, at);
  line_.append('"');
}

void RequestRecord::begin(WallTime at, std::string_view request_id, const identity::Peer& peer,
                          const http::RequestHead& head, const Generation& generation, const Verdict& verdict,
                          const decide::Decision& decision, const Scratch& scratch) {
  begin_line(at);
  text("request_id", request_id);
  text("method", head.method);
  text("host", head.host);
  text("path", head.path.substr(0, kMostPath));  // not the query: it may hold secrets
  text("peer", peer.text);
  if (verdict.service != Verdict::kNoService) {
    text("service", generation.config.services[verdict.service].name);
    const identity::Attributes& caller = scratch.caller.attributes;
    text("address", caller.get(identity::kAddress));
    text("partner", caller.get(identity::kPartner));
    text("user", caller.get(identity::kUser));
    text("plan", caller.get(identity::kPlan));
    text("key", caller.get(identity::kKey));
    if (scratch.route.endpoint != route::Route::kNoEndpoint) {
      text("endpoint", generation.router.patterns()[scratch.route.endpoint].text);
    }
  }
  if (verdict.kind != Verdict::Kind::kDecide) decided(generation, verdict, decision);
}

void RequestRecord::decided(const Generation& generation, const Verdict& verdict, const decide::Decision& decision) {
  const auto word = [&]() -> std::string_view {
    if (verdict.kind == Verdict::Kind::kRefuse) return "refused";
    if (verdict.kind != Verdict::Kind::kForward) return "rejected";
    if (verdict.bypass) return "bypass";
    return decision.reached == decide::Reached::kNoLimit ? "unlimited" : "admitted";
  };
  text("decision", word());
  if (decide::is_without_store(decision.reached)) text("reached", decide::word_of(decision.reached));
  if (const decide::LimitOutcome* binding = decision.binding()) {
    text("limit", generation.policy.limits()[binding->limit].name);
    number("remaining", binding->outcome.remaining);
    if (!decision.admitted && binding->outcome.retry_after) {
      line_.append(",\"retry_after_ms\":");
      append_millis(line_, nanoseconds(*binding->outcome.retry_after));
    }
  }
  if (decision.waits()) {
    line_.append(",\"delay_ms\":");
    append_millis(line_, nanoseconds(decision.starts_at() - decision.decided_at));
  }
  std::string_view separator = ",\"shadow_refused\":[";
  for (const decide::LimitOutcome& shadow : decision.shadow) {
    if (shadow.outcome.admitted) continue;
    line_.append(separator).append('"');
    append_json_text(line_, generation.policy.limits()[shadow.limit].name);
    line_.append('"');
    separator = ",";
  }
  if (separator == ",") line_.append(']');
}

void RequestRecord::begin_rejected(WallTime at, const identity::Peer& peer) {
  begin_line(at);
  text("peer", peer.text);
  text("decision", "rejected");
}

std::string_view RequestRecord::finish(const Ending& ending) {
  number("status", ending.status);
  text("code", ending.code);
  text("upstream", ending.upstream_address);
  number("bytes_in", static_cast<std::int64_t>(ending.bytes_in));
  number("bytes_out", static_cast<std::int64_t>(ending.bytes_out));
  line_.append(",\"duration_ms\":");
  append_millis(line_, ending.duration);
  if (ending.upstream.count() > 0) {
    line_.append(",\"upstream_ms\":");
    append_millis(line_, ending.upstream);
  }
  line_.append("}\n");
  return line_.view();
}

}  // namespace weir::gateway
