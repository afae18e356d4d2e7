// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/guess_gate.h"

#include <array>

namespace weir::gateway {
namespace {

constexpr std::array<store::Charge, 1> kFailure{{{.slot = 0}}};
constexpr std::array<store::Charge, 1> kPeek{{{.slot = 0, .variant = 0, .cost = 0}}};

// Numbers in the ranges of the configuration language make a bucket; all others hold off nobody.
store::MemoryStore::Kind adopt(const config::Guessing& guessing, store::MemoryStore& store) {
  const auto bucket = limit::TokenBucket::create(
      {.count = guessing.count, .period = guessing.period.count(), .capacity = guessing.burst});
  return store.adopt(
      {.kind = "failed credentials", .slots = {{.identity = "guessing", .variants = {bucket.value()}}}});
}

}  // namespace

Guesses::Guesses(const config::Guessing& guessing, store::MemoryStore& store)
    : store_(store), kind_(adopt(guessing, store)) {}

nanoseconds GuessGate::wait(std::string_view address) {
  std::array<limit::Outcome, 1> outcomes;
  guesses_.store().acquire(guesses_.kind(), guesses_.store().subject(address), kPeek, call_, outcomes);
  return nanoseconds(outcomes[0].remaining > 0 ? 0 : outcomes[0].next_after.value_or(1));
}

void GuessGate::charge(std::string_view address) {
  std::array<limit::Outcome, 1> outcomes;
  guesses_.store().acquire(guesses_.kind(), guesses_.store().subject(address), kFailure, call_, outcomes);
}

}  // namespace weir::gateway
