// SPDX-License-Identifier: Apache-2.0
//
// What was written after `weir policies`. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "weir/partners/change.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace weir::app {

// Of all its commands; absent: not written.
struct PoliciesArguments {
  std::string file;
  std::string name;      // of a plan or partner, the id of a key
  std::string document;  // a YAML file; "-" is standard input
  bool json = false;
  bool dry_run = false;
  bool prune = false;
  std::optional<std::string> by;

  std::optional<std::string> plan, partner, limit, service, endpoint;
  std::optional<std::string> algorithm, rate, mode, note, not_before, expires;
  std::optional<std::int64_t> burst;
  std::optional<bool> enabled;

  std::optional<std::string> id, key_file, sha256;  // of new keys
  std::string grace = "7day";                       // of rotation

  std::string prefix;  // of lists
  std::size_t most = 0;
  std::int64_t after = 0;
  std::optional<std::string> kind;
};

// What is to be done, decided while the command line is read. Returns the exit code.
using PoliciesCommand = std::function<int(const PoliciesArguments&)>;

// Adds `policies` and everything below it. `chosen` is set when one of its commands is written. Both outlive the app.
void add_policies_commands(CLI::App& app, PoliciesArguments& arguments, PoliciesCommand& chosen);

// weir policies migrate FILE
int migrate_policies(const PoliciesArguments& arguments);
// weir policies changes FILE, check FILE
int list_policy_changes(const PoliciesArguments& arguments);
int check_policies(const PoliciesArguments& arguments);
// weir policies export FILE, import FILE DOCUMENT, diff FILE DOCUMENT
int export_policies(const PoliciesArguments& arguments);
int import_policies(const PoliciesArguments& arguments);
int diff_policies(const PoliciesArguments& arguments);
// weir policies plans|partners|keys|limits list|get|put|delete FILE ...
int list_rows(partners::RowKind kind, const PoliciesArguments& arguments);
int get_row(partners::RowKind kind, const PoliciesArguments& arguments);
int put_row(partners::RowKind kind, const PoliciesArguments& arguments);
int delete_row(partners::RowKind kind, const PoliciesArguments& arguments);
// weir policies keys create|rotate FILE ...
int create_key(const PoliciesArguments& arguments);
int rotate_key(const PoliciesArguments& arguments);

}  // namespace weir::app
