// SPDX-License-Identifier: Apache-2.0
//
// A session from a head to what becomes of the request: judged at once, or again when something has been looked up,
// or when the shared store has decided.
#include <utility>

#include "weir/gateway/session.h"
#include "weir/gateway/worker.h"

namespace weir::gateway {
namespace {

using http::Parsed;
using State = Exchange::State;

}  // namespace

State Session::handle_request() {
  const http::RequestHead& head = parser().head();
  ++requests_;
  began_ = worker_.loop().now();
  head_begun_ = false;
  received_ = drained_ = 0;
  gone_deadline_ = Instant::max();
  pace_began_ = began_;
  pace_bytes_ = 0;
  body_held_up_ = false;
  head_only_ = head.method_id == http::Method::kHead;
  minor_version_ = head.minor_version;
  keep_alive_ = head.keep_alive && requests_ < generation_->shared->config.http.max_requests && !worker_.draining();
  body_ = MessageBody(head.body);
  exchange_ = worker_.take_exchange();

  exchange_->request_id().clear();
  ticket_ = 0;
  looked_up_ = LookedUp(worker_.lookups() != nullptr);
  return judge_request();
}

// What the request needs to know has been looked up, or cannot be: its head, which has not been touched, is read once
// more, since it may have moved.
State Session::judge_again() {
  looking_up_ = false;
  if (cut_) return State::kGone;
  keep_alive_ = keep_alive_ && !worker_.draining();
  parser().reset();
  if (parser().parse(input_.view()) != Parsed::kComplete) return State::kGone;  // it was complete before
  return judge_request();
}

State Session::judge_request() {
  const http::RequestHead& head = parser().head();
  const http::Field* id = head.only(http::FieldId::kXRequestId);
  const bool keep_request_id = id != nullptr && is_valid_request_id(head.value(*id));
  std::string& request_id = exchange_->request_id();
  if (keep_request_id) {
    request_id.assign(head.value(*id));
  } else if (request_id.empty()) {
    worker_.make_request_id(request_id);
  }
  Scratch& scratch = worker_.scratch();
  const Arrived request{head, peer_, worker_.times(), looked_up_};
  const Verdict verdict =
      worker_.pipeline().judge(*generation_, request, scratch, exchange_->decision(), worker_.metrics(), *this);
  service_ = verdict.service;
  if (worker_.log() != nullptr) {
    exchange_->record().begin(worker_.loop().wall(), request_id, peer_, head, *generation_->shared, verdict,
                              exchange_->decision(), scratch);
  }
  if (verdict.kind == Verdict::Kind::kLookUp) return begin_look_up(*scratch.wanted);
  if (verdict.kind == Verdict::Kind::kDecide) return begin_decision(head, verdict, keep_request_id);
  if (verdict.kind != Verdict::Kind::kForward) return answer_verdict(head, verdict);
  prepare(head, verdict, keep_request_id);
  return wait_or_start();
}

State Session::begin_look_up(const partners::Subject& subject) {
  worker_.metrics().lookups.wanted.add();
  if (!parser_) parser_ = worker_.lend_parser();  // with the rules by which it was read
  wanted_ = subject;
  looking_up_ = true;
  return State::kWaiting;
}

// The head is gone when the decision has come, so the request is made ready for the upstream before.
State Session::begin_decision(const http::RequestHead& head, const Verdict& verdict, bool keep_request_id) {
  std::swap(exchange_->charges(), worker_.scratch().charges);
  prepare(head, verdict, keep_request_id);
  verdict_ = verdict;
  deciding_ = true;
  return State::kWaiting;
}

State Session::decided() {
  deciding_ = false;
  if (worker_.log() != nullptr) {
    exchange_->record().decided(*generation_->shared, verdict_, exchange_->decision());
  }
  if (cut_) return State::kGone;
  return verdict_.kind == Verdict::Kind::kForward ? wait_or_start() : exchange_->refuse(verdict_.problem);
}

// An answer of our own, before anything of the body was read.
State Session::answer_verdict(const http::RequestHead& head, const Verdict& verdict) {
  const bool body_is_here = body_.done() || (head.body.kind == http::BodyKind::kLength &&
                                             input_.view().size() - parser().consumed() >= head.body.length);
  if (!rest_can_be_drained() || (head.expects_continue && !body_is_here)) keep_alive_ = false;
  if (verdict.kind == Verdict::Kind::kProblem && verdict.problem.ends_connection) keep_alive_ = false;
  input_.consume(parser().consumed());
  parser_.reset();
  Text& out = worker_.scratch().out;
  if (verdict.kind == Verdict::Kind::kOptions) {
    write_options(out, context(keep_alive_));
    send(out.view());
    record({.status = 204, .code = {}, .duration = {}, .upstream = {}, .upstream_address = {}});
    release_exchange();
  } else {
    refuse(verdict, {});
  }
  return State::kAnswered;
}

// The answer to what goes to no upstream: 429, or a problem.
void Session::refuse(const Verdict& verdict, nanoseconds duration) {
  Text& out = worker_.scratch().out;
  const bool by_limit = verdict.kind == Verdict::Kind::kRefuse;
  const Generation& generation = *generation_->shared;
  const std::size_t body_size = by_limit
                                    ? write_refusal(out, exchange_->decision(), generation.fields,
                                                    generation.config.responses.refusal_detail, context(keep_alive_))
                                    : write_problem(out, verdict.problem, context(keep_alive_));
  send(out.view());
  record({.status = by_limit ? 429 : verdict.problem.status,
          .code = by_limit ? std::string_view{} : verdict.problem.code,
          .bytes_in = 0,
          .bytes_out = body_size,
          .duration = duration,
          .upstream = {},
          .upstream_address = {}});
  release_exchange();
}

void Session::prepare(const http::RequestHead& head, const Verdict& verdict, bool keep_request_id) {
  const config::Service& service = generation_->shared->config.services[verdict.service];
  Upstream& upstream = generation_->upstreams[service.upstream];
  const std::string trace = has_broken_trace(head) ? worker_.make_trace_parent() : std::string();
  write_request_head(exchange_->request_bytes(), head,
                     {.identifier = generation_->shared->identifier,
                      .peer = peer_,
                      .preserve_host = upstream.config().preserve_host,
                      .upstream_authority = upstream.shared->authority,
                      .request_id = exchange_->request_id(),
                      .keep_request_id = keep_request_id,
                      .trace_parent = trace});
  exchange_->prepare({.upstream = &upstream,
                      .fields = &generation_->shared->fields,
                      .pipeline = &worker_.pipeline(),
                      .date = worker_.date(),
                      .method = head.method_id,
                      .minor_version = head.minor_version,
                      .expects_continue = head.expects_continue,
                      .keep_alive = keep_alive_,
                      .max_body = service.max_body});
  input_.consume(parser().consumed());
  parser_.reset();
}

}  // namespace weir::gateway
