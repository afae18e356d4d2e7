// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/memory_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <memory>
#include <mutex>
#include <vector>

#include "weir/store/memory/step.h"
#include "weir/store/memory/table.h"

namespace weir::store {
namespace {

using limit::Outcome;
using limit::Ticks;

constexpr int kMaxShardBits = 8;
// Eviction chooses among the records of a shard, so a small bound gets fewer shards.
constexpr std::uint64_t kAccountsPerShard = 64;

int shard_bits(std::uint64_t max_accounts) {
  const std::uint64_t shards = std::max<std::uint64_t>(max_accounts / kAccountsPerShard, 1);
  return std::min(kMaxShardBits, static_cast<int>(std::bit_width(shards)) - 1);
}

// Charges of a generation that is no longer in force, as charges of the one that is.
struct Translated {
  std::array<Charge, kMaxCharges> charges;
  std::array<std::size_t, kMaxCharges> origin;  // index of the charge that was translated
  std::size_t size = 0;

  std::span<const Charge> view() const { return {charges.data(), size}; }
};

Translated translate(const Generation& from, const Generation& to, std::span<const Charge> charges) {
  Translated result;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const auto slot = to.find(from.layout().slots[charges[i].slot].identity);
    if (!slot) continue;
    const auto variant = std::min<std::uint8_t>(charges[i].variant, to.slot(*slot).variations - 1);
    result.charges[result.size] = {*slot, variant, charges[i].cost};
    result.origin[result.size++] = i;
  }
  return result;
}

// What a limit that was removed answers: as if it had never been used.
Outcome free_outcome(const Generation& generation, const Charge& charge, Ticks now) {
  Word state[kSlotWords] = {};
  return generation.slot(charge.slot).variants[charge.variant].step(state, now, 0);
}

}  // namespace

struct MemoryStore::Call {
  const Kind& kind;
  const Fingerprint& subject;
  std::span<const Charge> charges;
  Ticks now;
  std::span<Outcome> outcomes;
};

struct MemoryStore::Private {
  enum class Result { kAdmitted, kInserted, kRefused, kNeedsRecord, kOldKind };

  explicit Private(const Options& given) : options(given), bits(shard_bits(given.max_accounts)) {}

  // Steps a record that exists. Requires: its lock is held, its layout is the generation's.
  [[gnu::always_inline]] static bool decide(const Generation& generation, std::span<const Charge> charges, Ticks now,
                                            Outcome* outcomes, Word* record) {
    const auto place = [record](std::size_t, const CompiledSlot& slot) { return record + slot.offset; };
    Step step(generation, charges, now, outcomes);
    if (step.run(place)) [[likely]]
      return true;
    step.undo(place);
    return false;
  }
  Result attempt(const Call& call, bool reserved);
  Result attempt_new(const Call& call, const Generation& generation, Shard& shard, bool reserved);
  void reserve(Table& table, std::uint64_t shard, Ticks now);
  void make_room(std::uint64_t begin, Ticks now);
  Table& largest() const;
  // The layout in force, for which the shard is laid out. Requires: shard.lock is held.
  const Generation& lay_out(Table& table, Shard& shard, Ticks now) {
    const Generation& in_force = table.in_force();
    if (!shard.uses(in_force)) [[unlikely]]
      drop(table, shard.use(in_force, now));
    return in_force;
  }
  void drop(Table& table, std::size_t records);

  const Options options;
  const int bits;
  std::mutex registry;  // of adopt, with what it owns
  std::vector<std::unique_ptr<Table>> owned;
  std::atomic<Table*> first{nullptr};  // of the same tables, as a list that can be walked without the lock
  std::atomic<std::uint64_t> sweeps{0};
  std::atomic<std::uint64_t> evictions{0};
  alignas(64) std::atomic<std::uint64_t> accounts{0};  // the sum over all tables
};

void MemoryStore::Private::drop(Table& table, std::size_t records) {
  if (records == 0) return;
  table.count_dropped(records);
  accounts.fetch_sub(records, std::memory_order_relaxed);
}

// Any call, wherever acquire's short way ends.
MemoryStore::Private::Result MemoryStore::Private::attempt(const Call& call, bool reserved) {
  Table& table = *call.kind.table_;
  Shard& shard = table.shard_of(call.subject);
  const std::lock_guard guard(shard.lock);
  const Generation& generation = lay_out(table, shard, call.now);
  if (call.kind.generation_ != &generation) return Result::kOldKind;
  Word* record = shard.find(call.subject);
  if (record == nullptr) return attempt_new(call, generation, shard, reserved);
  const bool admitted = decide(generation, call.charges, call.now, call.outcomes.data(), record);
  return admitted ? Result::kAdmitted : Result::kRefused;
}

// A missing record is a full one; it is made only when something is taken from it. Requires: shard.lock is held.
MemoryStore::Private::Result MemoryStore::Private::attempt_new(const Call& call, const Generation& generation,
                                                               Shard& shard, bool reserved) {
  Word blank[kMaxCharges][kSlotWords];
  bool takes = false;
  for (std::size_t i = 0; i < call.charges.size(); ++i) {
    const CompiledSlot& slot = generation.slot(call.charges[i].slot);
    std::fill_n(blank[i], kSlotWords, 0);
    if (slot.tagged) blank[i][slot.words] = call.charges[i].variant;
    takes |= call.charges[i].cost > 0;
  }
  const auto place = [&blank](std::size_t i, const CompiledSlot&) { return blank[i]; };
  Step step(generation, call.charges, call.now, call.outcomes.data());
  if (!step.run(place)) {
    step.undo(place);
    return Result::kRefused;
  }
  if (!takes) return Result::kAdmitted;
  if (!reserved) return Result::kNeedsRecord;
  std::size_t dropped = 0;
  Word* record = shard.insert(call.subject, call.now, dropped);
  drop(*call.kind.table_, dropped);
  for (std::size_t i = 0; i < call.charges.size(); ++i) {
    const CompiledSlot& slot = generation.slot(call.charges[i].slot);
    if (call.charges[i].cost > 0) slot.copy(blank[i], record + slot.offset);
  }
  return Result::kInserted;
}

// The table that has the most accounts.
MemoryStore::Table& MemoryStore::Private::largest() const {
  Table* found = first.load(std::memory_order_acquire);
  for (Table* table = found; table != nullptr; table = table->next()) {
    if (table->accounts() > found->accounts()) found = table;
  }
  return *found;
}

// Frees at least one place, if there is a record at all; beginning with the given shard of the largest table.
// Requires: no lock is held.
void MemoryStore::Private::make_room(std::uint64_t begin, Ticks now) {
  Table& table = largest();
  for (std::uint64_t i = 0; i < std::uint64_t{1} << bits; ++i) {
    Shard& shard = table.shard(begin + i);
    const std::lock_guard guard(shard.lock);
    lay_out(table, shard, now);
    if (shard.size() == 0) continue;
    const auto [full, live] = shard.evict(now);
    drop(table, full + live);
    evictions.fetch_add(live, std::memory_order_relaxed);
    return;
  }
}

// Counts a record that is about to be made, and makes room for it where the bound is passed.
void MemoryStore::Private::reserve(Table& table, std::uint64_t shard, Ticks now) {
  table.count_new();
  const std::uint64_t count = accounts.fetch_add(1, std::memory_order_relaxed) + 1;
  if (count > options.max_accounts) make_room(shard, now);
}

MemoryStore::MemoryStore(const Options& options) : private_(std::make_unique<Private>(options)) {}
MemoryStore::~MemoryStore() = default;

MemoryStore::Kind MemoryStore::adopt(const Layout& layout) {
  assert(!layout.slots.empty());
  const std::lock_guard guard(private_->registry);
  Kind kind;
  for (const auto& table : private_->owned) {
    if (table->kind() == layout.kind) kind.table_ = table.get();
  }
  if (kind.table_ != nullptr) {
    kind.generation_ = kind.table_->adopt(layout);
    return kind;
  }
  Table* const newest = private_->first.load(std::memory_order_relaxed);
  auto& table = private_->owned.emplace_back(std::make_unique<Table>(layout.kind, private_->bits, newest));
  kind.table_ = table.get();
  kind.generation_ = table->adopt(layout);
  private_->first.store(kind.table_, std::memory_order_release);
  return kind;
}

Fingerprint MemoryStore::subject(std::string_view joined_values) const {
  return fingerprint(private_->options.key, joined_values);
}

void MemoryStore::prefetch(const Kind& kind, const Fingerprint& subject) const {
  kind.table_->shard_of(subject).prefetch(subject);
}

bool MemoryStore::acquire(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges, Ticks now,
                          std::span<Outcome> outcomes) {
  assert(charges.size() == outcomes.size() && charges.size() <= kMaxCharges && now >= 0);
  Shard& shard = kind.table_->shard_of(subject);
  shard.prefetch(subject);
  {
    const std::lock_guard guard(shard.lock);
    const bool current = kind.generation_ == &kind.table_->in_force() && shard.uses(*kind.generation_);
    Word* record = current ? shard.find(subject) : nullptr;
    if (record != nullptr) [[likely]]
      return Private::decide(*kind.generation_, charges, now, outcomes.data(), record);
  }
  return acquire_long_way({kind, subject, charges, now, outcomes});
}

// The record is missing, or the kind or the shard are of an older generation.
bool MemoryStore::acquire_long_way(const Call& call) {
  using Result = Private::Result;
  Result result = private_->attempt(call, false);
  if (result == Result::kNeedsRecord) {
    private_->reserve(*call.kind.table_, call.subject.high, call.now);
    result = private_->attempt(call, true);
    if (result != Result::kInserted) private_->drop(*call.kind.table_, 1);
  }
  if (result == Result::kOldKind) return acquire_by_new_numbers(call);
  return result != Result::kRefused;
}

bool MemoryStore::acquire_by_new_numbers(const Call& call) {
  const Generation& from = *call.kind.generation_;
  Kind current = call.kind;
  current.generation_ = &call.kind.table_->in_force();
  const Translated translated = translate(from, *current.generation_, call.charges);
  std::array<Outcome, kMaxCharges> answers;
  const bool admitted =
      acquire(current, call.subject, translated.view(), call.now, std::span(answers).first(translated.size));
  for (std::size_t i = 0; i < call.charges.size(); ++i) {
    call.outcomes[i] = free_outcome(from, call.charges[i], call.now);
  }
  for (std::size_t i = 0; i < translated.size; ++i) call.outcomes[translated.origin[i]] = answers[i];
  return admitted;
}

void MemoryStore::give_back(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges,
                            Ticks now) {
  Shard& shard = kind.table_->shard_of(subject);
  const std::lock_guard guard(shard.lock);
  const Generation& generation = private_->lay_out(*kind.table_, shard, now);
  Word* record = shard.find(subject);
  if (record == nullptr) return;
  const Translated translated = translate(*kind.generation_, generation, charges);
  for (const Charge& charge : translated.view()) {
    const CompiledSlot& slot = generation.slot(charge.slot);
    Word* state = record + slot.offset;
    slot.variants[slot.writer(state)].give_back({state, slot.words}, now, charge.cost);
  }
}

void MemoryStore::reset(const Kind& kind, const Fingerprint& subject) {
  Shard& shard = kind.table_->shard_of(subject);
  const std::lock_guard guard(shard.lock);
  Word* record = shard.find(subject);
  if (record == nullptr) return;
  shard.erase(record);
  private_->drop(*kind.table_, 1);
}

std::size_t MemoryStore::sweep(Ticks now) {
  const std::uint64_t index = private_->sweeps.fetch_add(1, std::memory_order_relaxed);
  std::size_t total = 0;
  for (Table* table = private_->first.load(std::memory_order_acquire); table != nullptr; table = table->next()) {
    Shard& shard = table->shard(index);
    const std::lock_guard guard(shard.lock);
    private_->lay_out(*table, shard, now);
    const std::size_t dropped = shard.sweep(now);
    private_->drop(*table, dropped);
    total += dropped;
  }
  return total;
}

std::size_t MemoryStore::shards() const { return std::size_t{1} << private_->bits; }

MemoryStore::Stats MemoryStore::stats() const {
  Stats stats{.evictions = private_->evictions.load(std::memory_order_relaxed)};
  for (Table* table = private_->first.load(std::memory_order_acquire); table != nullptr; table = table->next()) {
    stats.accounts += table->accounts();
    stats.bytes += table->bytes();
  }
  return stats;
}

}  // namespace weir::store
