// SPDX-License-Identifier: Apache-2.0
//
// For tests: one database that many connections read, which can be away, or slow until it is let go on.
// Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weir/partners/testing/fake_source.h"

namespace weir::lookup::testing {

inline partners::Subject partner(std::string name) { return {partners::Subject::Kind::kPartner, std::move(name)}; }
inline partners::Subject plan(std::string name) { return {partners::Subject::Kind::kPlan, std::move(name)}; }

inline partners::Record record(std::string name, std::string plan_name = {}, std::size_t rows = 0) {
  partners::PartnerRecord made;
  made.partner.name = std::move(name);
  made.partner.plan = std::move(plan_name);
  for (std::size_t i = 0; i < rows; ++i) {
    partners::LimitRow row;
    row.limit = "limit" + std::to_string(i);
    row.owner = {partners::OwnerKind::kPartner, made.partner.name};
    row.rate = "20/s";
    made.limits.push_back(std::move(row));
  }
  return made;
}

inline std::string plan_of(const partners::Record& record) {
  const auto* found = std::get_if<partners::PartnerRecord>(&record);
  return found == nullptr ? "absent" : found->partner.plan;
}

class SharedSource {
 public:
  std::unique_ptr<partners::Source> open() { return std::make_unique<Connection>(*this); }

  std::int64_t put(const partners::Subject& subject, partners::Record record) {
    const std::lock_guard lock(mutex_);
    return source_.put(subject, std::move(record));
  }
  // An empty one, with a history of its own.
  void replace_by_another() {
    const std::lock_guard lock(mutex_);
    source_ = partners::testing::FakeSource();
  }
  void fail(bool fails) {
    const std::lock_guard lock(mutex_);
    source_.fail(fails ? std::optional(Error{ErrorKind::kUnavailable, Origin::kStore, "away"}) : std::nullopt);
  }
  // Whoever reads from now on waits.
  void hold(bool held) {
    {
      const std::lock_guard lock(mutex_);
      held_ = held;
    }
    changed_.notify_all();
  }
  // Until so many wait.
  void await_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }
  std::size_t reads() {
    const std::lock_guard lock(mutex_);
    return source_.reads();
  }

 private:
  class Connection final : public partners::Source {
   public:
    explicit Connection(SharedSource& shared) : shared_(shared) {}
    Result<partners::Reading> read(std::span<const partners::Subject> subjects) override {
      std::unique_lock lock(shared_.mutex_);
      ++shared_.waiting_;
      shared_.changed_.notify_all();
      shared_.changed_.wait(lock, [&] { return !shared_.held_; });
      --shared_.waiting_;
      return shared_.source_.read(subjects);
    }
    Result<std::vector<partners::Change>> changes_after(std::int64_t revision, std::size_t most) override {
      const std::lock_guard lock(shared_.mutex_);
      return shared_.source_.changes_after(revision, most);
    }
    Result<std::int64_t> revision() override {
      const std::lock_guard lock(shared_.mutex_);
      return shared_.source_.revision();
    }

   private:
    SharedSource& shared_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  partners::testing::FakeSource source_;
  bool held_ = false;
  std::size_t waiting_ = 0;
};

}  // namespace weir::lookup::testing
