// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/subscriber.h"

#include <algorithm>
#include <random>
#include <utility>

#include "weir/base/log.h"

namespace weir::redis {
namespace {

constexpr nanoseconds kLongestBackOff = std::chrono::seconds(2);

}  // namespace

Subscriber::Subscriber(io::EventLoop& loop, const NodeSettings& settings, std::string channel, Owner owner,
                       Counters& counters)
    : loop_(loop),
      settings_(settings),
      channel_(std::move(channel)),
      owner_(std::move(owner)),
      counters_(counters),
      timer_(loop.timers(), *this),
      back_off_(kLongestBackOff),
      next_server_(std::random_device{}()) {}

Subscriber::~Subscriber() {
  shut();
  loop_.forget(*this);
}

void Subscriber::start() {
  if (state_ != State::kIdle) return;
  counters_.subscriptions.add();
  connect();
}

void Subscriber::shut() {
  if (state_ == State::kIdle) return;
  counters_.subscriptions.subtract();
  leave_server();
  state_ = State::kIdle;
  timer_.clear();
}

void Subscriber::connect() {
  const std::vector<Address> servers = owner_.servers();
  server_ = servers[next_server_++ % servers.size()];
  state_ = State::kSubscribing;
  connection_ = Connection::open(loop_, settings_, server_, next_address_, *this, counters_);
  if (!connection_) return lost("it cannot be connected to");
  std::string bytes;
  for (const Command& command : greeting(settings_)) bytes += command.bytes();
  bytes += Command{"SUBSCRIBE", channel_}.bytes();
  connection_->send(bytes);
  loop_.notify_soon(*this);  // it may have failed already
  timer_.set(loop_.now() + kSilence);
}

void Subscriber::notify() {
  if (!connection_) return;
  connection_->advance();
  const auto got = take_all(connection_, [this](const Reply& reply) { return take(reply.view()); });
  if (got == Connection::Got::kLost) return lost(connection_->fault());
  if (got == Connection::Got::kGarbage) lost("it does not speak the protocol");
}

// False: the connection has ended with it. What is neither an error nor told here is a sign of life.
bool Subscriber::take(ReplyView reply) {
  heard_ = loop_.now();
  if (reply.is_error()) {
    lost(reply.text());
    return false;
  }
  const std::string_view what = reply[0].text();
  if (what == "subscribe") subscribed();
  if (what == "message") {
    counters_.messages.add();
    owner_.message(reply[2].text());
  }
  return true;
}

void Subscriber::subscribed() {
  if (state_ == State::kLive) return;
  state_ = State::kLive;
  counters_.live_subscriptions.add();
  back_off_.reset();
  if (std::exchange(complained_, false)) log_info("Redis at {}: subscribed to {} again", server_.text(), channel_);
  timer_.set(loop_.now() + kAskAfter);
  owner_.changed(true);
}

void Subscriber::tick() {
  if (state_ == State::kWaiting) return connect();
  if (state_ == State::kSubscribing || loop_.now() - heard_ >= kSilence) return lost("it does not answer");
  const std::vector<Address> servers = owner_.servers();
  if (std::ranges::find(servers, server_) == servers.end()) {
    leave_server();
    return connect();
  }
  connection_->send(Command{"PING"}.bytes());
  timer_.set(loop_.now() + kAskAfter);
}

void Subscriber::lost(std::string_view why) {
  if (!std::exchange(complained_, true))
    log_warn("Redis at {}: no subscription to {}: {}", server_.text(), channel_, why);
  leave_server();
  state_ = State::kWaiting;
  timer_.set(loop_.now() + back_off_.next());
}

void Subscriber::leave_server() {
  connection_.reset();
  if (std::exchange(state_, State::kWaiting) != State::kLive) return;
  counters_.live_subscriptions.subtract();
  owner_.changed(false);
}

}  // namespace weir::redis
