// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace weir::gateway {
namespace {

constexpr std::size_t kMostIdleExchanges = 256;

}  // namespace

Worker::Worker(const WorkerContext& context, std::shared_ptr<const Generation> generation)
    : loop_(context.clock, context.calls),
      hosts_(loop_, metrics_),
      shared_(context.shared == nullptr ? nullptr : std::make_unique<SharedStoreAccess>(loop_, *context.shared)),
      pipeline_(context.store, context.lines, shared_ ? &shared_->shared : nullptr, context.directory, context.clock,
                context.store_epoch),
      budget_(context.budget),
      log_(context.log),
      id_prefix_(context.id_prefix),
      parser_(generation->rules) {
  if (context.directory != nullptr) lookups_.emplace(loop_, *context.directory);
  adopt(std::move(generation));
}

Worker::~Worker() = default;

void Worker::start() {
  thread_ = std::thread([this] {
    if (shared_) shared_->start();
    loop_.run();
  });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::adopt(std::shared_ptr<const Generation> generation) {
  parser_ = http::RequestParser(generation->rules);
  if (shared_) shared_->store.begin_anew();
  generation_ = std::make_shared<WorkerGeneration>(std::move(generation), hosts_, metrics_);
}

void Worker::open_listener(const std::string& address, io::Descriptor socket) {
  acceptors_[address] = std::make_unique<io::Acceptor>(
      loop_, std::move(socket),
      [this, address](io::Acceptor::Accepted accepted) { accept(address, std::move(accepted)); },
      [this] { return budget_.has_room(); });
}

void Worker::close_listener(const std::string& address) {
  const auto found = acceptors_.find(address);
  if (found == acceptors_.end()) return;
  found->second->close();
  loop_.retire(std::move(found->second));
  acceptors_.erase(found);
}

bool Worker::is_introduced(const std::string& listener) const {
  return std::ranges::any_of(generation_->shared->config.listeners, [&](const config::Listener& one) {
    return one.proxy_protocol && one.address.text == listener;
  });
}

void Worker::accept(const std::string& listener, io::Acceptor::Accepted accepted) {
  budget_.open.fetch_add(1, std::memory_order_relaxed);
  metrics_.client_connections.add();
  metrics_.accepted_connections.add();
  auto session = std::make_unique<Session>(*this, std::move(accepted.socket), accepted.peer, is_introduced(listener));
  session->index = sessions_.size();
  sessions_.push_back(std::move(session));
  sessions_.back()->run();
}

void Worker::remove(Session& session) {
  const std::size_t index = session.index;
  loop_.forget(session.observer());
  std::unique_ptr<Session> removed = std::move(sessions_[index]);
  if (index + 1 < sessions_.size()) {
    sessions_[index] = std::move(sessions_.back());
    sessions_[index]->index = index;
  }
  sessions_.pop_back();
  removed->close();
  loop_.retire(std::move(removed));
  budget_.open.fetch_sub(1, std::memory_order_relaxed);
  metrics_.client_connections.subtract();
}

void Worker::begin_drain() {
  draining_ = true;
  drain_deadline_ = loop_.now() + generation_->shared->config.shutdown.timeout;
  for (auto& [address, acceptor] : acceptors_) {
    acceptor->close();
    loop_.retire(std::move(acceptor));
  }
  acceptors_.clear();
  for (std::size_t i = sessions_.size(); i-- > 0;) sessions_[i]->begin_drain();
  if (shared_) shared_->store.close();
}

std::size_t Worker::cut_all() {
  std::size_t busy = 0;
  for (std::size_t i = sessions_.size(); i-- > 0;) {
    busy += sessions_[i]->busy() ? 1 : 0;
    sessions_[i]->cut();
  }
  if (lookups_) lookups_->shut();
  if (shared_) shared_->shut();  // whoever waits for a decision ends, too
  return busy;
}

std::unique_ptr<http::RequestParser> Worker::lend_parser() {
  auto lent = std::make_unique<http::RequestParser>(std::move(parser_));
  parser_ = http::RequestParser(generation_->shared->rules);
  return lent;
}

std::unique_ptr<Exchange> Worker::take_exchange() {
  if (idle_exchanges_.empty()) return std::make_unique<Exchange>(loop_, scratch_);
  auto exchange = std::move(idle_exchanges_.back());
  idle_exchanges_.pop_back();
  return exchange;
}

void Worker::put_back(std::unique_ptr<Exchange> exchange) {
  if (idle_exchanges_.size() < kMostIdleExchanges) idle_exchanges_.push_back(std::move(exchange));
}

std::uint64_t Worker::add_waiting(Session& session) {
  waiting_.emplace(++tickets_, &session);
  metrics_.waiting.set(waiting_.size());
  return tickets_;
}

void Worker::remove_waiting(std::uint64_t ticket) {
  waiting_.erase(ticket);
  metrics_.waiting.set(waiting_.size());
}

void Worker::wake_waiting(std::uint64_t ticket) {
  post([this, ticket] {
    const auto found = waiting_.find(ticket);
    if (found != waiting_.end()) found->second->wake_in_line();
  });
}

std::string_view Worker::date() {
  const WallTime wall = loop_.wall();
  const std::int64_t second = std::chrono::floor<std::chrono::seconds>(wall).time_since_epoch().count();
  if (second != date_second_) {
    date_second_ = second;
    http::write_imf_date(wall, date_.data());
  }
  return {date_.data(), date_.size()};
}

void Worker::make_request_id(std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::array<char, 8> digits;
  std::uint64_t rest = ids_++;
  for (char& digit : digits) {
    digit = kDigits[rest & 31];
    rest >>= 5;
  }
  out.assign(id_prefix_).append(digits.data(), digits.size());
}

std::string Worker::make_trace_parent() {
  const std::uint64_t id = ids_++;
  const Fingerprint trace = fingerprint(trace_key_, fmt::format("trace {}", id));
  return trace_parent(trace, fingerprint(trace_key_, fmt::format("span {}", id)).low | 1);  // none is zero
}

}  // namespace weir::gateway
