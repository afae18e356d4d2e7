// SPDX-License-Identifier: Apache-2.0
#include "weir/store/contract/store_contract.h"
#include "weir/store/memory/memory_store.h"

namespace weir::store::contract {
namespace {

struct Memory {
  using Kind = MemoryStore::Kind;

  static bool keeps(Ticks) { return true; }
  Kind adopt(const Layout& layout) { return store.adopt(layout); }
  bool acquire(const Kind& kind, std::string_view subject, std::span<const Charge> charges, Ticks now,
               std::span<Outcome> outcomes) {
    return store.acquire(kind, store.subject(subject), charges, now, outcomes);
  }
  void give_back(const Kind& kind, std::string_view subject, std::span<const Charge> charges, Ticks now) {
    store.give_back(kind, store.subject(subject), charges, now);
  }
  void reset(const Kind& kind, std::string_view subject) { store.reset(kind, store.subject(subject)); }

  MemoryStore store{{.max_accounts = 1'000'000, .key = {{1, 2}}}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreContract, Memory);

}  // namespace
}  // namespace weir::store::contract
