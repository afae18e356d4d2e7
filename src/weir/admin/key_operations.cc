// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/key_operations.h"

#include <chrono>
#include <utility>
#include <variant>

#include "weir/config/scalars.h"
#include "weir/partners/digest.h"
#include "weir/partners/fields.h"

namespace weir::admin {
namespace {

using partners::FieldReader;
using partners::Outcome;
using partners::Repository;
using Secret = std::variant<std::monostate, std::string, partners::KeyDigest>;

constexpr nanoseconds kUsualGrace = std::chrono::hours(7 * 24);

Secret secret_of(FieldReader& fields) {
  std::string clear = fields.text("key");
  const std::string digits = fields.text("key_sha256");
  if (!clear.empty() && !digits.empty()) fields.fault("key_sha256", "says the same as `key`: write one of them");
  if (digits.empty()) return clear.empty() ? Secret() : Secret(std::move(clear));
  const auto digest = partners::parse_hex(digits);
  if (!digest) fields.fault("key_sha256", "a SHA-256 has 64 hexadecimal digits, in lower case");
  return digest.value_or(partners::KeyDigest{});
}

Outcome<void> faults_of(FieldReader& fields, const std::string& row) {
  partners::Faults faults = fields.take_faults();
  if (faults.empty()) return {};
  for (partners::Fault& fault : faults) fault.row = row;
  return partners::refuse(std::move(faults));
}

Outcome<partners::KeyRequest> key_request(const Question& question) {
  FieldReader fields(question.body);
  partners::KeyRequest request;
  request.key.id = fields.text("id");
  request.key.partner = fields.required("partner");
  request.key.plan = fields.text("plan");
  request.key.enabled = fields.truth("enabled").value_or(true);
  request.key.not_before = fields.time("not_before");
  request.key.expires = fields.time("expires");
  request.key.note = fields.text("note");
  request.secret = secret_of(fields);
  if (auto fault = faults_of(fields, "the new key"); !fault) return std::unexpected(fault.error());
  return request;
}

Outcome<partners::Rotation> rotation_of(const Question& question, WallTime now) {
  FieldReader fields(question.body);
  const std::string grace_text = fields.text("grace");
  const auto expires = fields.time("expires");
  nanoseconds grace = kUsualGrace;
  if (!grace_text.empty()) {
    const auto parsed = config::parse_duration(grace_text);
    if (!parsed) fields.fault("grace", parsed.error().message);
    grace = parsed.value_or(grace);
    if (expires) fields.fault("grace", "says the same as `expires`: write one of them");
  }
  partners::Rotation rotation{.id = question.names.front(),
                              .expires = expires.value_or(std::chrono::floor<std::chrono::seconds>(now + grace)),
                              .new_id = fields.text("new_id"),
                              .secret = secret_of(fields)};
  if (auto fault = faults_of(fields, "the rotation"); !fault) return std::unexpected(fault.error());
  return rotation;
}

// A key that came with the request is not repeated, and one that was not written is of no use to anybody.
server::Answer answer_of(const Outcome<partners::NewKey>& made, const Question& question) {
  if (!made) return problem(made.error(), false);
  const bool dry_run = question.is_set("dry_run");
  partners::Json body = json_of(made->applied, question);
  body["id"] = made->key.id;
  const bool is_new = !made->clear.empty() && !question.body.contains("key");
  if (is_new && !dry_run) body["key"] = made->clear;
  return json(dry_run ? 200 : 201, body);
}

}  // namespace

void add_key_operations(Operations& operations, PolicyDesk& desk, const Clock& clock) {
  const auto create = [&desk](const Question& question) -> io::Task<server::Answer> {
    const auto request = key_request(question);
    if (!request) co_return problem(request.error(), false);
    auto running = desk.write(
        question, [&](Repository& repository) { return repository.create_key(*request, options_of(question)); });
    co_return answer_of(co_await running, question);
  };
  const auto rotate = [&desk, &clock](const Question& question) -> io::Task<server::Answer> {
    const auto rotation = rotation_of(question, clock.wall());
    if (!rotation) co_return problem(rotation.error(), false);
    auto running = desk.write(
        question, [&](Repository& repository) { return repository.rotate_key(*rotation, options_of(question)); });
    co_return answer_of(co_await running, question);
  };
  operations.add({"POST", "/v1/keys", {"dry_run"}, Operations::Body::kObject, create});
  operations.add({"POST", "/v1/keys/{id}/rotate", {"dry_run"}, Operations::Body::kObject, rotate});
}

}  // namespace weir::admin
