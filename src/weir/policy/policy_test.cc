// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "weir/policy/testing/scene.h"

namespace weir::policy {
namespace {

using testing::limit;
using testing::Scene;
using testing::with_limits;

// E.g. "partner-service:1 | address:5": limits and costs, accounts apart; shadow accounts in parentheses.
std::string show(const Scene& scene, const Charges& charges) {
  std::string text;
  for (const AccountCharges& account : charges.accounts) {
    if (!text.empty()) text += " | ";
    std::string run;
    for (std::uint32_t at = account.first; at < account.first + account.count; ++at) {
      if (!run.empty()) run += ' ';
      run += std::string(scene.name(charges.limits[at].limit)) + ':' + std::to_string(charges.charges[at].cost);
    }
    text += account.shadow ? "(" + run + ")" : run;
  }
  return text;
}

class PolicyTest : public ::testing::Test {
 protected:
  std::string ask(Scene& scene, std::string_view start, const std::vector<std::string>& fields = {}) {
    return show(scene, scene.charge(start, fields));
  }

  store::MemoryStore store_{{.max_accounts = 10'000}};
};

TEST_F(PolicyTest, LimitsWithTheSamePerAreOneAccount) {
  Scene scene(with_limits({limit("address", {"address"}, 100), limit("partner-service", {"partner", "service"}, 20),
                           limit("create-product", {"partner", "service"}, 2, {"POST /products"})}),
              store_);
  EXPECT_EQ(ask(scene, "POST /products", {"X-Partner: p"}), "partner-service:1 create-product:1 | address:1");
  EXPECT_EQ(ask(scene, "GET /products", {"X-Partner: p"}), "partner-service:1 | address:1");
  EXPECT_EQ(ask(scene, "POST /products"), "address:1");
}

TEST_F(PolicyTest, AccountsComeNarrowestFirstThenAsConfiguredThenShadow) {
  auto shadow = limit("shadow", {"partner", "user", "service", "address"}, 1);
  shadow.mode = config::Mode::kShadow;
  Scene scene(with_limits({shadow, limit("all", {}, 1), limit("address", {"address"}, 1), limit("user", {"user"}, 1),
                           limit("pair", {"partner", "user"}, 1), limit("all-2", {}, 1)}),
              store_);
  EXPECT_EQ(ask(scene, "GET /", {"X-Partner: p", "X-User: u"}),
            "pair:1 | address:1 | user:1 | all:1 all-2:1 | (shadow:1)");
}

TEST_F(PolicyTest, MatchAndServicesChooseTheRequests) {
  auto shop = limit("shop", {"address"}, 1);
  shop.services = {1};
  auto shop_report = limit("shop-report", {"address"}, 1, {"GET /shop/reports/*", "GET /reports/*"});
  shop_report.services = {1};
  Scene scene(with_limits({shop, shop_report, limit("reports", {"address"}, 1, {"GET /reports/*", "* /reports/{x}"}),
                           limit("post", {"address"}, 1, {"POST /{a}", "POST /{a}/{b}"})}),
              store_);
  const struct {
    std::string_view start, charges;
  } kRows[] = {
      {"GET /", ""},
      {"GET /reports", ""},
      {"GET /reports/1", "reports:1"},
      {"HEAD /reports/1", "reports:1"},
      {"PUT /reports/1", "reports:1"},
      {"PUT /reports/1/2", ""},
      {"POST /reports/1", "reports:1 post:1"},
      {"GET /shop", "shop:1"},
      {"GET /shop/reports/1", "shop:1 shop-report:1"},
      {"POST /shop/x", "shop:1 post:1"},
  };
  for (const auto& row : kRows) EXPECT_EQ(ask(scene, row.start), row.charges) << row.start;
}

TEST_F(PolicyTest, ByChoosesTheFirstMatchingRate) {
  auto by = limit("user", {"user"}, 100);
  by.by = {{"plan", "free", config::Rate{10, std::chrono::minutes(1)}, 10},
           {"plan", "gold", std::nullopt, 0},
           {"role", "bot", config::Rate{100, std::chrono::minutes(1)}, 100},
           {"role", "free", config::Rate{1, std::chrono::minutes(1)}, 1}};
  Scene scene(with_limits({by}), store_);
  const LimitInfo& info = scene.policy().limits()[0];
  ASSERT_EQ(info.variants.size(), 3U);  // 100, 10 and 1 per minute
  const struct {
    std::vector<std::string> fields;
    std::optional<limit::Cost> capacity;
  } kRows[] = {
      {{}, 100},
      {{"X-Plan: silver"}, 100},
      {{"X-Plan: free"}, 10},
      {{"X-Plan: FREE"}, 100},
      {{"X-Plan: gold"}, std::nullopt},
      {{"X-Plan: gold", "X-Role: bot"}, std::nullopt},
      {{"X-Role: bot"}, 100},
      {{"X-Role: free"}, 1},
      {{"X-Plan: free", "X-Role: free"}, 10},
  };
  for (const auto& row : kRows) {
    auto fields = row.fields;
    fields.push_back("X-User: u");
    const Charges& charges = scene.charge("GET /", fields);
    ASSERT_EQ(charges.charges.size(), row.capacity ? 1U : 0U) << fields[0];
    if (!row.capacity) continue;
    const VariantIndex variant = charges.limits[0].variant;
    EXPECT_EQ(charges.charges[0].variant, variant);
    EXPECT_EQ(info.variants[variant].capacity(), *row.capacity) << fields[0];
    EXPECT_EQ(info.variant_rates[variant].count, *row.capacity) << fields[0];
  }
}

TEST_F(PolicyTest, AnUnlimitedRateIsNotCharged) {
  auto unlimited = limit("unlimited", {"user"}, 1);
  unlimited.rate.reset();
  auto only_free = limit("only-free", {"user"}, 1);
  only_free.rate.reset();
  only_free.by = {{"plan", "free", config::Rate{10, std::chrono::minutes(1)}, 10}};
  only_free.missing = config::Missing::kRefuse;
  Scene scene(with_limits({unlimited, only_free}), store_);
  EXPECT_TRUE(scene.policy().limits()[0].variants.empty());
  EXPECT_EQ(ask(scene, "GET /", {"X-User: u"}), "");
  EXPECT_EQ(ask(scene, "GET /", {"X-User: u", "X-Plan: free"}), "only-free:1");
  EXPECT_EQ(scene.charge("GET /").missing_refuses, Charges::kNone);
  EXPECT_EQ(scene.charge("GET /", {"X-Plan: free"}).missing_refuses, 1);
}

TEST_F(PolicyTest, AMissingAttributeSkipsRefusesOrShares) {
  auto skip = limit("skip", {"partner", "user"}, 1);
  auto refuse = limit("refuse", {"partner", "user"}, 1, {"GET /strict"});
  refuse.missing = config::Missing::kRefuse;
  auto share = limit("share", {"partner", "user"}, 1);
  share.missing = config::Missing::kShare;
  auto shadow = limit("shadow", {"partner", "user"}, 1);
  shadow.missing = config::Missing::kRefuse;
  shadow.mode = config::Mode::kShadow;
  Scene scene(with_limits({skip, refuse, share, shadow}), store_);
  EXPECT_EQ(ask(scene, "GET /strict", {"X-Partner: p", "X-User: u"}), "skip:1 refuse:1 share:1 | (shadow:1)");

  const Charges& without = scene.charge("GET /", {"X-Partner: p"});
  EXPECT_EQ(show(scene, without), "share:1");
  EXPECT_EQ(without.skipped, (std::vector<LimitIndex>{0, 3}));
  EXPECT_EQ(without.missing_refuses, Charges::kNone);

  EXPECT_EQ(scene.charge("GET /strict", {"X-User: u"}).missing_refuses, 1);
  EXPECT_EQ(scene.charge("GET /", {"X-Partner: p", "X-User: u"}).missing_refuses, Charges::kNone);
}

TEST_F(PolicyTest, DifferentValuesAreDifferentSubjects) {
  auto pair = limit("pair", {"partner", "user"}, 1);
  pair.missing = config::Missing::kShare;
  Scene scene(with_limits({pair}), store_);
  std::vector<Fingerprint> subjects;
  for (const auto& [partner, user] : std::vector<std::pair<std::string, std::string>>{
           {"ab", "c"}, {"a", "bc"}, {"abc", ""}, {"", "abc"}, {"", ""}, {"a,b", "c"}, {"a", "b,c"}, {"A", "bc"}}) {
    subjects.push_back(scene.charge("GET /", {"X-Partner: " + partner, "X-User: " + user}).accounts.at(0).subject);
  }
  std::ranges::sort(subjects);
  EXPECT_EQ(std::ranges::adjacent_find(subjects), subjects.end());
  const auto subject = [&](const char* partner) {
    return scene.charge("GET /", {std::string("X-Partner: ") + partner, "X-User: u"}).accounts.at(0).subject;
  };
  EXPECT_EQ(subject("p"), subject("p"));
}

TEST_F(PolicyTest, OnlyIfMissingAsksForAbsenceOfAllNames) {
  auto anonymous = limit("anonymous", {"address"}, 1);
  anonymous.only_if_missing = {"partner", "user"};
  Scene scene(with_limits({anonymous}), store_);
  EXPECT_EQ(ask(scene, "GET /"), "anonymous:1");
  for (const auto* field : {"X-Partner: p", "X-User: u"}) EXPECT_EQ(ask(scene, "GET /", {field}), "") << field;
  EXPECT_EQ(ask(scene, "GET /", {"X-Partner:"}), "anonymous:1");
}

TEST_F(PolicyTest, CostsAreFixedOrFromAField) {
  auto report = limit("report", {"address"}, 100);
  report.cost = std::int64_t{20};
  auto field = limit("field", {"address"}, 100);
  field.cost = config::HeaderCost{"X-Cost", 3, 50};
  Scene scene(with_limits({report, field}), store_);
  const struct {
    std::vector<std::string> fields;
    std::string_view charges;
  } kRows[] = {
      {{}, "report:20 field:3"},
      {{"X-Cost: 7"}, "report:20 field:7"},
      {{"X-Cost: 007"}, "report:20 field:7"},
      {{"X-Cost: 50"}, "report:20 field:50"},
      {{"X-Cost: 51"}, "report:20 field:50"},
      {{"X-Cost: 99999999999999999999999999"}, "report:20 field:50"},
      {{"X-Cost: 0"}, "report:20 field:1"},
      {{"X-Cost: -5"}, "report:20 field:3"},
      {{"X-Cost: +5"}, "report:20 field:3"},
      {{"X-Cost: 5.5"}, "report:20 field:3"},
      {{"X-Cost: 0x5"}, "report:20 field:3"},
      {{"X-Cost: five"}, "report:20 field:3"},
      {{"X-Cost:"}, "report:20 field:3"},
      {{"X-Cost: 1", "X-Cost: 2"}, "report:20 field:50"},
  };
  for (const auto& row : kRows) EXPECT_EQ(ask(scene, "GET /", row.fields), row.charges);
}

TEST_F(PolicyTest, EndpointAndMethodAreSlotsOfTheSameAccount) {
  Scene scene(with_limits({limit("partner", {"partner"}, 1), limit("each", {"partner", "endpoint", "method"}, 1),
                           limit("a", {"partner"}, 1, {"* /a"}), limit("b", {"partner"}, 1, {"* /b"})}),
              store_);
  std::vector<std::pair<std::string, std::uint16_t>> seen;
  for (const auto* start : {"GET /a", "POST /a", "GET /b", "GET /c", "PROPFIND /c", "DELETE /c"}) {
    const Charges& charges = scene.charge(start, {"X-Partner: p"});
    ASSERT_EQ(charges.accounts.size(), 1U) << start;
    ASSERT_EQ(scene.name(charges.limits[1].limit), "each");
    for (const auto& [other, slot] : seen) EXPECT_NE(slot, charges.charges[1].slot) << start << " and " << other;
    seen.emplace_back(start, charges.charges[1].slot);
  }
  const auto slot = [&](const char* start) { return scene.charge(start, {"X-Partner: p"}).charges[1].slot; };
  EXPECT_EQ(slot("HEAD /a"), slot("GET /a"));
  EXPECT_EQ(slot("REPORT /c"), slot("PROPFIND /c"));
  EXPECT_EQ(slot("GET /d/e"), slot("GET /c"));
}

TEST_F(PolicyTest, ManyEndpointsBecomeValuesOfTheSubject) {
  std::vector<config::Limit> limits = {limit("each", {"partner", "endpoint"}, 1), limit("partner", {"partner"}, 1)};
  for (int i = 0; i < 300; ++i) {
    const std::string path = "/r" + std::to_string(i);
    limits.push_back(limit("r" + std::to_string(i), {"partner"}, 1, {"GET " + path}));
  }
  Scene scene(with_limits(limits), store_);
  EXPECT_EQ(ask(scene, "GET /r7", {"X-Partner: p"}), "each:1 | partner:1 r7:1");
  EXPECT_EQ(ask(scene, "GET /none", {"X-Partner: p"}), "each:1 | partner:1");
  const auto subject = [&](const char* start) { return scene.charge(start, {"X-Partner: p"}).accounts[0].subject; };
  EXPECT_NE(subject("GET /r7"), subject("GET /r8"));
  EXPECT_NE(subject("GET /r7"), subject("GET /none"));
  EXPECT_EQ(subject("GET /r7"), subject("HEAD /r7"));
}

TEST_F(PolicyTest, MoreLimitsThanAStoreTakesAtOnceAreAskedInRuns) {
  std::vector<config::Limit> limits;
  for (int i = 0; i < 150; ++i) limits.push_back(limit("l" + std::to_string(i), {"partner"}, 1));
  Scene scene(with_limits(limits), store_);
  const Charges& charges = scene.charge("GET /", {"X-Partner: p"});
  ASSERT_EQ(charges.accounts.size(), 3U);
  std::uint32_t next = 0;
  for (const AccountCharges& account : charges.accounts) {
    EXPECT_EQ(account.first, next);
    EXPECT_LE(account.count, Charges::kMaxRun);
    EXPECT_EQ(account.subject, charges.accounts[0].subject);
    next += account.count;
  }
  EXPECT_EQ(next, 150U);
}

TEST_F(PolicyTest, TenThousandLimitsLeaveOnlyThoseThatMatch) {
  std::vector<config::Limit> limits;
  for (int i = 0; i < 10'000; ++i) {
    limits.push_back(limit("l" + std::to_string(i), {"partner"}, 1, {"GET /r" + std::to_string(i)}));
  }
  Scene scene(with_limits(limits), store_);
  EXPECT_EQ(ask(scene, "GET /r9999", {"X-Partner: p"}), "l9999:1");
  EXPECT_EQ(scene.charge("GET /r1", {"X-Partner: p"}).rules.size(), 1U);
}

TEST_F(PolicyTest, WhoIsOnTheBypassListIsNotCharged) {
  config::Config config = with_limits({limit("all", {}, 1), limit("partner", {"partner"}, 1)});
  config.limits[1].missing = config::Missing::kRefuse;
  config.bypass = {config::HeaderBypass{"X-Role", "ADMIN", config::TrustedFrom::kAnyone}};
  Scene scene(config, store_);
  EXPECT_EQ(ask(scene, "GET /", {"X-Role: ADMIN"}), "");
  EXPECT_EQ(scene.charge("GET /", {"X-Role: ADMIN"}).missing_refuses, Charges::kNone);
  EXPECT_EQ(ask(scene, "GET /", {"X-Partner: p"}), "partner:1 | all:1");
}

TEST_F(PolicyTest, NothingIsLeftFromTheRequestBefore) {
  auto refuse = limit("refuse", {"user"}, 1);
  refuse.missing = config::Missing::kRefuse;
  Scene scene(with_limits({limit("skip", {"partner"}, 1), refuse}), store_);
  const Charges& first = scene.charge("GET /");
  EXPECT_EQ(first.skipped.size(), 1U);
  EXPECT_EQ(first.missing_refuses, 1);
  const Charges& second = scene.charge("GET /", {"X-User: u", "X-Partner: p"});
  EXPECT_TRUE(second.skipped.empty());
  EXPECT_EQ(second.missing_refuses, Charges::kNone);
  EXPECT_EQ(second.charges.size(), 2U);
}

TEST_F(PolicyTest, TheSameConfigurationAgainIsTheSameAccounts) {
  const config::Config config = with_limits({limit("a", {"partner"}, 5), limit("b", {"address"}, 5)});
  Scene before(config, store_);
  Scene after(config, store_);
  const Charges& old_charges = before.charge("GET /", {"X-Partner: p"});
  const Charges& new_charges = after.charge("GET /", {"X-Partner: p"});
  ASSERT_EQ(old_charges.accounts.size(), 2U);
  for (std::size_t at = 0; at < 2; ++at) {
    EXPECT_EQ(old_charges.accounts[at].kind, new_charges.accounts[at].kind);
    EXPECT_EQ(old_charges.accounts[at].subject, new_charges.accounts[at].subject);
    EXPECT_EQ(old_charges.charges[at].slot, new_charges.charges[at].slot);
  }
}

TEST_F(PolicyTest, InfoTellsWhatTheConfigurationSays) {
  auto quiet = limit("quiet", {"user"}, 7);
  quiet.advertise = false;
  quiet.mode = config::Mode::kShadow;
  Scene scene(with_limits({limit("loud", {"user"}, 5), quiet}), store_);
  const auto& limits = scene.policy().limits();
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].name, "loud");
  EXPECT_TRUE(limits[0].advertise);
  EXPECT_EQ(limits[1].mode, config::Mode::kShadow);
  EXPECT_FALSE(limits[1].advertise);
  EXPECT_EQ(limits[1].variant_rates[0], (config::Rate{7, std::chrono::minutes(1)}));
}

// What rows do: `rows` acts by them, the other limit does not.
class RowPolicyTest : public PolicyTest {
 protected:
  static config::Config rows_and_others(config::Mode mode = config::Mode::kEnforce) {
    auto rows = limit("rows", {"partner", "service"}, 0);
    auto create = limit("create", {"partner", "service"}, 0, {"POST /products", "POST /prices"});
    for (config::Limit* one : {&rows, &create}) {
      one->rate.reset();
      one->from_policies = true;
      one->mode = mode;
    }
    create.on_store_failure = config::StoreFailure::kClosed;
    return with_limits({rows, create, limit("other", {"partner", "service"}, 5)});
  }
  VariantIndex numbers(Scene& scene, LimitIndex index, std::int64_t count) {
    auto numbered = rows_and_others().limits[index];
    numbered.rate = config::Rate{count, std::chrono::minutes(1)};
    numbered.burst = count;
    return *scene.policy().limits()[index].rows->add(numbered);
  }
  const std::vector<std::string> partner_{"X-Partner: p"};
};

TEST_F(RowPolicyTest, ALimitActsOnlyOnCallersWithARow) {
  Scene scene(rows_and_others(), store_);
  EXPECT_TRUE(scene.policy().needs_rows());
  EXPECT_EQ(ask(scene, "GET /", partner_), "other:1");
  RowTable table;
  table.add({.limit = 0, .service = 0}, {.variant = numbers(scene, 0, 20)});
  table.sort();
  scene.rows = {.partner = &table};
  EXPECT_EQ(ask(scene, "GET /", partner_), "rows:1 other:1");
  EXPECT_EQ(ask(scene, "GET /shop", partner_), "other:1");
  EXPECT_EQ(ask(scene, "GET /"), "") << "without a partner there are no rows";
}

TEST_F(RowPolicyTest, TheRowHasTheNumbers) {
  Scene scene(rows_and_others(), store_);
  RowTable table;
  table.add({.limit = 0, .service = 0}, {.variant = numbers(scene, 0, 7)});
  table.add({.limit = 0, .service = 1}, {.variant = kUnlimited});
  table.sort();
  scene.rows = {.partner = &table};
  const Charges& charges = scene.charge("GET /", partner_);
  EXPECT_EQ(scene.policy().limits()[0].variant(charges.charges[0].variant).capacity(), 7);
  EXPECT_EQ(ask(scene, "GET /shop", partner_), "other:1") << "unlimited";
}

TEST_F(RowPolicyTest, ARowInShadowIsCountedApart) {
  Scene scene(rows_and_others(), store_);
  RowTable table;
  table.add({.limit = 0, .service = 0}, {.variant = numbers(scene, 0, 20), .shadow = true});
  table.sort();
  scene.rows = {.partner = &table};
  EXPECT_EQ(ask(scene, "GET /", partner_), "other:1 | (rows:1)");
  Scene shadow(rows_and_others(config::Mode::kShadow), store_);
  RowTable enforced;
  enforced.add({.limit = 0, .service = 0}, {.variant = numbers(shadow, 0, 20)});
  enforced.sort();
  shadow.rows = {.partner = &enforced};
  EXPECT_EQ(ask(shadow, "GET /", partner_), "other:1 | (rows:1)") << "no row enforces what the limit does not";
}

TEST_F(RowPolicyTest, RowsOfEndpointsAreFoundByThePatternsOfTheLimit) {
  Scene scene(rows_and_others(), store_);
  RowTable table;
  table.add({.limit = 1, .service = 0, .endpoint = 0}, {.variant = numbers(scene, 1, 2)});
  table.sort();
  scene.rows = {.partner = &table};
  EXPECT_EQ(ask(scene, "POST /products", partner_), "create:1 other:1");
  EXPECT_EQ(ask(scene, "POST /prices", partner_), "other:1");
  table.add({.limit = 1, .service = 0}, {.variant = numbers(scene, 1, 3)});
  table.sort();
  EXPECT_EQ(ask(scene, "POST /prices", partner_), "create:1 other:1");
  EXPECT_EQ(ask(scene, "GET /products", partner_), "other:1");
}

// Else whoever alternates between two endpoints would be counted by the faster of their rates.
TEST_F(RowPolicyTest, EachRowOfAnEndpointHasACounterOfItsOwn) {
  Scene scene(rows_and_others(), store_);
  RowTable table;
  table.add({.limit = 1, .service = 0, .endpoint = 0}, {.variant = numbers(scene, 1, 2)});
  table.add({.limit = 1, .service = 0}, {.variant = numbers(scene, 1, 3)});
  table.sort();
  scene.rows = {.partner = &table};
  const auto slot = [&](const char* start) { return scene.charge(start, partner_).charges.at(0).slot; };
  const auto products = slot("POST /products");
  EXPECT_NE(products, slot("POST /prices"));
  RowTable general;
  general.add({.limit = 1}, {.variant = numbers(scene, 1, 3)});
  general.sort();
  scene.rows = {.partner = &general};
  EXPECT_EQ(slot("POST /products"), slot("POST /prices")) << "a row for all endpoints counts them together";
}

TEST_F(RowPolicyTest, TheMostSpecificOfTheLimitsOwnPatternsFindsTheRow) {
  auto rows = limit("rows", {"partner"}, 0, {"GET /*", "GET /orders/*"});
  rows.rate.reset();
  rows.from_policies = true;
  Scene scene(with_limits({rows, limit("other", {"user"}, 5, {"GET /orders/{id}"})}), store_);
  auto numbered = rows;
  numbered.rate = config::Rate{7, std::chrono::minutes(1)};
  numbered.burst = 7;
  RowTable table;
  table.add({.limit = 0, .endpoint = 1}, {.variant = *scene.policy().limits()[0].rows->add(numbered)});
  table.sort();
  scene.rows = {.partner = &table};
  EXPECT_EQ(ask(scene, "GET /orders/5", partner_), "rows:1");
  EXPECT_EQ(ask(scene, "GET /others", partner_), "");
}

TEST_F(RowPolicyTest, WhatCannotBeKnownIsOpenOrClosedAsTheLimitSays) {
  Scene scene(rows_and_others(), store_);
  scene.rows = {.known = false};
  const Charges& open = scene.charge("GET /", partner_);
  EXPECT_TRUE(open.unknown);
  EXPECT_EQ(open.unknown_refuses, Charges::kNone);
  EXPECT_EQ(show(scene, open), "other:1");
  EXPECT_EQ(scene.charge("POST /products", partner_).unknown_refuses, 1);
  EXPECT_FALSE(scene.charge("GET /").unknown) << "nobody who could have a row";
}

TEST_F(RowPolicyTest, NumbersOfAnotherRowGoOnWithWhatIsCounted) {
  RowNumbersShelf shelf;
  store::MemoryStore store({.max_accounts = 100});
  Scene before(rows_and_others(), store, &shelf);
  RowTable table;
  table.add({.limit = 0, .service = 0}, {.variant = numbers(before, 0, 20)});
  table.sort();
  before.rows = {.partner = &table};
  const Charges& first = before.charge("GET /", partner_);
  std::vector<limit::Outcome> outcomes(first.charges.size());
  ASSERT_TRUE(store.acquire(first.accounts[0].kind, first.accounts[0].subject, first.charges, {}, outcomes));
  Scene after(rows_and_others(), store, &shelf);
  RowTable changed;
  changed.add({.limit = 0, .service = 0}, {.variant = numbers(after, 0, 100)});
  changed.sort();
  after.rows = {.partner = &changed};
  const Charges& second = after.charge("GET /", partner_);
  ASSERT_TRUE(store.acquire(second.accounts[0].kind, second.accounts[0].subject, second.charges, {}, outcomes));
  EXPECT_EQ(outcomes[0].remaining, 98);
}

}  // namespace
}  // namespace weir::policy
