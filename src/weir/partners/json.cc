// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/json.h"

#include <fmt/format.h>

#include "weir/partners/digest.h"
#include "weir/partners/fields.h"
#include "weir/partners/time_text.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

void set(Json& object, const char* field, const std::string& text) {
  if (!text.empty()) object[field] = text;
}
void set(Json& object, const char* field, const std::optional<WallTime>& time) {
  if (time) object[field] = time_text(*time);
}

// Rows that were never written have no stamp.
void set(Json& object, const Stamp& stamp) {
  if (stamp.revision != 0) object["revision"] = stamp.revision;
  if (stamp.changed_at != WallTime{}) object["changed_at"] = time_text(stamp.changed_at);
  set(object, "changed_by", stamp.changed_by);
}

void write(Json& object, const Plan& plan) {
  object["name"] = plan.name;
  set(object, "note", plan.note);
}

void write(Json& object, const Partner& partner) {
  object["name"] = partner.name;
  set(object, "plan", partner.plan);
  object["enabled"] = partner.enabled;
  set(object, "note", partner.note);
}

void write(Json& object, const Key& key) {
  object["id"] = key.id;
  object["key_sha256"] = hex(key.digest);
  object["partner"] = key.partner;
  set(object, "plan", key.plan);
  object["enabled"] = key.enabled;
  set(object, "not_before", key.not_before);
  set(object, "expires", key.expires);
  set(object, "note", key.note);
}

void write(Json& object, const LimitRow& row) {
  object["limit"] = row.limit;
  object[std::string(word(row.owner.kind))] = row.owner.name;
  set(object, "service", row.service);
  set(object, "endpoint", row.endpoint);
  if (row.algorithm) object["algorithm"] = word(*row.algorithm);
  object["rate"] = row.rate;
  if (row.burst) object["burst"] = *row.burst;
  object["mode"] = word(row.mode);
  set(object, "note", row.note);
}

Stamp read_stamp(FieldReader& fields) {
  return {.revision = fields.number("revision").value_or(0),
          .changed_at = fields.time("changed_at").value_or(WallTime{}),
          .changed_by = fields.text("changed_by")};
}

Row read_plan(FieldReader& fields) {
  return Plan{.name = fields.required("name"), .note = fields.text("note"), .stamp = read_stamp(fields)};
}

Row read_partner(FieldReader& fields) {
  return Partner{.name = fields.required("name"),
                 .plan = fields.text("plan"),
                 .enabled = fields.truth("enabled").value_or(true),
                 .note = fields.text("note"),
                 .stamp = read_stamp(fields)};
}

KeyDigest read_digest(FieldReader& fields) {
  const std::string text = fields.required("key_sha256");
  const auto digest = parse_hex(text);
  if (!digest && !text.empty()) fields.fault("key_sha256", "a SHA-256 has 64 hexadecimal digits, in lower case");
  return digest.value_or(KeyDigest{});
}

Row read_key(FieldReader& fields) {
  return Key{.id = fields.required("id"),
             .digest = read_digest(fields),
             .partner = fields.required("partner"),
             .plan = fields.text("plan"),
             .enabled = fields.truth("enabled").value_or(true),
             .not_before = fields.time("not_before"),
             .expires = fields.time("expires"),
             .note = fields.text("note"),
             .stamp = read_stamp(fields)};
}

Owner read_owner(FieldReader& fields) {
  const std::string partner = fields.text("partner"), plan = fields.text("plan");
  if (partner.empty() == plan.empty()) {
    fields.fault("partner", partner.empty() ? "a limit belongs to a `partner` or a `plan`, and neither is named"
                                            : "a limit belongs to a `partner` or a `plan`, not to both");
  }
  if (partner.empty()) return {OwnerKind::kPlan, plan};
  return {OwnerKind::kPartner, partner};
}

std::optional<config::Algorithm> read_algorithm(FieldReader& fields) {
  const std::string text = fields.text("algorithm");
  if (text.empty()) return std::nullopt;
  const auto known = algorithm(text);
  if (!known) fields.fault("algorithm", unknown_algorithm(text));
  return known;
}

config::Mode read_mode(FieldReader& fields) {
  const std::string text = fields.text("mode");
  if (text.empty()) return config::Mode::kEnforce;
  const auto known = mode(text);
  if (!known) fields.fault("mode", unknown_mode(text));
  return known.value_or(config::Mode::kEnforce);
}

Row read_limit(FieldReader& fields) {
  LimitRow row;
  row.limit = fields.required("limit");
  row.owner = read_owner(fields);
  row.service = fields.text("service");
  row.endpoint = fields.text("endpoint");
  row.algorithm = read_algorithm(fields);
  row.rate = fields.required("rate");
  row.burst = fields.number("burst");
  row.mode = read_mode(fields);
  row.note = fields.text("note");
  row.stamp = read_stamp(fields);
  return row;
}

Row read_row(RowKind kind, FieldReader& fields) {
  switch (kind) {
    case RowKind::kPlan:
      return read_plan(fields);
    case RowKind::kPartner:
      return read_partner(fields);
    case RowKind::kKey:
      return read_key(fields);
    case RowKind::kLimit:
      break;
  }
  return read_limit(fields);
}

// A row that cannot be used is still called by its name, where it has one.
std::string name_of(RowKind kind, const Row& row, const std::string& fallback) {
  const RowId id = id_of(row);
  if (!(kind == RowKind::kLimit ? id.limit.limit : id.name).empty()) return to_text(id);
  return fallback.empty() ? fmt::format("a {} without a name", word(kind)) : fallback;
}

}  // namespace

Json to_json(const Row& row) {
  Json object = Json::object();
  std::visit([&](const auto& one) { write(object, one); }, row);
  set(object, stamp_of(row));
  return object;
}

std::expected<Row, Faults> row_from_json(RowKind kind, const Json& object, const std::string& name) {
  FieldReader fields(object);
  Row row = read_row(kind, fields);
  Faults faults = fields.take_faults();
  if (faults.empty()) return row;
  for (Fault& fault : faults) fault.row = name_of(kind, row, name);
  return std::unexpected(std::move(faults));
}

Json to_json(const Change& change) {
  Json object = Json::object();
  object["revision"] = change.revision;
  object["changed_at"] = time_text(change.at);
  object["changed_by"] = change.by;
  object["action"] = word(change.action);
  object["kind"] = word(change.kind);
  object["name"] = change.name;
  for (const auto& [field, text] : {std::pair("before", &change.before), std::pair("after", &change.after)}) {
    if (text->empty()) continue;
    Json row = Json::parse(*text, nullptr, false);
    object[field] = row.is_discarded() ? Json(*text) : std::move(row);
  }
  return object;
}

Json to_json(const Fault& fault) {
  Json object{{"row", fault.row}};
  set(object, "field", fault.field);
  object["message"] = fault.message;
  return object;
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace weir::partners
