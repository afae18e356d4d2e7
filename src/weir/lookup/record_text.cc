// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/record_text.h"

#include <utility>

#include "weir/partners/digest.h"
#include "weir/partners/json.h"
#include "weir/partners/words.h"

namespace weir::lookup {
namespace {

using partners::Json;
using partners::RowKind;

template <class Row>
std::optional<Row> row_of(RowKind kind, const Json& json) {
  auto row = partners::row_from_json(kind, json);
  if (!row || !std::holds_alternative<Row>(*row)) return std::nullopt;
  return std::get<Row>(*std::move(row));
}

std::optional<std::vector<partners::LimitRow>> limits_of(const Json& json) {
  std::vector<partners::LimitRow> limits;
  const auto found = json.find("limits");
  if (found == json.end()) return limits;
  for (const Json& one : *found) {
    auto row = row_of<partners::LimitRow>(RowKind::kLimit, one);
    if (!row) return std::nullopt;
    limits.push_back(*std::move(row));
  }
  return limits;
}

std::optional<partners::Record> record_of(const Json& json) {
  if (json.contains("absent")) return partners::Record();
  if (const auto key = json.find("key"); key != json.end()) return row_of<partners::Key>(RowKind::kKey, *key);
  auto limits = limits_of(json);
  if (!limits) return std::nullopt;
  if (const auto plan = json.find("plan"); plan != json.end()) {
    auto row = row_of<partners::Plan>(RowKind::kPlan, *plan);
    if (row) return partners::PlanRecord{*std::move(row), *std::move(limits)};
  }
  if (const auto partner = json.find("partner"); partner != json.end()) {
    auto row = row_of<partners::Partner>(RowKind::kPartner, *partner);
    if (row) return partners::PartnerRecord{*std::move(row), *std::move(limits)};
  }
  return std::nullopt;
}

void write_limits(const std::vector<partners::LimitRow>& limits, Json& json) {
  for (const partners::LimitRow& row : limits) json["limits"].push_back(partners::to_json(row));
}

void write(const std::monostate&, Json& json) { json["absent"] = true; }
void write(const partners::Key& key, Json& json) { json["key"] = partners::to_json(key); }
void write(const partners::PartnerRecord& record, Json& json) {
  json["partner"] = partners::to_json(record.partner);
  write_limits(record.limits, json);
}
void write(const partners::PlanRecord& record, Json& json) {
  json["plan"] = partners::to_json(record.plan);
  write_limits(record.limits, json);
}

}  // namespace

std::string text_of(const Said& said) {
  Json json;
  json["revision"] = said.revision;
  json["at"] = said.at.time_since_epoch().count();
  std::visit([&](const auto& record) { write(record, json); }, said.record);
  return partners::compact(json);
}

std::optional<Said> said_of(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto revision = json.find("revision");
  const auto at = json.find("at");
  const bool dated =
      revision != json.end() && revision->is_number_integer() && at != json.end() && at->is_number_integer();
  if (!dated) return std::nullopt;
  auto record = record_of(json);
  if (!record) return std::nullopt;
  return Said{.record = *std::move(record),
              .revision = revision->get<std::int64_t>(),
              .at = WallTime(nanoseconds(at->get<std::int64_t>()))};
}

std::string name_of(const partners::Subject& subject) {
  return std::string(partners::word(subject.kind)) + ':' + partners::subject_text(subject);
}

std::optional<partners::Subject> subject_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  const auto kind = partners::subject_kind(name.substr(0, colon));
  if (!kind || colon == std::string_view::npos) return std::nullopt;
  return partners::subject_from(*kind, name.substr(colon + 1));
}

}  // namespace weir::lookup
