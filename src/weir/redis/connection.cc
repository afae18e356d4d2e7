// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weir::redis {
namespace {

constexpr std::size_t kReceive = 16'384;
constexpr nanoseconds kFirstBackOff = std::chrono::milliseconds(50);
constexpr int kMostDoublings = 8;

}  // namespace

std::string Address::text() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::vector<Command> greeting(const NodeSettings& settings) {
  std::vector<Command> commands;
  if (!settings.user.empty()) {
    commands.push_back({"AUTH", settings.user, settings.password});
  } else if (!settings.password.empty()) {
    commands.push_back({"AUTH", settings.password});
  }
  if (settings.database != 0) commands.push_back({"SELECT", std::to_string(settings.database)});
  return commands;
}

std::unique_ptr<Connection> Connection::open(io::EventLoop& loop, const NodeSettings& settings,
                                             const Address& address, std::size_t& next, io::Observer& observer,
                                             Counters& counters) {
  counters.connects.add();
  const auto addresses = settings.resolve(address);
  std::optional<io::Descriptor> socket;
  for (std::size_t tries = 0; tries < addresses.size() && !socket; ++tries) {
    socket = io::Stream::start_connect(addresses[next++ % addresses.size()]);
  }
  if (!socket) return nullptr;
  auto channel = std::make_unique<io::Channel>(loop, std::move(*socket), observer, settings.tls.get(), address.host);
  return std::unique_ptr<Connection>(new Connection(loop, std::move(channel)));
}

Connection::~Connection() {
  channel_->close();
  loop_.retire(std::move(channel_));
}

Connection::Got Connection::next(Reply& reply) {
  for (std::array<char, kReceive> room;;) {
    if (!reader_.next(reply)) return Got::kGarbage;
    if (reply) return Got::kReply;
    const auto got = channel_->receive(room);
    if (got.status == io::Transfer::kWouldBlock) return Got::kNothing;
    if (got.status != io::Transfer::kDone) {
      fault_ = channel_->fault().empty() ? "the connection was closed" : channel_->fault();
      return Got::kLost;
    }
    reader_.feed({room.data(), got.bytes});
  }
}

nanoseconds BackOff::next() {
  const nanoseconds full = std::min(kFirstBackOff * (1 << std::min(failures_++, kMostDoublings)), longest_);
  return nanoseconds(std::uniform_int_distribution<std::int64_t>(full.count() / 2, full.count())(random_));
}

}  // namespace weir::redis
