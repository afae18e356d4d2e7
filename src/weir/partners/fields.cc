// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weir/config/near_word.h"
#include "weir/partners/time_text.h"

namespace weir::partners {

FieldReader::FieldReader(const Json& object) : object_(object) {
  if (!object.is_object()) fault({}, "is not an object with fields");
}

const FieldReader::Json* FieldReader::find(const char* field) {
  if (std::ranges::find(known_, field) == known_.end()) known_.emplace_back(field);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(field);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string FieldReader::text(const char* field) {
  const Json* value = find(field);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  fault(field, "is not a text");
  return {};
}

std::string FieldReader::required(const char* field) {
  const std::size_t before = faults_.size();
  std::string value = text(field);
  if (value.empty() && faults_.size() == before) fault(field, "is missing");
  return value;
}

std::optional<std::int64_t> FieldReader::number(const char* field) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (fits) return value->get<std::int64_t>();
  fault(field, "is not a whole number");
  return std::nullopt;
}

std::optional<bool> FieldReader::truth(const char* field) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  fault(field, "is not true or false");
  return std::nullopt;
}

std::optional<WallTime> FieldReader::time(const char* field) {
  const std::string value = text(field);
  if (value.empty()) return std::nullopt;
  const auto time = parse_time(value);
  if (!time) fault(field, fmt::format("'{}' is not a moment such as 2027-01-31T08:00:00Z", value));
  return time;
}

void FieldReader::fault(const std::string& field, std::string message) {
  faults_.push_back({.row = {}, .field = field, .message = std::move(message)});
}

Faults FieldReader::take_faults() {
  if (object_.is_object()) {
    for (const auto& [field, value] : object_.items()) {
      if (std::ranges::find(known_, field) != known_.end()) continue;
      const std::string meant = config::did_you_mean(field, known_);
      fault(field, "is not a field of such a row" + (meant.empty() ? "" : "; " + meant));
    }
  }
  return std::exchange(faults_, {});
}

}  // namespace weir::partners
