// SPDX-License-Identifier: Apache-2.0
//
// One admitted request on its way: connect, send, stream both ways, answer, give the upstream connection back. A
// machine without suspension points: `advance` does everything that can be done now and says what it waits for.
// Memory is bounded: what one side does not take is not read from the other. Thread safety: the worker's thread.
// Reused from request to request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "weir/base/clock.h"
#include "weir/base/text.h"
#include "weir/decide/decision.h"
#include "weir/gateway/client_input.h"
#include "weir/gateway/client_output.h"
#include "weir/gateway/forward.h"
#include "weir/gateway/message_body.h"
#include "weir/gateway/pipeline.h"
#include "weir/gateway/problem.h"
#include "weir/gateway/request_record.h"
#include "weir/gateway/upstream.h"
#include "weir/http/parser.h"
#include "weir/io/stream.h"

namespace weir::gateway {

struct Scratch;

// The client's side of an exchange, as the session lends it.
struct ClientSide {
  io::Stream& stream;
  ClientInput& input;
  ClientOutput& output;
  io::Observer& observer;   // of the upstream's stream too
  MessageBody& body;        // of the request
  std::uint64_t& received;  // bytes of the request's body
};

class Exchange {
 public:
  enum class State : std::uint8_t {
    kWaiting,   // suspend until something happens
    kAnswered,  // a whole answer has been passed on
    kFailed,    // nothing was sent to the client: `problem` says what to answer
    kCut,       // the answer was begun and cannot be finished: the client's connection must be cut
    kGone,      // the client went away
  };
  // What it waits for, which decides the time limit.
  enum class Awaits : std::uint8_t { kConnect, kUpstream, kClientBody, kClientReads };

  Exchange(io::EventLoop& loop, Scratch& scratch) : loop_(loop), scratch_(scratch) {}
  ~Exchange();

  // What stays the same for the whole exchange.
  struct Plan {
    Upstream* upstream = nullptr;
    const RateLimitFields* fields = nullptr;
    const Pipeline* pipeline = nullptr;
    std::string_view date;  // of this second; refreshed by the owner of the pointed-to text
    http::Method method = http::Method::kOther;
    std::uint8_t minor_version = 1;
    bool expects_continue = false;
    bool keep_alive = true;  // as far as the request is concerned
    std::optional<std::uint64_t> max_body;
  };

  void prepare(const Plan& plan);
  // Starts what was prepared, now or later. Requires: request_bytes() holds the head for the upstream, decision()
  // what was decided.
  State begin(ClientSide& client);
  State advance(ClientSide& client);
  // The time for what it waits for has run out.
  State time_out(const ClientSide& client);
  // It will not begin: the client gets this answer.
  State refuse(const Problem& problem) { return fail(problem); }
  // The client's body comes too slowly.
  State body_too_slow();
  // The end, however it came: the upstream's connection goes back to the pool or is dropped.
  void finish();

  // The client's connection is to end with this answer.
  void end_connection() { plan_.keep_alive = false; }
  // A cut answer that an orderly close would make look whole: only a reset will do.
  bool end_looks_whole() const { return framing_ == ClientFraming::kUntilClose; }

  Text& request_bytes() { return out_; }
  std::string& request_id() { return request_id_; }
  decide::Decision& decision() { return decision_; }
  // Of a request that has to wait for its decision.
  policy::Charges& charges() { return charges_; }
  RequestRecord& record() { return record_; }
  const Problem& problem() const { return problem_; }

  Awaits awaits(const ClientSide& client) const;
  nanoseconds upstream_timeout() const;
  // The request cannot go on because the upstream does not take it.
  bool upstream_blocks() const;
  // Changes whenever there is progress in what it waits for.
  std::uint64_t progress(const ClientSide& client) const;
  // The body of the request is still to come, and it is not the upstream that holds it up.
  bool waits_for_body() const { return stage_ == Stage::kExchanging && !upload_done_ && !upload_stopped_; }
  // The client was never told to go on and may not send its body.
  bool body_withheld() const { return plan_.expects_continue && !continue_sent_ && !upload_done_; }
  bool keep_alive() const { return keep_alive_; }
  int status() const { return status_; }                  // of the answer that was begun; 0: none
  std::uint64_t body_sent() const { return body_sent_; }  // payload bytes of the answer
  nanoseconds upstream_time() const { return first_byte_ - started_; }
  std::string_view upstream_address() const {
    return host_ == nullptr ? std::string_view{} : host_->endpoint().endpoint().text;
  }

 private:
  enum class Stage : std::uint8_t { kIdle, kConnecting, kExchanging };

  State choose_upstream(ClientSide& client);
  std::unique_ptr<UpstreamConnection> take_idle(UpstreamHost& host) const;
  State connecting(ClientSide& client);
  bool is_idempotent() const;
  bool may_retry() const;
  bool has_retry_left() const;
  State upstream_lost(ClientSide& client, const Problem& problem);
  State fail(const Problem& problem);
  bool upstream_still_takes();
  void drop_connection();

  State upload(ClientSide& client);
  State stage_body(ClientSide& client);
  void stage(std::string_view payload, const MessageBody& body);

  State download(ClientSide& client);
  State spoken_unasked(ClientSide& client);
  State take_input(ClientSide& client, std::string_view received);
  State take_head(ClientSide& client, std::string_view& input);
  State begin_answer(const http::ResponseHead& head, ClientSide& client);
  State take_body(ClientSide& client, std::string_view& input);
  State upstream_ended(ClientSide& client, bool in_order);
  void append_payload(std::string_view payload);
  void end_answer();
  State send_to_client(ClientSide& client, std::string_view bytes);

  io::EventLoop& loop_;
  Scratch& scratch_;
  Plan plan_;
  decide::Decision decision_;
  policy::Charges charges_;
  std::string request_id_;
  RequestRecord record_;
  Problem problem_;

  // Towards the upstream. out_ holds the head and, while it is whole, the body.
  std::unique_ptr<UpstreamConnection> connection_;
  Text out_;
  std::size_t sent_ = 0;
  std::uint64_t staged_ = 0;  // payload bytes of the request so far
  bool written_ = false;      // some byte went to the current connection
  bool replayable_ = true;    // out_ holds the message from its first byte
  bool upload_done_ = false;  // the whole request is in out_ or sent
  bool upload_stopped_ = false;
  bool continue_sent_ = false;
  bool retrying_ = false;
  bool fresh_only_ = false;  // an idle connection was of no use
  int attempts_ = 0;
  UpstreamHost* host_ = nullptr;  // that was tried last
  const UpstreamHost* failed_host_ = nullptr;

  // Towards the client.
  std::unique_ptr<http::ResponseParser> parser_;  // only while a head comes in pieces
  io::Buffer pieces_;                             // received, but not complete enough to be used
  MessageBody answer_body_;
  ClientFraming framing_ = ClientFraming::kNone;
  bool answer_sent_ = false;     // some of the final answer is on its way to the client
  std::uint64_t taken_ = 0;      // bytes that the client took
  std::uint64_t exchanged_ = 0;  // bytes that the upstream took or gave
  std::size_t in_kernel_ = 0;    // of the request, when last looked at
  std::uint64_t body_sent_ = 0;
  int status_ = 0;
  int interim_ = 0;
  bool answer_done_ = false;
  bool keep_alive_ = true;
  bool reusable_ = false;     // the upstream's connection, after this answer
  bool answer_seen_ = false;  // some byte of an answer came on the current connection

  Stage stage_ = Stage::kIdle;
  bool moved_ = false;
  Instant started_{};
  Instant first_byte_{};
};

}  // namespace weir::gateway
