// SPDX-License-Identifier: Apache-2.0
#include "weir/decide/lines.h"

#include <algorithm>

namespace weir::decide {

Lines::Place::~Place() {
  const Lock guard = lines_.lock(key_.subject);
  auto& lines = lines_.shard_of(key_.subject).lines;
  const auto found = lines.find(key_);
  std::erase(found->second.places, this);
  if (found->second.places.empty()) lines.erase(found);
}

std::unique_ptr<Lines::Place> Lines::join(const Key& key, const Counter& counter, const Arrival& arrival,
                                          Waiter& waiter) {
  auto& lines = shard_of(key.subject).lines;
  const auto known = lines.find(key);
  limit::Ticks starts_at = arrival.starts_at;
  if (known != lines.end()) {
    starts_at = std::max(starts_at, known->second.places.back()->starts_at() + arrival.interval);
  }
  if (starts_at <= arrival.now) return nullptr;
  std::unique_ptr<Place> place(new Place(*this, key, starts_at, waiter));
  Line& line = known != lines.end() ? known->second : lines[key];
  line.counter = counter;
  line.places.push_back(place.get());
  return place;
}

void Lines::move_up(const Key& key, limit::Ticks after, limit::Ticks by) {
  const auto& lines = shard_of(key.subject).lines;
  const auto found = lines.find(key);
  if (found == lines.end()) return;
  for (Place* place : found->second.places) {
    if (place->starts_at() <= after) continue;
    place->starts_at_.fetch_sub(by);  // before the waiter looks whether there is somebody to wake
    place->waiter_.moved_up();
  }
}

void Lines::reschedule(const Starts& starts) {
  for (Shard& shard : shards_) {
    const Lock guard(shard.mutex);
    for (auto& [key, line] : shard.lines) {
      auto [next, interval] = starts(key.subject, line.counter, line.places.size());
      for (Place* place : line.places) {
        if (next < place->starts_at()) {
          place->starts_at_.store(next);
          place->waiter_.moved_up();
        }
        next = place->starts_at() + interval;
      }
    }
  }
}

std::size_t Lines::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const Lock guard(shard.mutex);
    for (const auto& [key, line] : shard.lines) total += line.places.size();
  }
  return total;
}

}  // namespace weir::decide
