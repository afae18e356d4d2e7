// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "weir/lookup/testing/shared_source.h"

namespace weir::lookup {
namespace {

using testing::partner;
using testing::record;

// A reader whose owner finds so many readings outdated.
class ReaderTest : public ::testing::Test {
 protected:
  KnownPtr want_with(int outdated) {
    outdated_ = outdated;
    Reader reader(clock_, 1,
                  {.open = [this] { return source_.open(); },
                   .read = [this](const auto& subjects, const auto&) { return take(subjects); },
                   .changed = [](bool, const std::string&) {}});
    std::promise<KnownPtr> told;
    reader.want(partner("acme"), [&](KnownPtr answer) { told.set_value(std::move(answer)); });
    return told.get_future().get();
  }
  std::vector<Reader::Taken> take(const std::vector<partners::Subject>& subjects) {
    std::vector<Reader::Taken> all;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      all.push_back({.known = known_of(record(std::to_string(source_.reads()))), .outdated = outdated_-- > 0});
    }
    return all;
  }
  static std::string name_of(const KnownPtr& answer) {
    return std::get<partners::PartnerRecord>(answer->record).partner.name;
  }

  ManualClock clock_;
  testing::SharedSource source_;
  std::atomic<int> outdated_{0};
};

TEST_F(ReaderTest, WhatIsReadIsTold) { EXPECT_EQ(name_of(want_with(0)), "1"); }

TEST_F(ReaderTest, WhatChangedMeanwhileIsReadOnceMore) { EXPECT_EQ(name_of(want_with(1)), "2"); }

TEST_F(ReaderTest, WhatChangesAllTheTimeIsToldAllTheSame) {
  EXPECT_EQ(name_of(want_with(1000)), "2");
  EXPECT_EQ(source_.reads(), 2U);
}

TEST_F(ReaderTest, WhatCannotBeReadIsNotKnown) {
  source_.fail(true);
  EXPECT_EQ(want_with(0), nullptr);
}

}  // namespace
}  // namespace weir::lookup
