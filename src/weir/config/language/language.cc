// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language.h"

#include <unordered_map>

#include "weir/config/http_types.h"
#include "weir/config/language/limit_checks.h"
#include "weir/config/network_types.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

bool has_api_key_caller(const Config& config) {
  return std::ranges::any_of(config.callers, [](const Caller& c) { return std::holds_alternative<ApiKeyCaller>(c); });
}

void check_addresses(Reader& reader, const Fields& fields, Config& config) {
  if (!config.admin || !fields.good("admin")) return;
  for (const Listener& listener : config.listeners) {
    if (listener.address.text != config.admin->address.text || is_any_port(listener.address)) continue;
    const bool is_default = !fields.has("admin");
    reader.report.error(fields.place(is_default ? "listeners" : "admin"),
                        fmt::format("admin and a listener have the same address '{}'", listener.address.text),
                        is_default ? "this is where admin listens by default; give it another address" : "");
  }
}

void check_keys(Reader& reader, const Fields& fields, Config& config) {
  if (!reader.scope.attributes_complete) return;
  const bool callers = has_api_key_caller(config);
  if (callers && config.keys.empty() && !config.policies && fields.good("policies")) {
    reader.report.warning(fields.place("callers"),
                          "there is an api_key caller but there are no keys: every key is refused");
  }
  if (!callers && fields.has("keys")) {
    reader.report.error(fields.place("keys"),
                        "there are keys but no caller of the kind api_key, so nobody could use them",
                        "add `callers: [{api_key: {header: X-Api-Key}}]`");
  }
}

void check_identify(Reader& reader, const Fields& fields, Config& config) {
  if (!config.identify_required) return;
  if (reader.scope.has_attribute("partner") || reader.scope.has_attribute("user")) return;
  reader.report.error(fields.place("identify"),
                      "no caller yields the attribute partner or user, so every request would be refused");
}

void check_policies(Reader& reader, const Fields& fields, Config&) {
  if (!fields.readable("policies") || !reader.scope.attributes_complete || reader.scope.has_attribute("partner"))
    return;
  reader.report.warning(fields.place("policies"),
                        "no caller yields the attribute partner, so nothing in the policies could ever act");
}

// Whoever is not trusted is not believed, whatever it says.
void check_proxy_protocol(Reader& reader, const Fields& fields, Config& config) {
  if (reader.scope.trusted_proxies || !fields.good("listeners")) return;
  for (std::size_t i = 0; i < config.listeners.size(); ++i) {
    const Listener& listener = config.listeners[i];
    if (!listener.proxy_protocol || !listener.address.unix_path.empty()) continue;
    reader.report.error(Fields(*fields.find("listeners")->items[i]).place("proxy_protocol"),
                        "PROXY headers are believed only from trusted proxies, but there are no trusted_proxies",
                        "add `trusted_proxies`");
  }
}

void check_client_address(Reader& reader, const Fields& fields, Config& config) {
  if (!fields.has("client_address")) return;
  if (!reader.scope.trusted_proxies) {
    reader.report.error(fields.place("client_address"),
                        "a field tells the client's address only if it comes from trusted proxies, but there are no "
                        "trusted_proxies",
                        "add `trusted_proxies`");
  }
  const std::string header = lower_case(config.client_address.header);
  if (config.client_address.trusted_hops > 0 && header != "x-forwarded-for" && header != "forwarded") {
    reader.report.error(
        Fields(*fields.find("client_address")).place("trusted_hops"),
        fmt::format("'trusted_hops' has no meaning with {}, which has one address", config.client_address.header));
  }
}

Type<ClientAddress> client_address() {
  Object<ClientAddress> object("client_address");
  object
      .key("header", &ClientAddress::header, header_name(),
           "X-Forwarded-For, Forwarded, or a field with one address.")
      .key("trusted_hops", &ClientAddress::trusted_hops, number<std::uint32_t>(0, 100),
           "Of a list: the client is so many places from the right. 0: the first that is no trusted proxy.");
  return object;
}

// Runs before the sections that refer to it.
Type<std::vector<IpNetwork>> trusted_proxies() {
  auto type = list_of(network());
  type.read = [read = std::move(type.read)](Reader& reader, const Node& node, std::vector<IpNetwork>& out) {
    const bool good = read(reader, node, out);
    reader.scope.trusted_proxies = !good || !out.empty();
    return good;
  };
  return type;
}

}  // namespace

Type<std::size_t> reference(const std::string& what, Names Scope::* names) {
  Type<std::size_t> type;
  type.schema = or_environment({{"type", Json::array({"string", "number", "boolean"})}});
  type.read = [what, names](Reader& reader, const Node& node, std::size_t& out) {
    if (node.kind != Node::Kind::kText) return report_mismatch(reader, node, "the name of " + what);
    const Names& known = reader.scope.*names;
    if (known.all().empty()) return false;  // that section itself is at fault
    const auto index = known.find(node.text);
    out = index.value_or(0);
    if (index) return true;
    reader.report.error(node.place, fmt::format("there is no {} '{}'", what, node.text),
                        reader.suggest(node.text, known.all()));
    return false;
  };
  return type;
}

Type<Config> language() {
  Object<Config> file("the file", "Configuration of weir, a rate-limiting API gateway.");
  file.required("listeners", &Config::listeners, listeners_section(), "Where clients connect.")
      .key("admin", &Config::admin, no_default(admin_section()),
           "Health, metrics and the admin API. Default: 127.0.0.1:9090; `off` for none.")
      .key("trusted_proxies", &Config::trusted_proxies, trusted_proxies(),
           "Networks whose X-Forwarded-For and identity fields are believed. Default: nobody's.")
      .key("client_address", &Config::client_address, no_default(client_address()),
           "The field in which trusted proxies tell who is behind them.")
      .key("ipv6_prefix", &Config::ipv6_prefix, number<int>(32, 128),
           "IPv6 addresses are grouped to this prefix before they are counted.")
      .required("upstreams", &Config::upstreams, upstreams_section(), "The servers behind the gateway, by name.")
      .required("services", &Config::services, services_section(),
                "Where a request goes, by name: the longest path of a matching host wins.")
      .key("callers", &Config::callers, callers_section(),
           "What a request tells about who sends it. Every entry is tried, each yields attributes.")
      .key("keys", &Config::keys, keys_section(), "API keys of small set-ups.")
      .key("policies", &Config::policies, policies_section(),
           "Plans, partners, keys and limits that change while the gateway runs. Default: none.")
      .key("identify", &Config::identify_required,
           choice<bool>("identify", {{"optional", false}, {"required", true}}),
           "`required`: a request without partner or user gets 401.")
      .key(
          "guessing", &Config::guessing, guessing_section(),
          "How often keys and tokens from one address may be wrong; then it gets 429 for those that are not known to "
          "be good. `off`: as often as it likes.")
      .key("bypass", &Config::bypass, bypass_section(), "Requests that are not limited at all.")
      .key("limits", &Config::limits, limits_section(), "What is counted, per whom, and how much of it is allowed.")
      .group("store", store_section())
      .key("responses", &Config::responses, responses_section(), "What clients are told.")
      .key("log", &Config::log, log_section(), "Logs.")
      .key("http", &Config::http, http_section(), "Bounds of HTTP/1.1 on the side of the clients.")
      .key("shutdown", &Config::shutdown, shutdown_section(), "How the process ends after SIGTERM.")
      .key("workers", &Config::workers, word_or<std::uint32_t>("auto", 0, number<std::uint32_t>(1, 1024)),
           "Event loops; `auto`: one per available core.")
      .later("service", "the decision for other gateways")
      .check(check_addresses)
      .check(check_proxy_protocol)
      .check(check_client_address)
      .check(check_keys)
      .check(check_identify)
      .check(check_policies)
      .check(warn_of_logs)
      .check(warn_of_what_cannot_act);
  return file;
}

}  // namespace weir::config
