// SPDX-License-Identifier: Apache-2.0
//
// Takes the fields of a JSON object by name and type, and notes what is wrong with them. Thread safety: none.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "weir/base/clock.h"
#include "weir/partners/fault.h"

namespace weir::partners {

class FieldReader {
 public:
  using Json = nlohmann::ordered_json;

  // The object outlives it.
  explicit FieldReader(const Json& object);

  // "" where it is absent; null is absent too. Numbers are no texts.
  std::string text(const char* field);
  // As text(), but has to be there and not empty.
  std::string required(const char* field);
  std::optional<std::int64_t> number(const char* field);
  std::optional<bool> truth(const char* field);
  std::optional<WallTime> time(const char* field);

  void fault(const std::string& field, std::string message);
  // Of fields, without the row's name: those that were noted, and one for each field that nobody asked for.
  Faults take_faults();

 private:
  const Json* find(const char* field);

  const Json& object_;
  std::vector<std::string> known_;
  Faults faults_;
};

}  // namespace weir::partners
