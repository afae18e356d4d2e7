// SPDX-License-Identifier: Apache-2.0
//
// What operators keep about partners in a database: plans, partners, API keys, and what limits count by for them.
// Text is bounded as in the configuration: names of plans and partners have at most 256 bytes, those of limits and
// services at most 128 printable ASCII characters. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/sha256.h"
#include "weir/config/config.h"

namespace weir::partners {

// SHA-256 of an API key. The key itself is kept nowhere.
using KeyDigest = Sha256;

// Of the last change of a row.
struct Stamp {
  std::int64_t revision = 0;
  WallTime changed_at{};
  std::string changed_by;

  bool operator==(const Stamp&) const = default;
};

struct Plan {
  std::string name;
  std::string note;
  Stamp stamp;

  bool operator==(const Plan&) const = default;
};

struct Partner {
  std::string name;
  std::string plan;  // empty: none
  bool enabled = true;
  std::string note;
  Stamp stamp;

  bool operator==(const Partner&) const = default;
};

// A partner has several at once while one replaces another.
struct Key {
  std::string id;
  KeyDigest digest{};
  std::string partner;
  std::string plan;  // empty: the partner's
  bool enabled = true;
  std::optional<WallTime> not_before;
  std::optional<WallTime> expires;
  std::string note;
  Stamp stamp;

  bool operator==(const Key&) const = default;
};

// A plan's limits hold for those of its partners that have no row of their own for the same limit, service and
// endpoint.
enum class OwnerKind : std::uint8_t { kPartner, kPlan };
struct Owner {
  OwnerKind kind = OwnerKind::kPartner;
  std::string name;

  auto operator<=>(const Owner&) const = default;
};

// Which row of limits: there is one of each.
struct LimitId {
  std::string limit;
  Owner owner;
  std::string service;   // empty: the limit is not per service
  std::string endpoint;  // a pattern "METHOD /path", or empty

  auto operator<=>(const LimitId&) const = default;
};

// What a limit of the configuration that says `rate: policies` (named by `limit`) counts by for this owner.
struct LimitRow {
  std::string limit;
  Owner owner;
  std::string service;
  std::string endpoint;
  std::optional<config::Algorithm> algorithm;  // absent: the limit's
  std::string rate;                   // as in the configuration: "20/s", "unlimited"; of concurrency the count
  std::optional<std::int64_t> burst;  // absent: the count
  config::Mode mode = config::Mode::kEnforce;
  std::string note;
  Stamp stamp;

  bool operator==(const LimitRow&) const = default;
  LimitId id() const { return {limit, owner, service, endpoint}; }
};

// What is looked up by one name.
struct Subject {
  enum class Kind : std::uint8_t { kKey, kPartner, kPlan };
  Kind kind = Kind::kKey;
  std::string name;  // of a key the 32 bytes of its digest

  auto operator<=>(const Subject&) const = default;
};

struct PartnerRecord {
  Partner partner;
  std::vector<LimitRow> limits;

  bool operator==(const PartnerRecord&) const = default;
};
struct PlanRecord {
  Plan plan;
  std::vector<LimitRow> limits;

  bool operator==(const PlanRecord&) const = default;
};
using Record = std::variant<std::monostate /*absent*/, Key, PartnerRecord, PlanRecord>;

Subject subject_of(const KeyDigest& digest);
Subject subject_of(const Owner& owner);

}  // namespace weir::partners
