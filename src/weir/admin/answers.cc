// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/answers.h"

#include "weir/http/status.h"

namespace weir::admin {
namespace {

using partners::Json;
using partners::Refusal;

server::Answer document(int status, const char* type, const Json& body) {
  server::Answer answer;
  answer.status = status;
  answer.content_type = type;
  answer.body = body.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  answer.fields.emplace_back("Cache-Control", "no-store");
  return answer;
}

struct Meaning {
  int status;
  const char* code;
};

Meaning meaning_of(Refusal::Kind kind, bool conditional) {
  switch (kind) {
    case Refusal::Kind::kWrong:
      return {422, "wrong-rows"};
    case Refusal::Kind::kConflict:
      return {conditional ? 412 : 409, "changed-meanwhile"};
    case Refusal::Kind::kAbsent:
      return {404, "no-such-row"};
    case Refusal::Kind::kInUse:
      return {409, "in-use"};
    case Refusal::Kind::kUnavailable:
      return {503, "database-away"};
    case Refusal::Kind::kUnknown:
      return {500, "outcome-unknown"};
    case Refusal::Kind::kUnusable:
      break;
  }
  return {500, "database-unusable"};
}

}  // namespace

server::Answer json(int status, const Json& body) { return document(status, "application/json", body); }

server::Answer problem(int status, std::string_view code, std::string_view detail, const partners::Faults& faults) {
  Json body{{"type", "about:blank"}, {"title", http::reason_phrase(status)}, {"status", status}, {"code", code}};
  body["detail"] = detail;
  for (const partners::Fault& fault : faults) body["faults"].push_back(to_json(fault));
  return document(status, "application/problem+json", body);
}

server::Answer problem(const Refusal& refusal, bool conditional) {
  const Meaning meaning = meaning_of(refusal.kind, conditional);
  const std::string detail = refusal.faults.empty() ? refusal.message : to_text(refusal.faults);
  server::Answer answer = problem(meaning.status, meaning.code, detail, refusal.faults);
  if (meaning.status == 503) answer.fields.emplace_back("Retry-After", "1");
  return answer;
}

server::Answer problem(const Error& error) {
  if (error.kind == ErrorKind::kInvalid) return problem(422, "wrong-account", error.message);
  if (error.kind == ErrorKind::kIo) return problem(500, "outcome-unknown", error.message);
  server::Answer answer = problem(503, "store-away", error.message);
  answer.fields.emplace_back("Retry-After", "1");
  return answer;
}

}  // namespace weir::admin
