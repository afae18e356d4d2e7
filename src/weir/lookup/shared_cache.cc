// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/shared_cache.h"

#include <chrono>
#include <utility>

namespace weir::lookup {

std::string channel_of(std::string_view prefix) { return std::string(prefix) + ":policies"; }

SharedCache::SharedCache(const Clock& clock, redis::ClientSettings settings, std::string prefix,
                         const Lifetimes& lifetimes, const std::function<void()>& told)
    : settings_(std::move(settings)),
      prefix_(std::move(prefix)),
      lifetimes_(lifetimes),
      loop_(clock),
      client_(loop_, settings_, counters_),
      subscriber_(loop_, settings_.node, channel_of(prefix_),
                  {.servers = [this] { return client_.servers(); },
                   .message = [told](std::string_view) { told(); },
                   .changed = [told](bool) { told(); }},
                  counters_) {}

SharedCache::~SharedCache() { stop(); }

void SharedCache::start() {
  loop_.post([this] {
    client_.start();
    subscriber_.start();
  });
  thread_ = std::thread([this] { loop_.run(); });
}

void SharedCache::stop() {
  if (!thread_.joinable()) return;
  loop_.post([this] {
    subscriber_.shut();
    client_.shut();
    loop_.stop();
  });
  thread_.join();
}

void SharedCache::get(const partners::Subject& subject, Done done) {
  loop_.post(
      [this, key = key_of(subject), done = std::move(done)]() mutable { fetch(std::move(key), std::move(done)); });
}

void SharedCache::put(const partners::Subject& subject, const Said& said) {
  const nanoseconds life = lifetimes_.of(said.record);
  loop_.post([this, key = key_of(subject), value = text_of(said), life]() mutable {
    store(std::move(key), std::move(value), life);
  });
}

io::Detached SharedCache::fetch(std::string key, Done done) {
  const redis::Command command{"GET", key};
  const Instant deadline = loop_.now() + kBudget;
  const redis::Answer answer = co_await client_.ask(key, command, deadline);
  const bool found = answer.answered() && !answer.reply.view().is_nil() && !answer.reply.view().is_error();
  done(found ? said_of(answer.reply.view().text()) : std::nullopt);
}

io::Detached SharedCache::store(std::string key, std::string value, nanoseconds life) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(life).count();
  const redis::Command command{"SET", key, value, "PX", std::to_string(millis)};
  const Instant deadline = loop_.now() + kBudget;
  co_await client_.ask(key, command, deadline);
}

void SharedCache::announce() {
  loop_.post([this] { publish(); });
}

io::Detached SharedCache::publish() {
  const std::string channel = channel_of(prefix_);
  const redis::Command command{"PUBLISH", channel, "changed"};
  const Instant deadline = loop_.now() + kBudget;
  co_await client_.ask(channel, command, deadline);
}

std::string SharedCache::key_of(const partners::Subject& subject) const {
  return prefix_ + ":policies:" + name_of(subject);
}

}  // namespace weir::lookup
