// SPDX-License-Identifier: Apache-2.0
//
// Why a change was not made, or a question not answered. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "weir/partners/fault.h"

namespace weir::partners {

struct Refusal {
  enum class Kind : std::uint8_t {
    kWrong,        // rows make no sense; `faults` says why
    kConflict,     // somebody else has changed the row meanwhile
    kAbsent,       // there is no such row
    kInUse,        // others need it
    kUnavailable,  // the database is away or busy; nothing was changed
    kUnknown,      // the database went away while the change was made: nobody knows whether it was
    kUnusable,     // the database has not the schema of this program, or may not be used
  };

  Kind kind = Kind::kWrong;
  std::string message;
  Faults faults{};

  bool operator==(const Refusal&) const = default;
};

template <class T>
using Outcome = std::expected<T, Refusal>;

inline std::unexpected<Refusal> refuse(Refusal::Kind kind, std::string message) {
  return std::unexpected(Refusal{kind, std::move(message), {}});
}
// Requires: there are some.
std::unexpected<Refusal> refuse(Faults faults);

}  // namespace weir::partners
