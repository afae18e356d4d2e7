// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::lookup {

Reader::Reader(const Clock& clock, std::size_t threads, Owner owner) : clock_(clock), owner_(std::move(owner)) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) threads_.emplace_back([this] { run(); });
}

Reader::~Reader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (const Wanted& wanted : queue_) wanted.done(false);
}

void Reader::want(const partners::Subject& subject, Done done) {
  if (resting()) return done(false);
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({subject, std::move(done)});
  }
  wake_.notify_one();
}

void Reader::run() {
  std::unique_ptr<partners::Source> source;
  for (;;) {
    const std::vector<Wanted> wanted = take();
    if (wanted.empty()) return;
    if (source == nullptr) source = owner_.open();
    const bool done = read(*source, wanted);
    for (const Wanted& one : wanted) one.done(done);
  }
}

// Waits for some; none: it is over.
std::vector<Reader::Wanted> Reader::take() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  std::vector<Wanted> taken;
  if (stopping_) return taken;
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kMostTogether));
  std::move(queue_.begin(), end, std::back_inserter(taken));
  queue_.erase(queue_.begin(), end);
  return taken;
}

bool Reader::read(partners::Source& source, const std::vector<Wanted>& wanted) {
  std::vector<partners::Subject> subjects;
  for (const Wanted& one : wanted) subjects.push_back(one.subject);
  queries_.fetch_add(1, std::memory_order_relaxed);
  auto reading = source.read(subjects);
  note(reading ? Result<void>() : std::unexpected(reading.error()));
  if (reading) owner_.read(subjects, *std::move(reading));
  return reading.has_value();
}

void Reader::note(const Result<void>& outcome) {
  const bool up = outcome.has_value();
  if (!up) {
    failures_.fetch_add(1, std::memory_order_relaxed);
    rests_until_.store((clock_.now() + kRestAfterFailure).time_since_epoch().count(), std::memory_order_relaxed);
  }
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(up_, up) == up) return;
  }
  owner_.changed(up, up ? "" : outcome.error().message);
}

bool Reader::resting() const {
  return clock_.now().time_since_epoch().count() < rests_until_.load(std::memory_order_relaxed);
}

}  // namespace weir::lookup
