// SPDX-License-Identifier: Apache-2.0
//
// Refusals that still hold: until its retry_after has passed the same question about an account can only be refused
// again, because whatever others take makes the wait longer; so it need not be asked. What somebody gives back makes
// it shorter: then the account is to be forgotten here.
//
// Bounded: what is too much pushes out some other. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/limit/outcome.h"
#include "weir/store/account.h"

namespace weir::store {

class Refusals {
 public:
  explicit Refusals(std::size_t most = 65'536) : most_(most) {}

  // `now` and durations: nanoseconds of a monotonic clock. `most`: it is not believed for longer.
  // `kind`: RedisKind::number of the account's, which says what its slots are.
  void remember(std::string_view account, std::uint64_t kind, std::span<const Charge> charges, limit::Ticks now,
                limit::Ticks most, std::span<const limit::Outcome> outcomes);
  // Fills the outcomes as they are by now, if the same charges are known to be refused.
  bool recall(std::string_view account, std::uint64_t kind, std::span<const Charge> charges, limit::Ticks now,
              std::span<limit::Outcome> outcomes);
  void forget(std::string_view account);
  void clear() { accounts_.clear(); }
  std::size_t size() const { return accounts_.size(); }

 private:
  struct Refusal {
    std::uint64_t kind = 0;
    std::vector<Charge> charges;
    std::vector<limit::Outcome> outcomes;
    limit::Ticks at = 0;
    limit::Ticks until = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Accounts = std::unordered_map<std::string, std::vector<Refusal>, Hash, std::equal_to<>>;

  void make_room(limit::Ticks now);

  std::size_t most_;
  limit::Ticks looked_through_ = 0;  // when room was last made
  Accounts accounts_;
};

}  // namespace weir::store
