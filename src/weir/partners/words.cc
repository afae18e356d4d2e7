// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "weir/config/language/algorithms.h"
#include "weir/config/near_word.h"

namespace weir::partners {
namespace {

using config::Algorithm;
using config::Mode;

// Each list in the order of its enumeration.
constexpr std::array<std::string_view, 4> kRowKinds{"plan", "partner", "key", "limit"};
constexpr std::array<std::string_view, 3> kActions{"created", "changed", "deleted"};
constexpr std::array<std::string_view, 3> kSubjects{"key", "partner", "plan"};
constexpr std::array<std::string_view, 2> kModes{"enforce", "shadow"};
constexpr std::array kAlgorithms{Algorithm::kTokenBucket, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                 Algorithm::kSlidingLog,  Algorithm::kLeakyBucket, Algorithm::kConcurrency,
                                 Algorithm::kCalendar};

template <class E, std::size_t N>
std::optional<E> find(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<E>(found - words.begin());
}

std::string unknown(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = config::did_you_mean(word, known);
  return fmt::format("'{}' is not known; use {}{}{}", word, fmt::join(known, ", "), meant.empty() ? "" : "; ", meant);
}

}  // namespace

std::string_view word(RowKind kind) { return kRowKinds[static_cast<std::size_t>(kind)]; }
std::string_view word(OwnerKind kind) { return kind == OwnerKind::kPartner ? "partner" : "plan"; }
std::string_view word(Change::Action action) { return kActions[static_cast<std::size_t>(action)]; }
std::string_view word(Subject::Kind kind) { return kSubjects[static_cast<std::size_t>(kind)]; }
std::string_view word(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }
std::string_view word(Algorithm algorithm) { return config::algorithm_word(algorithm); }

std::optional<RowKind> row_kind(std::string_view word) { return find<RowKind>(kRowKinds, word); }
std::optional<Change::Action> action(std::string_view word) { return find<Change::Action>(kActions, word); }
std::optional<Subject::Kind> subject_kind(std::string_view word) { return find<Subject::Kind>(kSubjects, word); }
std::optional<Mode> mode(std::string_view word) { return find<Mode>(kModes, word); }

std::optional<Algorithm> algorithm(std::string_view word) {
  const auto found = std::ranges::find(kAlgorithms, word, config::algorithm_word);
  return found == kAlgorithms.end() ? std::nullopt : std::optional(*found);
}

std::string unknown_mode(std::string_view word) { return unknown(word, {kModes.begin(), kModes.end()}); }

std::string unknown_algorithm(std::string_view word) {
  std::vector<std::string> known;
  for (const Algorithm one : kAlgorithms) known.emplace_back(config::algorithm_word(one));
  return unknown(word, known);
}

}  // namespace weir::partners
