// SPDX-License-Identifier: Apache-2.0
#include "weir/io/event_loop.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdlib>

namespace weir::io {
namespace {

constexpr int kMaxEvents = 512;
constexpr int kMaxWaitMs = 1000;  // so that last_turn() shows that an idle loop is alive

}  // namespace

EventLoop::EventLoop(const Clock& clock, SocketCalls calls)
    : clock_(clock),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      now_(clock.now()),
      timers_(now_),
      transfers_(calls),
      events_(kMaxEvents),
      last_turn_(now_.time_since_epoch().count()) {
  if (!epoll_.is_open() || !wake_.is_open()) std::abort();  // out of descriptors before anything was opened
  watch(wake_.get(), EPOLLIN | EPOLLET, wakeup_);
}

EventLoop::~EventLoop() = default;

bool EventLoop::watch(int descriptor, std::uint32_t events, EventSink& sink) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &sink;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void EventLoop::unwatch(int descriptor) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

void EventLoop::run() {
  while (!stopping_.load(std::memory_order_acquire)) turn();
  run_posted();
  retired_.clear();
}

void EventLoop::turn() {
  const int wait = soon_.empty() && !transfers_.pending() ? timers_.wait_ms(now_, kMaxWaitMs) : 0;
  const int count = ::epoll_wait(epoll_.get(), events_.data(), kMaxEvents, wait);
  now_ = clock_.now();
  wall_is_fresh_ = false;
  last_turn_.store(now_.time_since_epoch().count(), std::memory_order_relaxed);
  for (int i = 0; i < count; ++i) static_cast<EventSink*>(events_[i].data.ptr)->on_events(events_[i].events);
  transfers_.receive_and_notify();
  run_soon();
  timers_.advance(now_);
  transfers_.send_and_notify();
  if (!retired_.empty()) std::exchange(retired_, {}).clear();
}

// Observers that ask again are served in the next turn.
void EventLoop::run_soon() {
  for (std::size_t left = soon_.size(); left > 0 && !soon_.empty(); --left) {
    Observer* next = soon_.front();
    soon_.erase(soon_.begin());
    next->notify();
  }
}

WallTime EventLoop::wall() {
  if (!wall_is_fresh_) {
    wall_ = clock_.wall();
    wall_is_fresh_ = true;
  }
  return wall_;
}

void EventLoop::post(std::function<void()> work) {
  {
    const std::scoped_lock lock(posted_mutex_);
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void EventLoop::run_posted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(wake_.get(), &count, sizeof count);
  std::vector<std::function<void()>> work;
  {
    const std::scoped_lock lock(posted_mutex_);
    work.swap(posted_);
  }
  for (auto& one : work) one();
}

void EventLoop::stop() {
  stopping_.store(true, std::memory_order_release);
  post([] {});
}

}  // namespace weir::io
