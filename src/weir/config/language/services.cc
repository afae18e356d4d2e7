// SPDX-License-Identifier: Apache-2.0
#include "weir/config/http_types.h"
#include "weir/config/language.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

// The node of one value of a list, or of the whole service where the list has its default.
Place place_of(const Fields& fields, std::string_view list, std::size_t index) {
  const Node* node = fields.find(list);
  return node != nullptr && index < node->items.size() ? node->items[index]->place : fields.map().place;
}

void check_route(Reader& reader, const Fields& fields, const std::string& host, const std::string& path,
                 std::size_t index) {
  const Place place = place_of(fields, "paths", index);
  const auto first = reader.scope.routes.seen(host + '\0' + path, place);
  if (!first) return;
  reader.report.error(place, fmt::format("host '{}' with path '{}' has a service already, in line {}",
                                         host.empty() ? "*" : host, path, *first));
}

void check_routes(Reader& reader, const Fields& fields, Service& service) {
  if (service.paths.empty()) service.paths.emplace_back("/");
  if (!fields.good("hosts") || !fields.good("paths")) {
    reader.scope.paths.add_unknown_service();
    return;
  }
  reader.scope.paths.add_service(service.paths);
  const std::vector<std::string> every_host{""};
  for (const std::string& host : service.hosts.empty() ? every_host : service.hosts) {
    for (std::size_t i = 0; i < service.paths.size(); ++i) check_route(reader, fields, host, service.paths[i], i);
  }
}

}  // namespace

Type<std::vector<Service>> services_section() {
  Object<Service> service("a service");
  service
      .required("upstream", &Service::upstream, reference("upstream", &Scope::upstreams), "The name of an upstream.")
      .key("hosts", &Service::hosts, list_of(host(), 1), "Default: every host.")
      .key("paths", &Service::paths, list_of(path_prefix(), 1), "Prefixes by whole segments. Default: everything.")
      .key("max_body", &Service::max_body,
           word_or<std::optional<std::uint64_t>>("unlimited", std::nullopt,
                                                 as<std::optional<std::uint64_t>>(size<std::uint64_t>(0, INT64_MAX))),
           "The largest request body; 413 above it.")
      .later("cors", "answers to CORS preflights by the gateway")
      .check(check_routes);
  return named<Service>(&Scope::services, service);
}

}  // namespace weir::config
