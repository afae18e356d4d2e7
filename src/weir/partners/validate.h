// SPDX-License-Identifier: Apache-2.0
//
// Whether rows make sense: by themselves, and with the configuration whose limits they are for. That the plans and
// partners which they name exist is for the repository to say. Pure functions; no faults, or "": nothing is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weir/partners/fault.h"
#include "weir/partners/limit_scope.h"
#include "weir/partners/row.h"

namespace weir::partners {

inline constexpr std::size_t kLongestName = 256;      // bytes of a plan, a partner, an author
inline constexpr std::size_t kLongestNote = 2000;     // bytes
inline constexpr std::size_t kLongestEndpoint = 512;  // characters

// What is wrong with a text for people: its length, control characters, which nobody sees, or that it is not UTF-8.
std::string text_fault(std::string_view text, std::size_t longest);

Faults faults_of(const Row& row);

// Requires: no faults by itself.
Faults faults_of(const LimitRow& row, const Scopes& scopes);

}  // namespace weir::partners
