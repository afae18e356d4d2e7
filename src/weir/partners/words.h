// SPDX-License-Identifier: Apache-2.0
//
// What is written for the alternatives of records, in the database, JSON, YAML and messages. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/partners/change.h"
#include "weir/partners/records.h"

namespace weir::partners {

std::string_view word(RowKind kind);
std::string_view word(OwnerKind kind);
std::string_view word(Change::Action action);
std::string_view word(Subject::Kind kind);
std::string_view word(config::Mode mode);
std::string_view word(config::Algorithm algorithm);

// Absent: no such word.
std::optional<RowKind> row_kind(std::string_view word);
std::optional<Change::Action> action(std::string_view word);
std::optional<Subject::Kind> subject_kind(std::string_view word);
std::optional<config::Mode> mode(std::string_view word);
std::optional<config::Algorithm> algorithm(std::string_view word);

// "use a, b or c" and what was probably meant.
std::string unknown_mode(std::string_view word);
std::string unknown_algorithm(std::string_view word);

}  // namespace weir::partners
