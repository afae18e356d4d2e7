// SPDX-License-Identifier: Apache-2.0
//
// What reading a configuration carries along: where faults go, and the names that were met so far. Sections are read
// in the order of the language's table, not of the file, so that a reference is checked where it stands.
// Not thread safe.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/config/report.h"
#include "weir/config/served_paths.h"
#include "weir/config/yaml.h"

namespace weir::config {

// Names that others may refer to, in order.
class Names {
 public:
  void add(const std::string& name);
  std::optional<std::size_t> find(const std::string& name) const;
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
  std::unordered_map<std::string, std::size_t> index_;
};

// Things that may be there only once.
class Unique {
 public:
  // The line of the first one with this text; absent when this is it.
  std::optional<int> seen(const std::string& text, const Place& place);

 private:
  std::unordered_map<std::string, int> lines_;
};

// What the sections before have said.
struct Scope {
  Names upstreams;
  Names services;
  bool trusted_proxies = false;      // there are some
  bool policies = false;             // there is a database with rows
  std::set<std::string> attributes;  // that callers yield
  bool attributes_complete = true;   // false: a caller could not be read, so others may exist
  std::set<std::string> plans;       // that keys have
  bool plans_complete = true;        // false: plans come from elsewhere too
  Unique limits;
  Unique routes;  // host and path
  ServedPaths paths;
  Unique api_keys;                                             // SHA-256
  Unique identity_fields;                                      // names of header fields, lower case
  bool tokens = false;                                         // some caller is known by a token
  std::map<std::string, std::set<std::string>> token_issuers;  // by header field, lower case; "": any

  // True for what every request has, and for what some caller yields.
  bool has_attribute(const std::string& name) const;
  static bool is_always_present(std::string_view attribute);
};

struct Reader {
  Report& report;
  std::filesystem::path folder;  // of the configuration file
  Scope scope{};
  std::size_t unavailable_words = 0;
  std::size_t comparisons_left = 200'000;

  // did_you_mean() as long as that takes no time to speak of: a large file full of faults gets no more of it.
  std::string suggest(std::string_view word, std::span<const std::string> candidates);

  // A word of the language that this version does not act on.
  void unavailable(const Place& place, const std::string& subject, const std::string& meaning);
};

// "a text", "a list", ...: what stands there, for messages.
std::string_view what_is(const Node& node);

}  // namespace weir::config
