// SPDX-License-Identifier: Apache-2.0
//
// weir policies export|import|diff.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "weir/app/commands.h"
#include "weir/app/policies_files.h"
#include "weir/app/policies_output.h"
#include "weir/app/policies_session.h"
#include "weir/partners/document.h"

namespace weir::app {
namespace {

void tell(const std::vector<config::Diagnostic>& diagnostics) {
  for (const config::Diagnostic& one : diagnostics) std::fputs(config::to_text(one).c_str(), stderr);
}

// What the file would change. Fails with the exit code.
std::expected<partners::Applied, int> import(const PoliciesArguments& arguments) {
  const auto text = read_document(arguments.document);
  if (!text) return std::unexpected(kFailed);
  const std::string name = arguments.document == "-" ? "standard input" : arguments.document;
  const auto document = partners::parse_document(*text, name, environment_variable);
  if (!document) {
    tell(document.error());
    return std::unexpected(kFailed);
  }
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return std::unexpected(session.error());
  auto applied = (*session)->announced(
      (*session)->repository().import(document->rows, arguments.prune, write_options(arguments)));
  if (applied) return *std::move(applied);
  if (applied.error().faults.empty()) return std::unexpected((*session)->tell(applied.error()));
  tell(partners::diagnostics_of(*document, applied.error().faults));
  return std::unexpected(kFailed);
}

void print_counts(const partners::Applied& applied) {
  std::size_t counts[3] = {};
  for (const partners::Change& change : applied.changes) ++counts[static_cast<std::size_t>(change.action)];
  std::printf("%zu created, %zu changed, %zu deleted, %zu unchanged\n", counts[0], counts[1], counts[2],
              applied.unchanged);
}

}  // namespace

std::optional<std::string> read_document(const std::string& file) {
  if (file == "-") return std::string(std::istreambuf_iterator(std::cin), {});
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  if (stream) text.assign(std::istreambuf_iterator(stream), {});
  if (stream && !stream.bad() && errno == 0) return text;
  std::fprintf(stderr, "%s: cannot be read: %s\n", file.c_str(), std::strerror(errno));
  return std::nullopt;
}

int export_policies(const PoliciesArguments& arguments) {
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const auto all = (*session)->repository().all();
  if (!all) return (*session)->tell(all.error());
  tell_faults(all->faults);
  std::fputs(partners::to_yaml(all->rows).c_str(), stdout);
  return kDone;
}

int import_policies(const PoliciesArguments& arguments) {
  const auto applied = import(arguments);
  if (!applied) return applied.error();
  print_changes(*applied, arguments);
  if (!arguments.json) print_counts(*applied);
  return kDone;
}

int diff_policies(const PoliciesArguments& arguments) {
  PoliciesArguments all = arguments;
  all.prune = true;
  all.dry_run = true;
  const auto applied = import(all);
  if (!applied) return applied.error() == kFailed ? kWrongUsage : applied.error();
  if (arguments.json) {
    print(changes_json(*applied, all));
  } else if (!applied->changes.empty()) {
    print_changes(*applied, arguments);
    print_counts(*applied);
  }
  return applied->changes.empty() ? kDone : kFailed;
}

}  // namespace weir::app
