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
  shut();
  for (std::thread& thread : threads_) thread.join();
  for (const Queue* queue : {&keys_, &others_}) {
    for (const Wanted& wanted : *queue) wanted.done(nullptr);
  }
}

void Reader::shut() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void Reader::want(const partners::Subject& subject, Done done) {
  if (enter(subject, done)) return wake_.notify_one();
  done(nullptr);
}

// Takes `done` if it is going to be looked up.
bool Reader::enter(const partners::Subject& subject, Done& done) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queue_of(subject);
  if (stopping_ || queue.size() >= kMostWanted) return false;
  if (!up_ && (probing_ || clock_.now() < rests_until_)) return false;
  probing_ = !up_;
  queue.push_back({subject, std::move(done), /*again=*/false});
  return true;
}

void Reader::run() {
  std::unique_ptr<partners::Source> source;
  for (;;) {
    std::vector<Wanted> wanted = take();
    if (wanted.empty()) return;
    if (source == nullptr) source = owner_.open();
    const std::vector<Taken> taken = read(*source, wanted);
    tell(wanted, taken);
  }
}

Reader::Queue& Reader::queue_of(const partners::Subject& subject) {
  return subject.kind == partners::Subject::Kind::kKey ? keys_ : others_;
}

void Reader::tell(std::vector<Wanted>& wanted, const std::vector<Taken>& taken) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!taken[i].outdated || std::exchange(wanted[i].again, true)) {
      wanted[i].done(taken[i].known);
    } else {
      const std::lock_guard lock(mutex_);
      Queue& queue = queue_of(wanted[i].subject);
      queue.push_back(std::move(wanted[i]));
    }
  }
}

// Waits for some; none: it is over.
std::vector<Reader::Wanted> Reader::take() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return stopping_ || !keys_.empty() || !others_.empty(); });
  std::vector<Wanted> taken;
  if (stopping_) return taken;
  move_some(others_, taken);
  move_some(keys_, taken);
  return taken;
}

void Reader::move_some(Queue& from, std::vector<Wanted>& to) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), kMostTogether));
  std::move(from.begin(), end, std::back_inserter(to));
  from.erase(from.begin(), end);
}

std::vector<Reader::Taken> Reader::read(partners::Source& source, const std::vector<Wanted>& wanted) {
  std::vector<partners::Subject> subjects;
  for (const Wanted& one : wanted) subjects.push_back(one.subject);
  queries_.fetch_add(1, std::memory_order_relaxed);
  auto reading = source.read(subjects);
  note(reading ? Result<void>() : std::unexpected(reading.error()));
  if (!reading) return std::vector<Taken>(wanted.size());
  return owner_.read(subjects, *std::move(reading));
}

void Reader::note(const Result<void>& outcome) {
  const bool up = outcome.has_value();
  if (!up) failures_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (!up) rests_until_ = clock_.now() + kRestAfterFailure;
    probing_ = false;
    if (std::exchange(up_, up) == up) return;
  }
  owner_.changed(up, up ? "" : outcome.error().message);
}

}  // namespace weir::lookup
