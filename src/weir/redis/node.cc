// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/node.h"

#include <algorithm>
#include <utility>

#include "weir/base/log.h"

namespace weir::redis {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostInFlight = 16'384;
constexpr int kTimeoutsToOpen = 5;
constexpr nanoseconds kLongestBackOff = milliseconds(500);
constexpr nanoseconds kLeastProbe = milliseconds(200);  // that a probe may take

}  // namespace

Node::Node(io::EventLoop& loop, const NodeSettings& settings, Address address, Counters& counters,
           const bool& gathering)
    : loop_(loop),
      settings_(settings),
      address_(std::move(address)),
      counters_(counters),
      gathering_(gathering),
      timer_(loop.timers(), *this),
      back_off_(kLongestBackOff) {
  counters_.nodes.add();
}

Node::~Node() {
  counters_.nodes.subtract();
  if (is_open()) counters_.open_nodes.subtract();
  fail_all();
  connection_.reset();
  loop_.forget(*this);
}

void Node::start() {
  if (state_ == State::kDown && !connect()) open("it cannot be connected to");
}

bool Node::accept(Call& call) {
  if (is_open() || in_flight_.size() >= kMostInFlight) return false;
  if (state_ == State::kDown && !connect()) {
    open("it cannot be connected to");
    return false;
  }
  if (call.kind_ == Call::Kind::kAsking) {
    pending_ += Command{"ASKING"}.bytes();
    in_flight_.push_back({nullptr, For::kNobody});
  }
  pending_ += call.command_.bytes();
  call.entry_ = &in_flight_.emplace_back(InFlight{&call, For::kCall});
  counters_.commands.add();
  flush_soon();
  return true;
}

// The commands that wait go out behind what a connection begins with.
bool Node::connect() {
  connection_ = Connection::open(loop_, settings_, address_, next_address_, *this, counters_);
  if (!connection_) return false;
  if (state_ == State::kDown) state_ = State::kConnecting;
  greet();
  return true;
}

void Node::greet() {
  std::string bytes;
  std::vector<InFlight> entries;
  const auto say = [&](const Command& command, For what) {
    bytes += command.bytes();
    entries.push_back({nullptr, what});
  };
  for (const Command& command : greeting(settings_)) say(command, For::kGreeting);
  for (const Script* script : settings_.scripts) say({"SCRIPT", "LOAD", script->text()}, For::kNobody);
  say({"PING"}, For::kLastGreeting);
  pending_.insert(0, bytes);
  in_flight_.insert(in_flight_.begin(), entries.begin(), entries.end());
  // The others' places have moved.
  for (InFlight& entry : in_flight_) {
    if (entry.call != nullptr) entry.call->entry_ = &entry;
  }
  // A connection that is broken from the start tells nobody.
  if (!flush_is_due_) loop_.notify_soon(*this);
  flush_is_due_ = true;
}

void Node::flush_soon() {
  if (flush_is_due_ || gathering_) return;
  loop_.notify_soon(*this);
  flush_is_due_ = true;
}

void Node::flush() {
  flush_is_due_ = false;
  if (pending_.empty() || !connection_) return;
  counters_.writes.add();
  connection_->send(pending_);
  pending_.clear();
}

void Node::notify() {
  if (!connection_) {
    flush_is_due_ = false;
    return;
  }
  flush();
  connection_->advance();
  receive();
}

void Node::receive() {
  const auto got = take_all(connection_, [this](Reply reply) { return take(std::move(reply)); });
  if (got == Connection::Got::kLost) return lost(connection_->fault());
  if (got == Connection::Got::kGarbage) open("it does not speak the protocol");
}

// False: the connection has ended with it.
bool Node::take(Reply reply) {
  if (in_flight_.empty()) {
    open("it answers what nobody has asked");
    return false;
  }
  const InFlight entry = in_flight_.front();
  in_flight_.pop_front();
  const ReplyView view = reply.view();
  switch (entry.what) {
    case For::kNobody:
      return true;
    case For::kGreeting:
    case For::kLastGreeting:
      if (view.is_error()) {
        open(std::string(view.text()));
        return false;
      }
      if (entry.what == For::kLastGreeting) greeted();
      return true;
    case For::kProof:
      ready();
      return true;
    case For::kCall:
      break;
  }
  if (entry.call == nullptr) return true;  // too late for whoever asked: no sign of health
  if (entry.call->kind_ != Call::Kind::kAside) {
    failures_ = 0;
    if (!view.is_error()) back_off_.reset();
  }
  entry.call->reply_ = std::move(reply);
  entry.call->finish(Call::End::kAnswered);
  return connection_ != nullptr;
}

// After a failure the server has to answer within a command's time before commands are sent to it again.
void Node::greeted() {
  if (state_ != State::kProbing) return ready();
  pending_ += Command{"PING"}.bytes();
  in_flight_.push_back({nullptr, For::kProof});
  timer_.set(loop_.now() + settings_.budget);
  flush();
}

void Node::ready() {
  timer_.clear();
  failures_ = 0;
  if (is_open()) {
    counters_.open_nodes.subtract();
    log_info("Redis at {} answers again", address_.text());
  }
  state_ = State::kReady;
}

void Node::timed_out(InFlight& entry) {
  const bool aside = std::exchange(entry.call, nullptr)->kind_ == Call::Kind::kAside;
  counters_.timeouts.add();
  // One pause makes many commands late: that is one failure.
  if (std::exchange(failed_at_, loop_.now()) == loop_.now()) return;
  if (!aside && ++failures_ >= kTimeoutsToOpen && !is_open()) open("it does not answer in time");
}

// The connection is gone. Who waits fails; the next one connects again, unless this was an attempt to connect.
void Node::lost(std::string_view why) {
  if (state_ != State::kReady || ++failures_ >= kTimeoutsToOpen) return open(why);
  log_warn("Redis at {}: {}", address_.text(), why);
  state_ = State::kDown;
  connection_.reset();
  fail_all();
}

void Node::reconnect(std::string_view why) {
  if (state_ == State::kReady) open(why);
}

void Node::fail_waiting() {
  std::vector<Call*> calls;
  for (InFlight& entry : in_flight_) {
    if (entry.call == nullptr) continue;
    calls.push_back(std::exchange(entry.call, nullptr));
    calls.back()->entry_ = nullptr;
  }
  for (Call* call : calls) call->finish(Call::End::kUnavailable);
}

void Node::shut() {
  if (!is_open()) counters_.open_nodes.add();
  state_ = State::kShut;
  timer_.clear();
  if (connection_) flush();  // what ends leases should still arrive
  connection_.reset();
  fail_all();
}

void Node::open(std::string_view why) {
  if (state_ == State::kShut) return;
  if (!is_open()) {
    counters_.opened.add();
    counters_.open_nodes.add();
    log_warn("Redis at {} is left alone for now: {}", address_.text(), why);
  }
  state_ = State::kOpen;
  connection_.reset();
  timer_.set(loop_.now() + back_off_.next());
  fail_all();
}

// A probe is due, or has taken too long.
void Node::tick() {
  if (state_ == State::kProbing) return open("it does not answer");
  if (state_ != State::kOpen) return;
  state_ = State::kProbing;
  timer_.set(loop_.now() + std::max(settings_.budget, kLeastProbe));
  if (!connect()) open("it cannot be connected to");
}

void Node::fail_all() {
  pending_.clear();
  auto failed = std::exchange(in_flight_, {});
  for (InFlight& entry : failed) {
    if (entry.call == nullptr) continue;
    counters_.unavailable.add();
    Call& call = *entry.call;
    call.entry_ = nullptr;
    entry.call = nullptr;
    call.finish(Call::End::kUnavailable);
  }
}

Call::~Call() {
  if (entry_ != nullptr) entry_->call = nullptr;
}

bool Call::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  if (!node_.accept(*this)) {
    node_.counters_.unavailable.add();
    end_ = End::kUnavailable;
    return false;
  }
  timer_.set(deadline_);
  return true;
}

void Call::notify() {
  if (end_ != End::kPending || entry_ == nullptr) return;
  Node::InFlight& entry = *std::exchange(entry_, nullptr);
  end_ = End::kTimedOut;
  node_.timed_out(entry);
  waiting_.resume();
}

void Call::finish(End end) {
  entry_ = nullptr;
  end_ = end;
  timer_.clear();
  waiting_.resume();
}

}  // namespace weir::redis
