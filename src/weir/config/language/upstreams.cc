// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language.h"
#include "weir/config/network_types.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;

Type<UpstreamTimeouts> timeouts() {
  Object<UpstreamTimeouts> object("timeouts");
  object.key("connect", &UpstreamTimeouts::connect, duration(milliseconds(1), days(1)), "Until a connection stands.")
      .key("response", &UpstreamTimeouts::response, duration(milliseconds(1), days(1)),
           "Until the first byte of the answer, and each gap after it.")
      .key("idle", &UpstreamTimeouts::idle, duration(milliseconds(1), days(1)),
           "How long an unused connection is kept.");
  return object;
}

}  // namespace

Type<std::vector<Upstream>> upstreams_section() {
  Object<Upstream> upstream("an upstream");
  upstream.key("url", &Upstream::endpoints, list_of_one(upstream_url()), "http://name:port or unix:/path.")
      .key("urls", &Upstream::endpoints, list_of(upstream_url(), 1),
           "Several: round robin with passive health checks.")
      .exactly_one({"url", "urls"})
      .key("preserve_host", &Upstream::preserve_host, boolean(), "Send the client's Host; false: the upstream's own.")
      .key("timeouts", &Upstream::timeouts, timeouts(), "How long the gateway waits for the upstream.")
      .key("max_running", &Upstream::max_running, number<std::uint32_t>(1, 1'000'000),
           "Requests under way at once; more are answered with 503.")
      .later("tls", "TLS to an upstream");
  return named<Upstream>(&Scope::upstreams, upstream);
}

}  // namespace weir::config
