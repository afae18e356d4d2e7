// SPDX-License-Identifier: Apache-2.0
#include "weir/config/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weir::config {
namespace {

using Json = nlohmann::json;

Json schema() { return Json::parse(json_schema()); }

Json limit_schema() { return schema()["properties"]["limits"]["items"]; }

// Every object with "properties" below `node`.
void collect_objects(const Json& node, std::vector<Json>& found) {
  if (node.is_object() && node.contains("properties")) found.push_back(node);
  for (const auto& child : node) {
    if (child.is_structured()) collect_objects(child, found);
  }
}

TEST(SchemaTest, ItIsADraft07SchemaOfOneObject) {
  EXPECT_EQ(schema()["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(schema()["type"], "object");
  EXPECT_EQ(schema()["required"], Json({"listeners", "upstreams", "services"}));
}

TEST(SchemaTest, EveryKeyIsDescribedAndNoOtherKeyIsAllowed) {
  std::vector<Json> objects;
  collect_objects(schema(), objects);
  EXPECT_GE(objects.size(), 20u);
  for (const Json& object : objects) {
    EXPECT_EQ(object["additionalProperties"], false) << object.dump();
    for (const auto& [name, key] : object["properties"].items()) {
      EXPECT_TRUE(key.contains("description")) << name;
      EXPECT_FALSE(key["description"].get<std::string>().empty()) << name;
    }
    for (const Json& name : object.value("required", Json::array())) {
      EXPECT_TRUE(object["properties"].contains(name.get<std::string>())) << name;
    }
  }
}

TEST(SchemaTest, DefaultsAreThoseOfTheReader) {
  const Json properties = schema()["properties"];
  EXPECT_EQ(properties["ipv6_prefix"]["default"], 64);
  EXPECT_EQ(properties["workers"]["default"], "auto");
  EXPECT_EQ(properties["identify"]["default"], "optional");
  EXPECT_EQ(properties["http"]["properties"]["max_head"]["default"], "64KiB");
  EXPECT_EQ(properties["http"]["properties"]["head"]["default"], "10s");
  EXPECT_EQ(properties["shutdown"]["properties"]["delay"]["default"], "0s");
  EXPECT_EQ(properties["responses"]["properties"]["x_ratelimit"]["default"], true);
  EXPECT_EQ(properties["responses"]["properties"]["refusal"]["properties"]["detail"]["default"],
            "Too many requests. Try again in {retry_after} s.");
  EXPECT_EQ(limit_schema()["properties"]["cost"]["default"], 1);
  EXPECT_EQ(limit_schema()["properties"]["mode"]["default"], "enforce");
  EXPECT_FALSE(limit_schema()["properties"]["burst"].contains("default"));  // depends on the rate
  EXPECT_FALSE(limit_schema()["properties"]["name"].contains("default"));
}

TEST(SchemaTest, OnlyWhatThisVersionActsOnIsListed) {
  EXPECT_FALSE(schema()["properties"].contains("service"));
  EXPECT_EQ(schema()["properties"]["callers"]["items"]["oneOf"].size(), 3u);
}

TEST(SchemaTest, ATokenCallerNeedsItsKeysAndHasDefaultsForTheRest) {
  const Json jwt = schema()["properties"]["callers"]["items"]["properties"]["jwt"];
  EXPECT_EQ(jwt["required"], Json({"keys"}));
  const Json properties = jwt["properties"];
  EXPECT_EQ(properties["header"]["default"], "Authorization");
  EXPECT_EQ(properties["leeway"]["default"], "30s");
  EXPECT_EQ(properties["refresh"]["default"], "10min");
  EXPECT_EQ(properties["cache"]["default"], 10'000);
  EXPECT_EQ(properties["algorithms"]["items"]["anyOf"][0]["enum"].size(), 12u);
  EXPECT_FALSE(schema()["properties"]["guessing"]["anyOf"].empty());
}

TEST(SchemaTest, RedisNeedsUrlsAndHasDefaultsForTheRest) {
  const Json redis = schema()["properties"]["store"]["properties"]["redis"];
  EXPECT_EQ(redis["required"], Json({"urls"}));
  EXPECT_FALSE(redis.contains("default"));
  const Json properties = redis["properties"];
  EXPECT_EQ(properties["urls"]["minItems"], 1);
  EXPECT_EQ(properties["cluster"]["anyOf"][0]["enum"], Json({"auto", "on", "off"}));
  EXPECT_EQ(properties["cluster"]["default"], "auto");
  EXPECT_EQ(properties["prefix"]["default"], "weir");
  EXPECT_EQ(properties["budget"]["default"], "20ms");
  EXPECT_EQ(properties["clock"]["default"], "store");
  EXPECT_EQ(properties["lease"]["properties"]["max"]["default"], 0);
  EXPECT_FALSE(properties["tls"]["properties"]["ca"].contains("default"));
  EXPECT_EQ(properties["tls"]["properties"]["verify"]["default"], true);
}

TEST(SchemaTest, ALimitHasEveryAlgorithmAndTheKeysThatGoWithThem) {
  const Json properties = limit_schema()["properties"];
  EXPECT_EQ(properties["algorithm"]["anyOf"][0]["enum"],
            Json({"token_bucket", "fixed_window", "sliding_window", "sliding_log", "leaky_bucket", "concurrency",
                  "calendar"}));
  EXPECT_EQ(properties["algorithm"]["default"], "token_bucket");
  EXPECT_EQ(properties["jitter"]["default"], false);
  EXPECT_EQ(properties["queue"]["default"], 0);
  EXPECT_EQ(properties["undelayed"]["default"], 0);
  EXPECT_EQ(properties["lease"]["default"], "30s");
  EXPECT_FALSE(properties["max"].contains("default"));
  const Json calendar = properties["calendar"]["properties"];
  EXPECT_EQ(calendar["zone"]["default"], "UTC");
  EXPECT_EQ(calendar["anchor_day"]["default"], 1);
  EXPECT_EQ(calendar["week_starts"]["default"], "monday");
  for (const char* key : {"count", "refund"}) {
    EXPECT_EQ(properties[key]["required"], Json({"status"})) << key;
    EXPECT_FALSE(properties[key].contains("default")) << key;
  }
}

TEST(SchemaTest, ALimitNeedsARateOrAMax) {
  EXPECT_EQ(limit_schema()["required"], Json({"name", "per"}));
  EXPECT_EQ(limit_schema()["oneOf"],
            Json::array({{{"required", Json::array({"rate"})}}, {{"required", Json::array({"max"})}}}));
}

}  // namespace
}  // namespace weir::config
