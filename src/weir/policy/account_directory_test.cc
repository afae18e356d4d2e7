// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/account_directory.h"

#include <gtest/gtest.h>

#include "weir/policy/testing/scene.h"

namespace weir::policy {
namespace {

using testing::limit;
using testing::with_limits;

std::string show(const CountedKind& kind) {
  std::string text;
  for (const std::string& attribute : kind.per) text += (text.empty() ? "" : ",") + attribute;
  text += ':';
  for (const CountedSlot& slot : kind.slots) {
    text += ' ' + std::to_string(slot.limit);
    if (slot.by_endpoint) text += '<' + slot.endpoint + '>';
    if (!slot.method.empty()) text += '[' + slot.method + ']';
  }
  return text;
}

TEST(AccountDirectory, LimitsAreFoundInTheSlotsThatTheyCountIn) {
  config::Limit shadow = limit("shadow", {"partner"}, 1);
  shadow.mode = config::Mode::kShadow;
  config::Limit unlimited = limit("unlimited", {"user"}, 1);
  unlimited.rate.reset();
  config::Limit header = limit("header", {}, 1);
  header.per = {{config::PerAttribute::Source::kHeader, "X-Tenant"}};
  const auto kinds =
      account_directory(with_limits({limit("a", {"partner"}, 1), limit("b", {"partner", "service"}, 1), unlimited,
                                     limit("c", {"endpoint", "partner"}, 1, {"GET /x"}), shadow, header}));
  std::vector<std::string> shown;
  for (const CountedKind& kind : kinds) shown.push_back(show(kind));
  EXPECT_EQ(shown, (std::vector<std::string>{"partner: 0 3<GET /x> 3<>", "partner,service: 1", "partner: 4",
                                             "header:X-Tenant: 5"}));
}

TEST(AccountDirectory, MethodsAreSlotsInTheOrderOfTheirNumbers) {
  const auto kinds = account_directory(with_limits({limit("a", {"method"}, 1)}));
  ASSERT_EQ(kinds.size(), 1U);
  ASSERT_EQ(kinds[0].slots.size(), kMethods);
  for (std::uint32_t i = 0; i < kMethods; ++i) EXPECT_EQ(kinds[0].slots[i].method, method_text(i));
}

TEST(AccountDirectory, ASlotHasTheNumbersOfItsLimit) {
  config::Limit by = limit("a", {"partner"}, 1);
  by.by.push_back(
      {.attribute = "plan", .value = "gold", .rate = config::Rate{7, std::chrono::minutes(1)}, .burst = 7});
  const auto kinds = account_directory(with_limits({by}));
  ASSERT_EQ(kinds.size(), 1U);
  ASSERT_EQ(kinds[0].slots.at(0).variants.size(), 2U);
  EXPECT_EQ(kinds[0].slots[0].variants[1].capacity(), 7);
  EXPECT_EQ(kinds[0].kind.slots().size(), 1U);
}

}  // namespace
}  // namespace weir::policy
