// SPDX-License-Identifier: Apache-2.0
//
// What somebody probably meant to write.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::config {

// Insertions, deletions, substitutions, and swaps of neighbours (optimal string alignment) from one word to another.
std::size_t edit_distance(std::string_view a, std::string_view b);

// "did you mean 'rate'?" for the nearest candidate, or "" when none is near. Case does not matter.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace weir::config
