// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/account_text.h"

#include <gtest/gtest.h>

#include "weir/limit/alignment.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::store {
namespace {

std::string name_of(const std::vector<std::string>& values) {
  std::string name;
  AccountName writer("weir", name);
  for (const std::string& value : values) writer.add(value);
  writer.finish();
  return name;
}

TEST(AccountText, EveryNameIsReadAsItWasWrittenByItsKeyAndByItsValues) {
  const std::vector<std::vector<std::string>> accounts{{},
                                                       {"acme"},
                                                       {"acme", "MAIN"},
                                                       {"", ""},
                                                       {"a,b", "c"},
                                                       {"a\\", "b"},
                                                       {"\\,\\"},
                                                       {"{a}", "}{"},
                                                       {"a\\-", "\\#1"},
                                                       {"-", "#", "(", ")"},
                                                       {std::string(600, 'x')},
                                                       {std::string("a\0b", 3)}};
  for (const auto& values : accounts) {
    const std::string name = name_of(values);
    for (const std::string& text : {name, name.substr(6, name.size() - 7)}) {
      const auto account = AccountText::read("weir", text);
      ASSERT_TRUE(account) << text;
      EXPECT_EQ(account->name(), name);
      EXPECT_EQ(account->values(), values.size());
    }
  }
}

TEST(AccountText, AValueThatIsTooLongForANameMayBeWrittenOut) {
  const std::string value(600, 'x');
  EXPECT_EQ(AccountText::read("weir", value + ",MAIN")->name(), name_of({value, "MAIN"}));
}

TEST(AccountText, ThePhaseIsThatOfTheKeyAsPeopleWriteIt) {
  EXPECT_EQ(AccountText::read("weir", "acme,MAIN")->phase(), limit::fnv1a("acme,MAIN"));
  EXPECT_EQ(AccountText::read("weir", "a\\,b\\(,\\-")->phase(), limit::fnv1a("a\\,b{,"));
  EXPECT_EQ(AccountText::read("weir", name_of({std::string(600, 'x')}))->phase(), std::nullopt);
}

TEST(AccountText, WhatNoAccountIsCalledIsNoName) {
  for (const char* text : {"a{b", "a}", "\\", "a\\", "a\\x", "\\#12", "a\\-", "other:{acme}"}) {
    EXPECT_FALSE(AccountText::read("weir", text)) << text;
  }
}

}  // namespace
}  // namespace weir::store
