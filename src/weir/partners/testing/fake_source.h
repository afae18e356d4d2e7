// SPDX-License-Identifier: Apache-2.0
//
// For tests: a source in memory that behaves as a database would: changes have revisions in their order, and it can
// be away. Thread safety: none.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "weir/partners/source.h"

namespace weir::partners::testing {

class FakeSource final : public Source {
 public:
  Result<Reading> read(std::span<const Subject> subjects) override {
    ++reads_;
    if (failure_) return std::unexpected(*failure_);
    Reading reading{.revision = revision_, .records = {}, .faults = {}};
    for (const Subject& subject : subjects) {
      const auto found = records_.find(subject);
      reading.records.push_back(found == records_.end() ? Record() : found->second);
    }
    return reading;
  }
  Result<std::vector<Change>> changes_after(std::int64_t revision, std::size_t most) override {
    if (failure_) return std::unexpected(*failure_);
    std::vector<Change> found;
    for (const Change& change : changes_) {
      if (change.revision > revision && found.size() < most) found.push_back(change);
    }
    return found;
  }
  Result<std::int64_t> revision() override {
    if (failure_) return std::unexpected(*failure_);
    return revision_;
  }

  // Replaces the record of a subject; monostate removes it. Returns the revision of the change.
  std::int64_t put(const Subject& subject, Record record) {
    const bool there = records_.erase(subject) > 0;
    const bool stays = !std::holds_alternative<std::monostate>(record);
    if (stays) records_.emplace(subject, std::move(record));
    const Change::Action action = !stays  ? Change::Action::kDeleted
                                  : there ? Change::Action::kChanged
                                          : Change::Action::kCreated;
    changes_.push_back({.revision = ++revision_,
                        .at = {},
                        .by = "test",
                        .action = action,
                        .subject = subject,
                        .kind = RowKind::kPlan,
                        .name = subject.name,
                        .before = {},
                        .after = {}});
    return revision_;
  }
  // Absent: it is there again.
  void fail(std::optional<Error> failure) { failure_ = std::move(failure); }
  std::size_t reads() const { return reads_; }

 private:
  std::map<Subject, Record> records_;
  std::vector<Change> changes_;
  std::int64_t revision_ = 0;
  std::size_t reads_ = 0;
  std::optional<Error> failure_;
};

}  // namespace weir::partners::testing
