// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/session.h"

#include <algorithm>
#include <utility>

#include "weir/gateway/worker.h"
#include "weir/identity/proxy_header.h"

namespace weir::gateway {
namespace {

using http::Parsed;
using io::Transfer;
using State = Exchange::State;

constexpr std::uint64_t kDrainable = 65536;
constexpr auto kDrainTime = std::chrono::seconds(1);
constexpr auto kDrainIdle = std::chrono::seconds(1);  // of a kept-alive connection while the process ends
constexpr auto kPaceWindow = std::chrono::seconds(10);
// A client that has finished its half may still read the answer, or may have gone: it gets this long.
constexpr auto kHalfClosedGrace = std::chrono::milliseconds(80);
constexpr int kClientClosedRequest = 499;
constexpr std::uint32_t kRequestsPerTurn = 64;  // of one connection, before others get their turn

constexpr Problem kEnding{503, "ending", "The gateway is about to end and cannot take the request in time.",
                          "Retry-After: 1\r\n"};
constexpr http::Rejection kHeadTooSlow{408, "head-timeout", "The head of the request did not arrive in time."};

}  // namespace

Session::Session(Worker& worker, io::Descriptor socket, const io::SocketAddress& peer, bool introduced)
    : worker_(worker),
      stream_(worker.loop(), std::move(socket), &wake_),
      timer_(worker.loop().timers(), wake_),
      input_(worker.scratch().client_in()),
      output_(stream_),
      side_{stream_, input_, output_, wake_, body_, received_},
      address_(peer.ip()),
      introduced_(introduced) {}

io::Detached Session::run() {
  adopt_generation();
  timer_.set(worker_.loop().now() + generation_->shared->config.http.head_timeout);
  Next next = Next::kGo;
  while (introduced_ && (next = read_proxy_header()) == Next::kWait) {
    input_.keep();
    co_await wake_;
  }
  while (next == Next::kGo) {
    while ((next = read_head()) == Next::kWait) {
      input_.keep();
      co_await wake_;
    }
    if (next == Next::kEnd) break;
    State state = handle_request();
    while (looking_up_) {
      input_.keep();
      const Instant until = began_ + generation_->shared->config.policies->budget;
      lookup::KnownPtr known = co_await worker_.lookups()->wait(wanted_, until);
      looked_up_.add(wanted_, std::move(known));
      state = judge_again();
    }
    if (deciding_) {
      input_.keep();
      co_await worker_.pipeline().decide(*generation_, exchange_->charges(), worker_.times(), exchange_->decision(),
                                         worker_.metrics(), verdict_);
      state = decided();
    }
    while (state == State::kWaiting) {
      input_.keep();
      co_await wake_;
      state = continue_exchange();
    }
    settle(state);
    while ((next = flush()) == Next::kWait) {
      input_.keep();
      co_await wake_;
    }
    if (next == Next::kEnd) break;
    while ((next = drain_body()) == Next::kWait) {
      input_.keep();
      co_await wake_;
    }
    if (next == Next::kGo && requests_ % kRequestsPerTurn == 0 && !input_.empty()) {
      input_.keep();
      worker_.loop().notify_soon(wake_);
      co_await wake_;
    }
  }
  release_exchange();
  while (flush() == Next::kWait) co_await wake_;
  while (linger() == Next::kWait) co_await wake_;
  worker_.remove(*this);
}

void Session::adopt_generation() {
  if (generation_ == worker_.generation()) return;
  generation_ = worker_.generation();
  peer_ = generation_->shared->identifier.peer(address_);
}

http::RequestParser& Session::parser() { return parser_ ? *parser_ : worker_.shared_parser(); }

// Whoever is not trusted is the client itself and introduces nobody. A Unix socket is reached by those who may.
Session::Next Session::read_proxy_header() {
  introduced_ = !address_ || peer_.trusted;
  if (!introduced_) return Next::kGo;
  for (;;) {
    const identity::ProxyHeader header = identity::parse_proxy_header(input_.view());
    if (header.state == identity::ProxyHeader::State::kComplete) {
      input_.consume(header.size);
      introduced_ = false;
      if (header.source) address_ = header.source;
      peer_ = generation_->shared->identifier.peer(address_);
      return Next::kGo;
    }
    if (header.state == identity::ProxyHeader::State::kWrong) {
      worker_.metrics().rejected("bad-proxy-header").add();
      return Next::kEnd;
    }
    const auto got = input_.fill(stream_);
    if (got.status == Transfer::kWouldBlock) return timed_out() || cut_ ? Next::kEnd : Next::kWait;
    if (got.status != Transfer::kDone) return Next::kEnd;
  }
}

Session::Next Session::read_head() {
  const config::Http& http = generation_->shared->config.http;
  const Instant now = worker_.loop().now();
  for (;;) {
    if (!input_.empty()) {
      adopt_generation();
      if (!parser_) worker_.shared_parser().reset();
      const Parsed parsed = parser().parse(input_.view());
      if (parsed == Parsed::kComplete) return Next::kGo;
      if (parsed == Parsed::kRejected) {
        reject(parser().rejection());
        return Next::kEnd;
      }
      if (!parser_) parser_ = worker_.lend_parser();
    }
    const auto got = input_.fill(stream_);
    if (got.status == Transfer::kWouldBlock) break;
    if (got.status != Transfer::kDone) return Next::kEnd;
  }
  if (timed_out() || cut_) {
    if (parser_ && parser_->started() && !cut_) reject(kHeadTooSlow);
    return Next::kEnd;
  }
  if (parser_ && !head_begun_ && requests_ > 0) timer_.set(now + http.head_timeout);
  head_begun_ = parser_ != nullptr;
  return Next::kWait;
}

void Session::reject(const http::Rejection& why) {
  worker_.metrics().rejected(why.code).add();
  began_ = worker_.loop().now();
  service_ = Verdict::kNoService;
  head_only_ = false;
  minor_version_ = 1;
  received_ = 0;
  exchange_ = worker_.take_exchange();
  exchange_->request_id().clear();
  if (worker_.log() != nullptr) exchange_->record().begin_rejected(worker_.loop().wall(), peer_);
  answer_fault({why.status, why.code, why.detail, {}}, /*keep_alive=*/false);
}

State Session::wait_or_start() {
  exchange_deadline_ = Instant::max();
  const decide::Decision& decision = exchange_->decision();
  renewal_ = decision.renewal > 0 ? began_ + nanoseconds(decision.renewal) : Instant::max();
  return decision.waits() ? stand_in_line() : start_exchange();
}

// Until its time comes, the request only waits, and leaves when the client does.
State Session::stand_in_line() {
  if (ticket_ == 0) {
    wake_is_posted_ = false;
    ticket_ = worker_.add_waiting(*this);
  }
  const Instant start = worker_.pipeline().starts_at(exchange_->decision());
  if (start <= worker_.loop().now()) {
    worker_.remove_waiting(ticket_);
    ticket_ = 0;
    worker_.pipeline().start(exchange_->decision(), worker_.times());
    return start_exchange();
  }
  if (client_left()) return State::kGone;
  if (start > worker_.drain_deadline()) return exchange_->refuse(kEnding);
  timer_.set(std::min({start, gone_deadline_, renewal_}));
  return State::kWaiting;
}

// Called by whoever left the line before us, on whatever thread. One wake-up that is on its way is enough.
void Session::moved_up() {
  const std::uint64_t ticket = ticket_;
  if (ticket != 0 && !wake_is_posted_.exchange(true)) worker_.wake_waiting(ticket);
}

void Session::wake_in_line() {
  wake_is_posted_ = false;  // before it looks when it starts
  wake_.notify();
}

// The client's pace counts from now on: while it stood in line nobody read its body.
State Session::start_exchange() {
  pace_began_ = worker_.loop().now();
  pace_bytes_ = received_;
  return check_client(exchange_->begin(side_));
}

void Session::renew_leases() {
  const Times times = worker_.times();
  if (times.now < renewal_) return;
  if (!worker_.pipeline().renew(exchange_->decision(), times)) worker_.metrics().lost_leases.add();
  renewal_ = times.now + nanoseconds(exchange_->decision().renewal);
}

State Session::continue_exchange() {
  if (cut_) return State::kGone;
  const Instant now = worker_.loop().now();
  renew_leases();
  if (ticket_ != 0) return stand_in_line();
  if (timed_out()) {
    if (now >= exchange_deadline_ && now < gone_deadline_) return check_client(exchange_->time_out(side_));
  }
  worker_.date();
  return check_client(exchange_->advance(side_));
}

State Session::check_client(State state) {
  if (state != State::kWaiting) return state;
  if (client_left()) return State::kGone;
  if (body_is_too_slow()) return exchange_->body_too_slow();
  arm_exchange();
  return State::kWaiting;
}

bool Session::client_left() {
  if (stream_.hung_up()) return true;
  if (stream_.peer_ended() && gone_deadline_ == Instant::max()) {
    gone_deadline_ = worker_.loop().now() + kHalfClosedGrace;
  }
  return worker_.loop().now() >= gone_deadline_;
}

bool Session::body_is_too_slow() {
  const Instant now = worker_.loop().now();
  // What was held up by the upstream, if only until a moment ago, does not make the client slow.
  const bool held_up = exchange_->upstream_blocks() || !exchange_->waits_for_body();
  if (std::exchange(body_held_up_, held_up) || held_up) {
    pace_began_ = now;
    pace_bytes_ = received_;
    return false;
  }
  if (now - pace_began_ < kPaceWindow) return false;
  const std::uint64_t least = std::uint64_t{generation_->shared->config.http.body_min_rate} * kPaceWindow.count();
  const bool slow = received_ - pace_bytes_ < least;
  pace_began_ = now;
  pace_bytes_ = received_;
  return slow;
}

void Session::arm_exchange() {
  const auto awaits = exchange_->awaits(side_);
  const std::uint64_t progress = exchange_->progress(side_);
  if (progress != progress_ || awaits != awaits_ || exchange_deadline_ == Instant::max()) {
    const config::Http& http = generation_->shared->config.http;
    nanoseconds timeout = exchange_->upstream_timeout();
    if (awaits == Exchange::Awaits::kClientBody) timeout = http.body_timeout;
    if (awaits == Exchange::Awaits::kClientReads) timeout = http.write_timeout;
    exchange_deadline_ = worker_.loop().now() + timeout;
    awaits_ = awaits;
    progress_ = progress;
  }
  timer_.set(std::min({exchange_deadline_, gone_deadline_, renewal_}));
}

// The exchange, if there was one, has ended: finish its answer, write it down, and make ready for what comes next.
void Session::settle(State state) {
  if (!exchange_) return;
  if (state == State::kFailed && !exchange_->decision().admitted) {  // it was made ready before it was decided
    const bool body_is_here = body_.done() || (body_.announced() > 0 && input_.view().size() >= body_.announced());
    const bool in_step = rest_can_be_drained() && (body_is_here || !exchange_->body_withheld());
    keep_alive_ = keep_alive_ && in_step && !worker_.draining();
    return refuse(verdict_, worker_.loop().now() - began_);
  }
  if (state == State::kFailed) {
    const Problem& problem = exchange_->problem();
    // A fault of the body leaves the connection out of step.
    const bool body_fault = problem.status < 500;
    const bool in_step = !body_fault && rest_can_be_drained() && !exchange_->body_withheld();
    answer_fault(problem, keep_alive_ && in_step && !worker_.draining());
    return;
  }
  if (state == State::kAnswered) keep_alive_ = exchange_->keep_alive();
  if (state == State::kGone) {
    cut_ = true;
    worker_.metrics().aborted_by_client.add();
  }
  if (state == State::kCut) {
    keep_alive_ = false;
    resets_ = exchange_->end_looks_whole();
    arm_write();
  }
  record({.status = state == State::kGone && exchange_->status() == 0 ? kClientClosedRequest : exchange_->status(),
          .code = state == State::kCut ? "answer-cut" : std::string_view{},
          .bytes_in = received_,
          .bytes_out = exchange_->body_sent(),
          .duration = worker_.loop().now() - began_,
          .upstream = exchange_->upstream_time(),
          .upstream_address = exchange_->upstream_address()});
  release_exchange();
}

void Session::answer_fault(const Problem& problem, bool keep_alive) {
  keep_alive_ = keep_alive;
  worker_.pipeline().settle(exchange_->decision(), problem.status, nullptr, worker_.times());
  Text& out = worker_.scratch().out;
  const std::size_t body_size =
      write_problem(out, problem, context(keep_alive), &generation_->shared->fields, &exchange_->decision());
  send(out.view());
  record({.status = problem.status,
          .code = problem.code,
          .bytes_in = received_,
          .bytes_out = body_size,
          .duration = worker_.loop().now() - began_,
          .upstream = exchange_->upstream_time(),
          .upstream_address = exchange_->upstream_address()});
  release_exchange();
}

void Session::record(const RequestRecord::Ending& ending) {
  worker_.metrics().bytes_received.add(ending.bytes_in);
  worker_.metrics().bytes_sent.add(ending.bytes_out);
  ServiceCounters& counters =
      service_ == Verdict::kNoService ? *generation_->no_service : *generation_->service_counters[service_];
  counters.record(ending.status, ending.duration);
  if (worker_.log() != nullptr) worker_.log()->append(exchange_->record().finish(ending));
}

void Session::release_exchange() {
  if (!exchange_) return;
  if (ticket_ != 0) {  // it never started
    worker_.remove_waiting(ticket_);
    ticket_ = 0;
    worker_.pipeline().leave(exchange_->decision(), worker_.times());
  }
  worker_.pipeline().finish(exchange_->decision(), worker_.times());
  exchange_->finish();
  looked_up_ = LookedUp(false);
  worker_.put_back(std::move(exchange_));
}

bool Session::rest_can_be_drained() const { return body_.done() || body_.announced() <= kDrainable; }

AnswerContext Session::context(bool keep_alive) const {
  return {.date = worker_.date(),
          .wall = worker_.loop().wall(),
          .request_id = exchange_->request_id(),
          .head_only = head_only_,
          .keep_alive = keep_alive,
          .minor_version = minor_version_};
}

void Session::send(std::string_view bytes) {
  if (output_.append(bytes).status == Transfer::kBroken) cut_ = true;
  arm_write();
}

void Session::arm_write() {
  if (!output_.empty()) timer_.set(worker_.loop().now() + generation_->shared->config.http.write_timeout);
}

// What is left of an answer; then on to the next request, or to the end.
Session::Next Session::flush() {
  if (!cut_) {
    const auto sent = output_.flush();
    if (sent.status == Transfer::kBroken) cut_ = true;
    if (sent.bytes > 0) arm_write();
  }
  if (!cut_ && !output_.empty()) {
    if (!timed_out()) return Next::kWait;
    cut_ = true;
  }
  output_.shrink();
  if (cut_ || !keep_alive_) return Next::kEnd;
  if (!body_.done()) timer_.set(worker_.loop().now() + kDrainTime);
  return Next::kGo;
}

// Reads and drops what is left of an unread body, so that it is never taken for a request.
Session::Next Session::drain_body() {
  while (!body_.done()) {
    const auto step = body_.next(input_.view());
    drained_ += step.consumed;
    input_.consume(step.consumed);
    if (step.state == Parsed::kRejected || drained_ > kDrainable) return Next::kEnd;
    if (body_.done()) break;
    if (step.consumed > 0) continue;
    const auto got = input_.fill(stream_);
    if (got.status == Transfer::kWouldBlock) return timed_out() || cut_ ? Next::kEnd : Next::kWait;
    if (got.status != Transfer::kDone) return Next::kEnd;
  }
  const nanoseconds idle = worker_.draining() ? kDrainIdle : generation_->shared->config.http.idle_timeout;
  timer_.set(worker_.loop().now() + idle);
  return Next::kGo;
}

// Lets the client read the last answer before the connection goes: unread bytes would turn the close into a reset.
Session::Next Session::linger() {
  if (!stream_.is_open()) return Next::kEnd;
  if (resets_ || (cut_ && !output_.empty())) stream_.reset_on_close();
  if (resets_ || cut_) return Next::kEnd;
  if (!lingering_) {
    const bool quiet = body_.done() && input_.empty() && !stream_.readable();
    const bool was_idle = keep_alive_;  // it ends without an answer that says so
    if (quiet && (was_idle || stream_.peer_ended())) return Next::kEnd;
    stream_.shutdown_send();
    timer_.set(worker_.loop().now() + (worker_.draining() ? kDrainTime / 2 : kDrainTime));
    lingering_ = true;
    drained_ = 0;
  }
  while (drained_ < kDrainable && !timed_out()) {
    const auto got = stream_.receive(worker_.scratch().client_in());
    if (got.status == Transfer::kWouldBlock) return Next::kWait;
    if (got.status != Transfer::kDone) return Next::kEnd;
    drained_ += got.bytes;
  }
  return Next::kEnd;
}

void Session::begin_drain() {
  if (exchange_) {
    exchange_->end_connection();
    if (ticket_ != 0) worker_.loop().notify_soon(wake_);  // it may have no time left to start
  } else if (!head_begun_ && output_.empty() && !lingering_) {
    timer_.set(worker_.loop().now() + kDrainIdle);
  }
}

void Session::cut() {
  cut_ = true;
  stream_.reset_on_close();
  stream_.close();
  wake_.notify();
}

}  // namespace weir::gateway
