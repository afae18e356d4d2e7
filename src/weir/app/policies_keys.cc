// SPDX-License-Identifier: Apache-2.0
//
// weir policies keys create|rotate. Clear keys come from files or standard input, because command lines are seen by
// everybody on the machine; a new one is printed once.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "weir/app/commands.h"
#include "weir/app/policies_files.h"
#include "weir/app/policies_output.h"
#include "weir/app/policies_session.h"
#include "weir/config/scalars.h"
#include "weir/partners/digest.h"
#include "weir/partners/time_text.h"

namespace weir::app {
namespace {

using partners::Json;
using Secret = std::variant<std::monostate, std::string, partners::KeyDigest>;

int wrong(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return kWrongUsage;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

// Fails with the exit code.
std::expected<Secret, int> secret_of(const PoliciesArguments& arguments) {
  if (arguments.sha256) {
    const auto digest = partners::parse_hex(lower(*arguments.sha256));
    if (!digest) return std::unexpected(wrong("--sha256: a SHA-256 has 64 hexadecimal digits"));
    return *digest;
  }
  if (!arguments.key_file) return Secret();
  auto text = read_document(*arguments.key_file);
  if (!text) return std::unexpected(kFailed);
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return *std::move(text);
}

// Fails with the exit code.
std::expected<std::optional<WallTime>, int> moment(const char* option, const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto time = partners::parse_time(*text);
  if (time) return time;
  return std::unexpected(
      wrong(fmt::format("--{}: '{}' is not a moment such as 2027-01-31T08:00:00Z", option, *text)));
}

int report(const PoliciesSession& session, const partners::Outcome<partners::NewKey>& made,
           const PoliciesArguments& arguments) {
  if (!made) return session.tell(made.error());
  // A key that was not written is of no use to anybody.
  const std::string clear = arguments.dry_run ? "" : made->clear;
  if (arguments.json) {
    Json json = changes_json(made->applied, arguments);
    json["id"] = made->key.id;
    if (!clear.empty() && !arguments.key_file) json["key"] = clear;
    print(json);
    return kDone;
  }
  print_changes(made->applied, arguments);
  if (!clear.empty() && !arguments.key_file) std::printf("key: %s\nIt is shown this once.\n", clear.c_str());
  return kDone;
}

}  // namespace

int create_key(const PoliciesArguments& arguments) {
  partners::KeyRequest request;
  request.key.id = arguments.id.value_or("");
  request.key.partner = arguments.partner.value_or("");
  request.key.plan = arguments.plan.value_or("");
  request.key.enabled = arguments.enabled.value_or(true);
  request.key.note = arguments.note.value_or("");
  auto secret = secret_of(arguments);
  if (!secret) return secret.error();
  request.secret = *std::move(secret);
  const auto not_before = moment("not-before", arguments.not_before);
  if (!not_before) return not_before.error();
  const auto expires = moment("expires", arguments.expires);
  if (!expires) return expires.error();
  request.key.not_before = *not_before;
  request.key.expires = *expires;
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  return report(**session,
                (*session)->announced((*session)->repository().create_key(request, write_options(arguments))),
                arguments);
}

int rotate_key(const PoliciesArguments& arguments) {
  auto secret = secret_of(arguments);
  if (!secret) return secret.error();
  const auto grace = config::parse_duration(arguments.grace);
  if (!grace) return wrong("--grace: " + grace.error().message);
  const auto expires = moment("expires", arguments.expires);
  if (!expires) return expires.error();
  const auto session = PoliciesSession::open(arguments.file);
  if (!session) return session.error();
  const WallTime end = std::chrono::floor<std::chrono::seconds>((*session)->now() + *grace);
  const partners::Rotation rotation{.id = arguments.name,
                                    .expires = expires->value_or(end),
                                    .new_id = arguments.id.value_or(""),
                                    .secret = *std::move(secret)};
  return report(**session,
                (*session)->announced((*session)->repository().rotate_key(rotation, write_options(arguments))),
                arguments);
}

}  // namespace weir::app
