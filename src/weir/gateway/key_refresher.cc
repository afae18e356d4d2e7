// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/key_refresher.h"

#include <algorithm>
#include <thread>
#include <tuple>

#include "weir/base/fingerprint.h"
#include "weir/base/log.h"
#include "weir/gateway/refresh_schedule.h"
#include "weir/io/https_client.h"
#include "weir/jose/key_set.h"

namespace weir::gateway {
namespace {

constexpr std::size_t kLargest = 1 << 20;
constexpr auto kTime = std::chrono::seconds(10);

}  // namespace

class KeyRefresher::Fetch {
 public:
  Fetch(const config::JwtCaller& caller, const Clock& clock)
      : url_(caller.keys),
        ca_(caller.ca),
        refresh_(caller.refresh),
        clock_(clock),
        source_(std::make_shared<identity::KeySource>()),
        client_(caller.ca),
        thread_([this] { run(); }) {}
  ~Fetch() {
    source_->close();
    client_.cancel();
    thread_.join();
  }
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  bool is_for(const config::JwtCaller& caller) const {
    return std::tie(url_, ca_, refresh_) == std::tie(caller.keys, caller.ca, caller.refresh);
  }
  bool is_held() const { return source_.use_count() > 1; }
  const std::shared_ptr<identity::KeySource>& source() const { return source_; }
  Figures figures() const;

 private:
  void run();
  Result<void> fetch();
  void tell(const Result<void>& result);

  const std::string url_;
  const std::string ca_;
  const nanoseconds refresh_;
  const Clock& clock_;
  const std::shared_ptr<identity::KeySource> source_;
  io::HttpsClient client_;
  std::atomic<std::uint64_t> successes_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::int64_t> last_success_{0};  // Instant; valid when successes_ > 0
  bool failing_ = false;
  std::thread thread_;
};

void KeyRefresher::Fetch::run() {
  RefreshSchedule schedule(refresh_, FingerprintKey::random().words[0]);
  while (!source_->is_closed()) {
    const Instant now = clock_.now();
    if (schedule.due() > now) {
      if (source_->wait_for_miss(schedule.due() - now)) schedule.missed(clock_.now());
      continue;
    }
    const auto result = fetch();
    if (source_->is_closed()) return;
    schedule.done(result.has_value(), clock_.now());
    tell(result);
  }
}

Result<void> KeyRefresher::Fetch::fetch() {
  const auto text = client_.get(url_, kLargest, kTime);
  if (!text) return std::unexpected(text.error());
  auto reading = jose::KeySet::read(*text, jose::KeySet::Origin::kUrl);
  if (!reading) return std::unexpected(reading.error());
  if (failing_ || successes_ == 0) {
    for (const std::string& one : reading->left_out) log_warn("keys from {}: left out is {}", url_, one);
  }
  source_->replace(std::make_shared<const jose::KeySet>(std::move(reading->keys)));
  return {};
}

// Once when it begins to fail, and once when it works again.
void KeyRefresher::Fetch::tell(const Result<void>& result) {
  (result ? successes_ : failures_).fetch_add(1);
  if (result) last_success_ = clock_.now().time_since_epoch().count();
  if (!result && !failing_) {
    log_warn("keys from {}: {}; {}", url_, result.error().message,
             source_->version() == 0 ? "there are none yet" : "those of before stay");
  } else if (result && (failing_ || successes_ == 1)) {
    log_info("keys from {}: {} in force", url_, source_->snapshot().keys->size());
  }
  failing_ = !result;
}

KeyRefresher::Figures KeyRefresher::Fetch::figures() const {
  const auto keys = source_->snapshot().keys;
  Figures figures{url_, successes_, failures_, keys == nullptr ? 0 : keys->size(), std::nullopt};
  if (figures.successes > 0) figures.age = clock_.now() - Instant(nanoseconds(last_success_.load()));
  return figures;
}

KeyRefresher::KeyRefresher(const Clock& clock) : clock_(clock) {}

KeyRefresher::~KeyRefresher() = default;

std::shared_ptr<identity::KeySource> KeyRefresher::open(const config::JwtCaller& caller) {
  const std::scoped_lock lock(mutex_);
  const auto is_for = [&](const auto& fetch) { return fetch->is_for(caller); };
  const auto known = std::ranges::find_if(fetches_, is_for);
  if (known != fetches_.end()) return (*known)->source();
  fetches_.push_back(std::make_unique<Fetch>(caller, clock_));
  return fetches_.back()->source();
}

void KeyRefresher::wait(nanoseconds most) {
  const Instant end = clock_.now() + most;
  for (const auto& fetch : fetches_) {
    const nanoseconds left = end - clock_.now();
    if (left <= nanoseconds(0) || !fetch->source()->wait_for_keys(left)) return;
  }
}

// A thread may take a moment to end, so it does that without the lock.
void KeyRefresher::prune() {
  std::vector<std::unique_ptr<Fetch>> ended;
  const std::scoped_lock lock(mutex_);
  for (auto& fetch : fetches_) {
    if (!fetch->is_held()) ended.push_back(std::move(fetch));
  }
  std::erase(fetches_, nullptr);
}

std::vector<KeyRefresher::Figures> KeyRefresher::figures() const {
  std::vector<Figures> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& fetch : fetches_) all.push_back(fetch->figures());
  return all;
}

}  // namespace weir::gateway
