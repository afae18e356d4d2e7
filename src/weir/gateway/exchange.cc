// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/exchange.h"

#include <algorithm>
#include <array>
#include <utility>

#include "weir/gateway/scratch.h"

namespace weir::gateway {
namespace {

using http::Parsed;
using io::Transfer;

constexpr std::size_t kStageBytes = 65536;   // of the request in memory at once
constexpr std::uint64_t kDrainable = 65536;  // of an unread body for which a connection is kept
constexpr std::uint32_t kLeastRetries = 3;
constexpr std::uint32_t kRetryShare = 5;  // one in five requests may be on its second attempt
constexpr int kMostInterim = 10;
constexpr int kRoundsPerTurn = 16;  // of 64 KiB, before others get their turn
constexpr std::size_t kKeptCapacity = 16384;

constexpr Problem kUnreachable{502, "upstream-unreachable", "The service behind the gateway cannot be reached.", {}};
constexpr Problem kBrokenAnswer{
    502, "upstream-broken-answer", "The service behind the gateway gave no usable answer.", {}};
constexpr Problem kTooSlow{504, "upstream-timeout", "The service behind the gateway did not answer in time.", {}};
constexpr Problem kOverloaded{503, "upstream-overloaded", "The service behind the gateway is busy.",
                              "Retry-After: 1\r\n"};
constexpr Problem kSlowBody{408, "body-timeout", "The body of the request did not arrive in time.", {}};
constexpr Problem kBodyTooLarge{413, "body-too-large", "The body is larger than this service takes.", {}};

void append_chunk(Text& out, std::string_view payload) {
  std::array<char, 18> line;
  out.append(std::string_view(line.data(), http::write_chunk_line(line.data(), payload.size())));
  out.append(payload).append(http::kChunkEnd);
}

}  // namespace

Exchange::~Exchange() = default;

void Exchange::prepare(const Plan& plan) {
  plan_ = plan;
  sent_ = staged_ = taken_ = exchanged_ = body_sent_ = 0;
  written_ = upload_stopped_ = continue_sent_ = retrying_ = answer_done_ = reusable_ = answer_seen_ = false;
  answer_sent_ = fresh_only_ = upload_done_ = false;
  in_kernel_ = SIZE_MAX;
  replayable_ = true;
  attempts_ = status_ = interim_ = 0;
  failed_host_ = host_ = nullptr;
}

Exchange::State Exchange::begin(ClientSide& client) {
  upload_done_ = client.body.done();
  keep_alive_ = plan_.keep_alive;
  started_ = first_byte_ = loop_.now();
  stage_ = Stage::kConnecting;
  const std::uint32_t running = plan_.upstream->shared->running->fetch_add(1, std::memory_order_relaxed);
  if (running >= plan_.upstream->config().max_running) {
    plan_.upstream->counters->overloaded.add();
    return fail(kOverloaded);
  }
  if (const State staged = stage_body(client); staged != State::kWaiting) return staged;
  if (const State chosen = choose_upstream(client); chosen != State::kWaiting) return chosen;
  return advance(client);
}

Exchange::State Exchange::choose_upstream(ClientSide& client) {
  ++attempts_;
  UpstreamHost& host = plan_.upstream->choose(loop_.now(), failed_host_);
  host_ = &host;
  written_ = answer_seen_ = false;
  sent_ = 0;
  if (attempts_ == 1 && !fresh_only_) connection_ = take_idle(host);
  stage_ = connection_ ? Stage::kExchanging : Stage::kConnecting;
  if (!connection_) {
    connection_ = host.connect();
    if (!connection_) {
      plan_.upstream->counters->connect_failures.add();
      return upstream_lost(client, kUnreachable);
    }
    plan_.upstream->counters->connects.add();
  }
  connection_->stream().observe(&client.observer);
  return State::kWaiting;
}

std::unique_ptr<UpstreamConnection> Exchange::take_idle(UpstreamHost& host) const {
  while (auto connection = host.take_idle()) {
    // What may not be sent twice is not sent on a connection that has just ended unseen.
    if (is_idempotent() || !connection->stream().peek_ready()) return connection;
    connection->stream().close();
    loop_.retire(std::move(connection));
  }
  return nullptr;
}

Exchange::State Exchange::connecting(ClientSide& client) {
  io::Stream& stream = connection_->stream();
  if (!stream.writable() && !stream.hung_up()) return State::kWaiting;
  moved_ = true;
  if (stream.connect_error() == 0 && !stream.hung_up()) {
    stage_ = Stage::kExchanging;
    return State::kWaiting;
  }
  plan_.upstream->counters->connect_failures.add();
  return upstream_lost(client, kUnreachable);
}

bool Exchange::is_idempotent() const {
  switch (plan_.method) {
    case http::Method::kGet:
    case http::Method::kHead:
    case http::Method::kOptions:
    case http::Method::kPut:
    case http::Method::kDelete:
      return true;
    default:
      return false;
  }
}

bool Exchange::may_retry() const {
  if (attempts_ > 1 || !replayable_ || answer_seen_) return false;
  return !written_ || (is_idempotent() && upload_done_);
}

bool Exchange::has_retry_left() const {
  const std::uint32_t running = plan_.upstream->shared->running->load(std::memory_order_relaxed);
  return plan_.upstream->retrying < std::max(kLeastRetries, running / kRetryShare);
}

// The connection is of no use. Where it had been idle and nothing was written, nothing was attempted: a fresh one
// takes over at no expense.
Exchange::State Exchange::upstream_lost(ClientSide& client, const Problem& problem) {
  const bool was_reused = connection_ && connection_->reused();
  const bool at_no_expense = was_reused && !written_;
  if (!was_reused && !answer_seen_) {
    host_->failed(loop_.now());
    failed_host_ = host_;
  }
  drop_connection();
  if (!may_retry() || (!at_no_expense && !has_retry_left())) return fail(problem);
  fresh_only_ = true;
  if (at_no_expense) {
    --attempts_;
  } else {
    retrying_ = true;
    ++plan_.upstream->retrying;
    plan_.upstream->counters->retries.add();
  }
  upload_stopped_ = false;
  return choose_upstream(client);
}

void Exchange::drop_connection() {
  if (!connection_) return;
  connection_->stream().close();
  loop_.retire(std::move(connection_));
}

Exchange::State Exchange::fail(const Problem& problem) {
  problem_ = problem;
  return status_ == 0 ? State::kFailed : State::kCut;
}

void Exchange::finish() {
  decision_.clear();  // it says nothing of whoever is next, whose request may never be decided
  if (stage_ == Stage::kIdle) return;
  stage_ = Stage::kIdle;
  status_ = 0;
  body_sent_ = 0;
  started_ = first_byte_ = {};
  host_ = nullptr;
  plan_.upstream->shared->running->fetch_sub(1, std::memory_order_relaxed);
  if (retrying_) --plan_.upstream->retrying;
  if (connection_ && answer_done_ && reusable_) {
    UpstreamHost& host = connection_->host();
    host.put_back(std::move(connection_), plan_.upstream->config().timeouts.idle);
  }
  drop_connection();
  parser_.reset();
  pieces_.release();
  out_.clear();
  if (out_.capacity() > kKeptCapacity) out_.release();
}

Exchange::Awaits Exchange::awaits(const ClientSide& client) const {
  if (stage_ == Stage::kConnecting) return Awaits::kConnect;
  if (!client.output.empty()) return Awaits::kClientReads;
  if (!upload_done_ && !upload_stopped_ && sent_ == out_.size() && status_ == 0) return Awaits::kClientBody;
  return Awaits::kUpstream;
}

bool Exchange::upstream_blocks() const {
  return stage_ == Stage::kConnecting || (connection_ && sent_ < out_.size() && !connection_->stream().writable());
}

std::uint64_t Exchange::progress(const ClientSide& client) const {
  switch (awaits(client)) {
    case Awaits::kConnect:
      return static_cast<std::uint64_t>(attempts_);
    case Awaits::kUpstream:
      return exchanged_;
    case Awaits::kClientBody:
      return client.received;
    case Awaits::kClientReads:
      break;
  }
  return taken_;
}

nanoseconds Exchange::upstream_timeout() const {
  const config::UpstreamTimeouts& timeouts = plan_.upstream->config().timeouts;
  return stage_ == Stage::kConnecting ? timeouts.connect : timeouts.response;
}

Exchange::State Exchange::time_out(const ClientSide& client) {
  switch (awaits(client)) {
    case Awaits::kClientReads:
      return State::kGone;
    case Awaits::kClientBody:
      return body_too_slow();
    case Awaits::kConnect:
      connection_->host().failed(loop_.now());
      break;
    case Awaits::kUpstream:
      if (upstream_still_takes()) return State::kWaiting;
      break;
  }
  plan_.upstream->counters->timeouts.add();
  return fail(kTooSlow);
}

// What was sent may still be on its way into a slow upstream, which is progress that only the kernel sees.
bool Exchange::upstream_still_takes() {
  if (answer_seen_ || !connection_) return false;
  const std::size_t left = connection_->stream().unacknowledged();
  if (left == 0 || left >= std::exchange(in_kernel_, left)) return false;
  ++exchanged_;
  return true;
}

Exchange::State Exchange::body_too_slow() { return fail(kSlowBody); }

Exchange::State Exchange::advance(ClientSide& client) {
  moved_ = false;
  State state = State::kWaiting;
  bool again = true;
  while (again && state == State::kWaiting) {
    const bool moved_before = std::exchange(moved_, false);
    if (stage_ == Stage::kConnecting) state = connecting(client);
    if (stage_ == Stage::kExchanging && state == State::kWaiting) state = upload(client);
    if (stage_ == Stage::kExchanging && state == State::kWaiting) state = download(client);
    again = moved_;
    moved_ |= moved_before;
  }
  return state;
}

Exchange::State Exchange::upload(ClientSide& client) {
  if (plan_.expects_continue && !continue_sent_ && !upload_done_ && staged_ == 0) {
    continue_sent_ = true;
    if (send_to_client(client, "HTTP/1.1 100 Continue\r\n\r\n") == State::kGone) return State::kGone;
  }
  while (!upload_stopped_) {
    if (sent_ < out_.size()) {
      const auto sent = connection_->stream().send(out_.view().substr(sent_));
      if (sent.status == Transfer::kBroken) {
        upload_stopped_ = true;  // an answer may be waiting all the same: the receiving side finds out
        return State::kWaiting;
      }
      if (sent.bytes == 0) return State::kWaiting;
      written_ = moved_ = true;
      sent_ += sent.bytes;
      exchanged_ += sent.bytes;
      if (sent_ < out_.size()) return State::kWaiting;
    }
    if (upload_done_) return State::kWaiting;
    if (const State staged = stage_body(client); staged != State::kWaiting) return staged;
    if (sent_ == out_.size()) return State::kWaiting;
  }
  return State::kWaiting;
}

// Moves what is there of the request's body behind what is waiting to be sent.
Exchange::State Exchange::stage_body(ClientSide& client) {
  while (!upload_done_ && out_.size() - sent_ < kStageBytes) {
    if (client.input.empty()) {
      const auto got = client.input.fill(client.stream);
      if (got.status == Transfer::kWouldBlock) return State::kWaiting;
      if (got.status != Transfer::kDone) return State::kGone;
    }
    const auto step = client.body.next(client.input.view());
    if (step.state == Parsed::kRejected) {
      const http::Rejection& why = client.body.rejection();
      return fail({why.status, why.code, why.detail, {}});
    }
    stage(step.payload, client.body);
    client.received += step.payload.size();
    client.input.consume(step.consumed);
    upload_done_ = step.state == Parsed::kComplete;
    if (plan_.max_body && staged_ > *plan_.max_body) return fail(kBodyTooLarge);
    if (step.consumed > 0 || upload_done_) continue;
    const auto got = client.input.fill(client.stream);  // a chunk line that has come in pieces
    if (got.status == Transfer::kWouldBlock) return State::kWaiting;
    if (got.status != Transfer::kDone) return State::kGone;
  }
  return State::kWaiting;
}

void Exchange::stage(std::string_view payload, const MessageBody& body) {
  const bool chunked = body.kind() == http::BodyKind::kChunked;
  if (payload.empty() && !body.done()) return;
  if (sent_ > 0 && sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
    replayable_ = false;
  }
  moved_ = true;
  staged_ += payload.size();
  if (chunked && !payload.empty()) {
    append_chunk(out_, payload);
  } else {
    out_.append(payload);
  }
  if (chunked && body.done()) out_.append(http::kLastChunk);
}

Exchange::State Exchange::download(ClientSide& client) {
  for (int round = 0;; ++round) {
    const auto sent = client.output.flush();
    if (sent.status == Transfer::kBroken) return State::kGone;
    moved_ |= sent.bytes > 0;
    taken_ += sent.bytes;
    if (!client.output.empty()) return State::kWaiting;
    if (answer_done_) return State::kAnswered;
    if (round == kRoundsPerTurn) {
      loop_.notify_soon(client.observer);
      return State::kWaiting;
    }
    const auto got = connection_->stream().receive(scratch_.upstream_in());
    if (got.status == Transfer::kWouldBlock) return State::kWaiting;
    moved_ = true;
    exchanged_ += got.bytes;
    State state = State::kWaiting;
    if (got.status != Transfer::kDone) {
      state = upstream_ended(client, got.status == Transfer::kEnded);
    } else if (!written_) {
      state = spoken_unasked(client);
    } else {
      state = take_input(client, {scratch_.upstream_in().data(), got.bytes});
    }
    if (state != State::kWaiting || !connection_ || stage_ != Stage::kExchanging) return state;
  }
}

// An answer before any request belongs to nobody, or to somebody else.
Exchange::State Exchange::spoken_unasked(ClientSide& client) {
  plan_.upstream->counters->broken_answers.add();
  return upstream_lost(client, kBrokenAnswer);
}

Exchange::State Exchange::take_input(ClientSide& client, std::string_view received) {
  if (!answer_seen_) first_byte_ = loop_.now();
  answer_seen_ = true;
  std::string_view input = received;
  const bool in_pieces = !pieces_.empty();
  if (in_pieces) {
    pieces_.append(received);
    input = pieces_.view();
  }
  const std::size_t before = input.size();
  scratch_.out.clear();
  State state = status_ == 0 ? take_head(client, input) : State::kWaiting;
  if (state == State::kWaiting && status_ != 0) state = take_body(client, input);
  if (state == State::kWaiting && !scratch_.out.empty()) state = send_to_client(client, scratch_.out.view());
  if (in_pieces) {
    pieces_.consume(before - input.size());
  } else if (state == State::kWaiting) {
    pieces_.append(input);
  }
  return state;
}

// Reads heads until the final one; `input` is what is behind it.
Exchange::State Exchange::take_head(ClientSide& client, std::string_view& input) {
  const bool to_head = plan_.method == http::Method::kHead;
  while (status_ == 0 && !input.empty()) {
    http::ResponseParser& parser = parser_ ? *parser_ : scratch_.response_parser;
    if (!parser_) parser.reset(to_head);
    const Parsed parsed = parser.parse(input);
    if (parsed == Parsed::kIncomplete) {
      if (!parser_) {
        parser_ = std::make_unique<http::ResponseParser>();
        parser_->reset(to_head);
      }
      return State::kWaiting;
    }
    if (parsed == Parsed::kRejected) {
      plan_.upstream->counters->broken_answers.add();
      return fail(kBrokenAnswer);
    }
    const State state = begin_answer(parser.head(), client);
    input.remove_prefix(parser.consumed());
    parser_.reset();
    if (state != State::kWaiting) return state;
  }
  return State::kWaiting;
}

Exchange::State Exchange::begin_answer(const http::ResponseHead& head, ClientSide& client) {
  if (head.status < 200) {
    if (head.status == 101 || ++interim_ > kMostInterim) {
      plan_.upstream->counters->broken_answers.add();
      return fail(kBrokenAnswer);
    }
    if (head.status != 100 && plan_.minor_version > 0) append_interim_head(scratch_.out, head);
    return State::kWaiting;
  }
  if (head.status >= 500) {
    connection_->host().failed(loop_.now());
  } else {
    connection_->host().succeeded();
  }
  status_ = head.status;
  framing_ = client_framing(head, plan_.minor_version);
  answer_body_ = MessageBody(head.body);
  // An answer to half a request may be the answer to something else.
  reusable_ = head.keep_alive && !head.stray_body && upload_done_ && sent_ == out_.size();
  if (!upload_done_ && head.status >= 300) upload_stopped_ = true;  // nobody waits for the rest
  const bool rest_is_small = client.body.done() || client.body.announced() <= kDrainable;
  keep_alive_ = plan_.keep_alive && framing_ != ClientFraming::kUntilClose && rest_is_small;
  plan_.pipeline->settle(decision_, head.status, &head, {loop_.now(), loop_.wall()});
  append_response_head(scratch_.out, head, framing_, decision_, *plan_.fields,
                       {.date = plan_.date,
                        .wall = loop_.wall(),
                        .request_id = request_id_,
                        .head_only = false,
                        .keep_alive = keep_alive_,
                        .minor_version = plan_.minor_version});
  if (answer_body_.done()) end_answer();
  return State::kWaiting;
}

Exchange::State Exchange::take_body(ClientSide& client, std::string_view& input) {
  while (!input.empty() && !answer_body_.done()) {
    const auto step = answer_body_.next(input);
    if (step.state == Parsed::kRejected) {
      plan_.upstream->counters->broken_answers.add();
      if (!answer_sent_) {  // the head has not left yet: an honest answer is still possible
        status_ = 0;
        decision_.settled = false;
      }
      return fail(kBrokenAnswer);
    }
    input.remove_prefix(step.consumed);
    body_sent_ += step.payload.size();
    if (framing_ != ClientFraming::kChunked && scratch_.out.empty() && !step.payload.empty()) {
      if (const State state = send_to_client(client, step.payload); state != State::kWaiting) return state;
    } else {
      append_payload(step.payload);
    }
    if (answer_body_.done()) end_answer();
    if (step.consumed == 0) break;  // a chunk line that has come in pieces
  }
  if (answer_done_ && !input.empty()) {
    reusable_ = false;  // bytes that nobody asked for
    input = {};
  }
  return State::kWaiting;
}

void Exchange::append_payload(std::string_view payload) {
  if (payload.empty()) return;
  Text& out = scratch_.out;
  if (framing_ == ClientFraming::kChunked) {
    append_chunk(out, payload);
  } else {
    out.append(payload);
  }
}

void Exchange::end_answer() {
  answer_done_ = true;
  if (framing_ == ClientFraming::kChunked) scratch_.out.append(http::kLastChunk);
}

Exchange::State Exchange::upstream_ended(ClientSide& client, bool in_order) {
  reusable_ = false;
  if (status_ == 0) {
    if (answer_seen_) plan_.upstream->counters->broken_answers.add();
    if (!answer_seen_ && written_) plan_.upstream->counters->closed.add();
    return upstream_lost(client, kBrokenAnswer);
  }
  if (!in_order || !answer_body_.ends_with_connection()) return State::kCut;
  scratch_.out.clear();
  end_answer();
  return scratch_.out.empty() ? State::kWaiting : send_to_client(client, scratch_.out.view());
}

Exchange::State Exchange::send_to_client(ClientSide& client, std::string_view bytes) {
  answer_sent_ |= status_ != 0;
  moved_ = true;
  const auto sent = client.output.append(bytes);
  taken_ += sent.bytes;
  return sent.status == Transfer::kBroken ? State::kGone : State::kWaiting;
}

}  // namespace weir::gateway
