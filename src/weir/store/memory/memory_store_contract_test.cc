// SPDX-License-Identifier: Apache-2.0
#include "weir/store/contract/mixed_contract.h"
#include "weir/store/contract/store_contract.h"
#include "weir/store/memory/memory_store.h"

namespace weir::store::contract {
namespace {

struct Memory {
  using Kind = MemoryStore::Kind;

  static constexpr Ticks kWallAhead = 12'345;

  static bool keeps(Ticks) { return true; }
  Kind adopt(const Layout& layout) { return store.adopt(layout); }
  bool acquire(const Kind& kind, std::string_view subject, std::span<const Charge> charges, const limit::Call& call,
               std::span<Outcome> outcomes) {
    return store.acquire(kind, store.subject(subject), charges, call, outcomes);
  }
  void adjust(const Kind& kind, std::string_view subject, std::span<const Adjustment> adjustments,
              const limit::Call& call, std::span<Outcome> outcomes) {
    store.adjust(kind, store.subject(subject), adjustments, call, outcomes);
  }
  bool renew(const Kind& kind, std::string_view subject, std::span<const Charge> charges, const limit::Call& call) {
    return store.renew(kind, store.subject(subject), charges, call);
  }
  void reset(const Kind& kind, std::string_view subject) { store.reset(kind, store.subject(subject)); }

  MemoryStore store{{.max_accounts = 1'000'000, .key = {{1, 2}}}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreContract, Memory);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, OneConfigurationContract, Memory);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, MixedContract, Memory);

}  // namespace
}  // namespace weir::store::contract
