// SPDX-License-Identifier: Apache-2.0
#include "weir/io/timer.h"

#include <algorithm>
#include <bit>

namespace weir::io {

void Timer::set(Instant deadline) {
  deadline_ = deadline;
  // A later deadline leaves the timer where it is: its slot looks again when it comes round.
  if (link_ != nullptr && TimerWheel::tick(deadline) >= slot_tick_) return;
  unlink();
  wheel_.link(*this);
}

void Timer::clear() {
  deadline_ = Instant::max();
  unlink();
}

void Timer::unlink() {
  if (link_ == nullptr) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  link_ = nullptr;
  next_ = nullptr;
  wheel_.note_unlinked(slot_tick_ % TimerWheel::kSlots);
}

void TimerWheel::note_unlinked(std::int64_t index) {
  if (slots_[index] == nullptr) note_empty(index);
}

void TimerWheel::link(Timer& timer) {
  // The slot behind the deadline's own, so that a timer never fires early; further than a turn of the wheel: the
  // last.
  const std::int64_t wanted = tick(timer.deadline_) + 1;
  timer.slot_tick_ = std::clamp(wanted, now_tick_, now_tick_ + kSlots - 1);
  const std::int64_t index = timer.slot_tick_ % kSlots;
  Timer*& head = slots_[index];
  timer.next_ = head;
  if (head != nullptr) head->link_ = &timer.next_;
  head = &timer;
  timer.link_ = &head;
  occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
  summary_ |= std::uint64_t{1} << (index / 64);
}

void TimerWheel::advance(Instant now) {
  const std::int64_t until = tick(now);
  while (now_tick_ <= until) {
    const std::int64_t skip = std::min<std::int64_t>(slots_to_next(), until - now_tick_ + 1);
    now_tick_ += skip;
    if (now_tick_ > until) return;
    const std::int64_t index = now_tick_ % kSlots;
    ++now_tick_;
    fire_slot(index, now);
  }
}

void TimerWheel::fire_slot(std::int64_t index, Instant now) {
  Timer* pending = slots_[index];
  slots_[index] = nullptr;
  note_empty(index);
  if (pending != nullptr) pending->link_ = &pending;
  // Observers may set, clear or destroy any timer, pending ones included: always go on from the head of the list.
  while (pending != nullptr) {
    Timer& timer = *pending;
    timer.unlink();
    if (timer.deadline_ > now) {
      if (timer.is_set()) link(timer);
      continue;
    }
    timer.deadline_ = Instant::max();
    timer.observer_.notify();
  }
}

void TimerWheel::note_empty(std::int64_t index) {
  std::uint64_t& word = occupied_[index / 64];
  word &= ~(std::uint64_t{1} << (index % 64));
  if (word == 0) summary_ &= ~(std::uint64_t{1} << (index / 64));
}

int TimerWheel::slots_to_next() const {
  static_assert(kSlots == 64 * 64, "one summary word");
  const std::int64_t start = now_tick_ % kSlots;
  const std::int64_t word = start / 64;
  if (const std::uint64_t here = occupied_[word] >> (start % 64); here != 0) return std::countr_zero(here);
  // The words after this one, in order, round to this one again.
  const int turn = static_cast<int>((word + 1) % 64);
  const std::uint64_t after = std::rotr(summary_, turn);
  if (after == 0) return kSlots;
  const std::int64_t next = (turn + std::countr_zero(after)) % 64;
  const std::int64_t index = next * 64 + std::countr_zero(occupied_[next]);
  return static_cast<int>((index - start + kSlots) % kSlots);
}

int TimerWheel::wait_ms(Instant now, int most) const {
  const int slots = slots_to_next();
  if (slots == kSlots) return most;
  const std::int64_t due = (now_tick_ + slots) << kTickShift;
  const std::int64_t left = due - now.time_since_epoch().count();
  return static_cast<int>(std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 0, most));
}

}  // namespace weir::io
