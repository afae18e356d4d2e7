// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/slot_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace weir::lookup {
namespace {

// The low word is where a fingerprint is at home.
Fingerprint print(std::uint64_t home, std::uint64_t which = 0) { return {.low = home, .high = which}; }

TEST(SlotTable, NothingIsFoundInAnEmptyOne) {
  SlotTable table;
  EXPECT_EQ(table.find(print(1)), nullptr);
  EXPECT_EQ(table.size(), 0U);
  table.each([](const Slot&) { ADD_FAILURE(); });
}

TEST(SlotTable, WhoHasTheSameHomeStandsNextToIt) {
  SlotTable table;
  for (std::uint32_t i = 0; i < 5; ++i) table.add(print(15, i), i);  // the last home: round the end
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_NE(table.find(print(15, i)), nullptr);
    EXPECT_EQ(table.find(print(15, i))->entry, i);
  }
  EXPECT_EQ(table.find(print(15, 5)), nullptr);
}

TEST(SlotTable, WhatStandsBehindWhatIsErasedIsStillFound) {
  for (std::uint32_t erased = 0; erased < 6; ++erased) {
    SlotTable table;
    const std::vector<Fingerprint> prints{print(14, 0), print(15, 1), print(14, 2),
                                          print(0, 3),  print(15, 4), print(1, 5)};
    for (std::uint32_t i = 0; i < prints.size(); ++i) table.add(prints[i], i);
    table.erase(prints[erased]);
    for (std::uint32_t i = 0; i < prints.size(); ++i) {
      const Slot* found = table.find(prints[i]);
      ASSERT_EQ(found != nullptr, i != erased) << erased << ' ' << i;
      if (i == erased) continue;

      EXPECT_EQ(found->entry, i);
    }
  }
}

TEST(SlotTable, WhatIsErasedLetsGoOfWhatItKnew) {
  SlotTable table;
  const KnownPtr known = std::make_shared<const Known>();
  table.add(print(1), 0).known = known;
  table.add(print(1, 1), 1);
  table.erase(print(1));
  EXPECT_EQ(known.use_count(), 1);
  EXPECT_EQ(table.find(print(1, 1))->known, nullptr);
}

TEST(SlotTable, ItHoldsWhatAMapHolds) {
  std::mt19937_64 random(7);
  SlotTable table;
  std::map<std::uint64_t, std::uint32_t> model;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    const std::uint64_t which = random() % 700;
    const Fingerprint one = print(which % 97, which);  // many share a home
    if (model.contains(which)) {
      ASSERT_NE(table.find(one), nullptr);
      ASSERT_EQ(table.find(one)->entry, model[which]);
      table.erase(one);
      model.erase(which);
    } else {
      ASSERT_EQ(table.find(one), nullptr);
      table.add(one, step);
      model[which] = step;
    }
    ASSERT_EQ(table.size(), model.size());
  }
  std::size_t seen = 0;
  table.each([&](const Slot& slot) { seen += model.at(slot.print.high) == slot.entry ? 1U : 0U; });
  EXPECT_EQ(seen, model.size());
}

}  // namespace
}  // namespace weir::lookup
