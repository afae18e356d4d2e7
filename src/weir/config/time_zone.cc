// SPDX-License-Identifier: Apache-2.0
#include "weir/config/time_zone.h"

#include <cctz/time_zone.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "weir/config/http_types.h"

namespace weir::config {
namespace {

// Names and links of the whole database in one small file (zic(8)); cctz cannot list them.
constexpr const char* kDatabase = "/usr/share/zoneinfo/tzdata.zi";
constexpr const char* kNamePattern = "^[A-Za-z][A-Za-z0-9_+/-]*$";

// Keeps out what cctz would take for a path or for a zone of its own making.
bool is_zone_name(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_+/-").contains(c);
  };
  return !name.empty() && name.size() <= 64 && name.front() != '/' && std::ranges::all_of(name, is_part);
}

bool exists(const std::string& name) {
  cctz::time_zone zone;
  return is_zone_name(name) && cctz::load_time_zone(name, &zone);
}

// `Z NAME ...` is a zone, `L TARGET NAME` another name of one. Empty where the file is not there.
std::vector<std::string> zones_of_this_machine() {
  std::vector<std::string> zones;
  std::ifstream database(kDatabase);
  for (std::string line; std::getline(database, line);) {
    if (!line.starts_with("Z ") && !line.starts_with("L ")) continue;
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    if (kind == "L") words >> name;
    zones.push_back(name);
  }
  return zones;
}

std::string suggestion(Reader& reader, const std::string& name) {
  if (reader.report.full()) return {};
  std::string near = near_time_zone(reader, name, zones_of_this_machine());
  return near.empty() ? "time zones are named like Europe/Berlin; they come from the package tzdata" : near;
}

}  // namespace

std::string near_time_zone(Reader& reader, std::string_view name, const std::vector<std::string>& known) {
  const std::string city = '/' + lower_case(name.substr(name.rfind('/') + 1));
  const auto same_city = std::ranges::find_if(known, [&](const auto& k) { return lower_case(k).ends_with(city); });
  if (city.size() > 1 && same_city != known.end()) return fmt::format("did you mean '{}'?", *same_city);
  std::vector<std::string> places;  // not the abbreviations, which are all alike
  std::ranges::copy_if(known, std::back_inserter(places), [](const auto& k) { return k.contains('/'); });
  return reader.suggest(name, places);
}

Type<std::string> time_zone() {
  Type<std::string> type;
  type.schema = or_environment({{"type", "string"}, {"pattern", kNamePattern}});
  type.read = [](Reader& reader, const Node& node, std::string& out) {
    if (node.kind != Node::Kind::kText) return report_mismatch(reader, node, "a time zone such as Europe/Berlin");
    out = node.text;
    if (exists(node.text)) return true;
    reader.report.error(node.place, fmt::format("there is no time zone '{}' on this machine", node.text),
                        suggestion(reader, node.text));
    return false;
  };
  type.show = [](const std::string& zone) { return Json(zone); };
  return type;
}

}  // namespace weir::config
