// SPDX-License-Identifier: Apache-2.0
//
// The gate before credentials (key `guessing`): a bucket of failures per address in the memory store, shared by all
// workers. Its accounts are of a kind of their own that nothing pushes out. Thread safety: a Guesses is immutable, a
// GuessGate belongs to one request.
#pragma once

#include <string_view>

#include "weir/base/clock.h"
#include "weir/config/config.h"
#include "weir/identity/gate.h"
#include "weir/limit/outcome.h"
#include "weir/store/memory/memory_store.h"

namespace weir::gateway {

// What a configuration says of it, in force in the store.
class Guesses {
 public:
  Guesses(const config::Guessing& guessing, store::MemoryStore& store);

  store::MemoryStore& store() const { return store_; }
  const store::MemoryStore::Kind& kind() const { return kind_; }

 private:
  store::MemoryStore& store_;
  store::MemoryStore::Kind kind_;
};

class GuessGate final : public identity::Gate {
 public:
  GuessGate(const Guesses& guesses, const limit::Call& call) : guesses_(guesses), call_(call) {}

  nanoseconds wait(std::string_view address) override;
  void charge(std::string_view address) override;

 private:
  const Guesses& guesses_;
  const limit::Call call_;
};

}  // namespace weir::gateway
