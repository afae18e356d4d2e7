// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/memory_store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "weir/limit/alignment.h"
#include "weir/limit/ranges.h"
#include "weir/store/memory/step.h"
#include "weir/store/memory/table.h"

namespace weir::store {
namespace {

using limit::Outcome;

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
    const std::uint32_t variant = to.slot(*slot).nearest(from.slot(charges[i].slot), charges[i].variant);
    result.charges[result.size] = {*slot, variant, charges[i].cost};
    result.origin[result.size++] = i;
  }
  return result;
}

bool has_duplicates_in_disorder(std::span<const Charge> charges) {
  for (std::size_t i = 1; i < charges.size(); ++i) {
    const auto before = charges.first(i);
    if (std::ranges::find(before, charges[i].slot, &Charge::slot) != before.end()) return true;
  }
  return false;
}

// Whether two charges are of the same slot. Most callers have them in the order of their slots.
[[gnu::always_inline]] inline bool has_duplicates(std::span<const Charge> charges) {
  bool ascending = true;
  for (std::size_t i = 1; i < charges.size(); ++i) ascending &= charges[i - 1].slot < charges[i].slot;
  return !ascending && has_duplicates_in_disorder(charges);
}

// What a limit that was removed answers: as if it had never been used.
Outcome free_outcome(const Generation& generation, const Charge& charge, const limit::Call& call) {
  const Word state[kSlotWords] = {};
  return generation.slot(charge.slot).limit(charge.variant).peek(state, call);
}

}  // namespace

struct MemoryStore::Request {
  const Kind& kind;
  const Fingerprint& subject;
  std::span<const Charge> charges;
  const limit::Call& call;
  std::span<Outcome> outcomes;
};

struct MemoryStore::Changes {
  const Kind& kind;
  const Fingerprint& subject;
  std::span<const Adjustment> adjustments;
  const limit::Call& call;
  std::span<Outcome> outcomes;  // may be empty
};

struct MemoryStore::Private {
  enum class Result { kAdmitted, kInserted, kRefused, kNeedsRecord, kOldKind };

  explicit Private(const Options& given) : options(given), bits(shard_bits(given.max_accounts)) {}

  // Steps a record that exists. Requires: its lock is held, its layout is the generation's.
  [[gnu::always_inline]] static bool decide(const Generation& generation, std::span<const Charge> charges,
                                            const limit::Call& call, Outcome* outcomes, Shard& shard, Word* record) {
    const auto place = [record](std::size_t, const CompiledSlot& slot) { return record + slot.offset; };
    if (generation.is_special()) [[unlikely]]
      generation.learn_phase(record, call);
    Step step(generation, charges, call, outcomes);
    if (step.run(place)) [[likely]] {
      if (generation.is_special()) [[unlikely]]
        shard.count_owned(step.commit(place));
      return true;
    }
    step.undo(place);
    return false;
  }
  Result attempt(const Request& request, bool reserved);
  Result attempt(const Changes& changes, bool reserved);
  static Outcome change(const Generation& from, const Generation& to, const Adjustment& adjustment,
                        const limit::Call& call, Word* record);
  Result attempt_new(const Request& request, const Generation& generation, Shard& shard, bool reserved);
  bool reserve(Table& table, std::uint64_t shard, const limit::Call& call);
  bool make_room(bool expendable, std::uint64_t begin, const limit::Call& call);
  Table* largest(bool expendable) const;
  // The layout in force, for which the shard is laid out. Requires: shard.lock is held.
  const Generation& lay_out(Table& table, Shard& shard, const limit::Call& call) {
    const Generation& in_force = table.in_force();
    if (!shard.uses(in_force)) [[unlikely]]
      drop(table, shard.use(in_force, call));
    return in_force;
  }
  // Requires: shard.lock is held, the record is missing and reserved.
  Word* insert(Table& table, Shard& shard, const Fingerprint& subject, const limit::Call& call) {
    std::size_t dropped = 0;
    Word* record = shard.insert(subject, call, dropped);
    drop(table, dropped);
    return record;
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

// Any request, wherever acquire's short way ends.
MemoryStore::Private::Result MemoryStore::Private::attempt(const Request& request, bool reserved) {
  Table& table = *request.kind.table_;
  Shard& shard = table.shard_of(request.subject);
  const std::lock_guard guard(shard.lock);
  const Generation& generation = lay_out(table, shard, request.call);
  if (request.kind.generation_ != &generation) return Result::kOldKind;
  Word* record = shard.find(request.subject);
  if (record == nullptr) return attempt_new(request, generation, shard, reserved);
  const bool admitted = decide(generation, request.charges, request.call, request.outcomes.data(), shard, record);
  return admitted ? Result::kAdmitted : Result::kRefused;
}

// A missing record is a full one; it is made only when something is taken from it. Requires: shard.lock is held.
MemoryStore::Private::Result MemoryStore::Private::attempt_new(const Request& request, const Generation& generation,
                                                               Shard& shard, bool reserved) {
  const auto& charges = request.charges;
  Word blank[kMaxCharges][kSlotWords];
  bool takes = false;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const CompiledSlot& slot = generation.slot(charges[i].slot);
    std::fill_n(blank[i], kSlotWords, 0);
    if (slot.tagged) blank[i][slot.words] = charges[i].variant;
    takes |= charges[i].cost > 0;
  }
  const auto place = [&blank](std::size_t i, const CompiledSlot&) { return blank[i]; };
  Step step(generation, charges, request.call, request.outcomes.data());
  if (!step.run(place)) {
    step.undo(place);
    return Result::kRefused;
  }
  if (!takes) return Result::kAdmitted;
  if (!reserved) return Result::kNeedsRecord;
  Word* record = insert(*request.kind.table_, shard, request.subject, request.call);
  generation.learn_phase(record, request.call);
  shard.count_owned(step.commit(place));
  for (std::size_t i = 0; i < charges.size(); ++i) {
    const CompiledSlot& slot = generation.slot(charges[i].slot);
    if (charges[i].cost > 0) slot.copy(blank[i], record + slot.offset);
  }
  return Result::kInserted;
}

// A missing record is made only when something is taken from it: there is nothing to give back to it.
MemoryStore::Private::Result MemoryStore::Private::attempt(const Changes& changes, bool reserved) {
  Table& table = *changes.kind.table_;
  Shard& shard = table.shard_of(changes.subject);
  const std::lock_guard guard(shard.lock);
  const Generation& generation = lay_out(table, shard, changes.call);
  Word* record = shard.find(changes.subject);
  Result result = Result::kAdmitted;
  if (record == nullptr && std::ranges::any_of(changes.adjustments, [](const auto& one) { return one.by > 0; })) {
    if (!reserved) return Result::kNeedsRecord;
    record = insert(table, shard, changes.subject, changes.call);
    result = Result::kInserted;
  }
  if (record != nullptr) generation.learn_phase(record, changes.call);
  const std::uint64_t before = record == nullptr ? 0 : generation.owned_bytes(record);
  for (std::size_t i = 0; i < changes.adjustments.size(); ++i) {
    const Outcome after = change(*changes.kind.generation_, generation, changes.adjustments[i], changes.call, record);
    if (!changes.outcomes.empty()) changes.outcomes[i] = after;
  }
  if (record != nullptr) shard.count_owned(static_cast<std::int64_t>(generation.owned_bytes(record) - before));
  return result;
}

// What was taken by another algorithm is not there any more, and a limit that was removed counts nothing.
Outcome MemoryStore::Private::change(const Generation& from, const Generation& to, const Adjustment& adjustment,
                                     const limit::Call& call, Word* record) {
  const auto found = to.find(from.layout().slots[adjustment.slot].identity);
  if (!found) return free_outcome(from, {.slot = adjustment.slot, .variant = adjustment.variant}, call);
  const CompiledSlot& slot = to.slot(*found);
  const std::uint32_t variant = slot.nearest(from.slot(adjustment.slot), adjustment.variant);
  if (record == nullptr) return free_outcome(to, {.slot = *found, .variant = variant}, call);
  Word* const state = record + slot.offset;
  const bool untouched = std::all_of(state, state + slot.words, [](Word word) { return word == 0; });
  if (untouched && slot.tagged) state[slot.words] = variant;
  const limit::Limit& limit = slot.writing(state);
  const limit::Limit& charged = from.slot(adjustment.slot).limit(adjustment.variant);
  const std::span<Word> words(state, slot.words);
  if (limit.algorithm().index() == charged.algorithm().index()) {
    if (adjustment.by < 0) limit.give_back(words, call, -adjustment.by, adjustment.at);
    if (adjustment.by > 0) limit.take(words, call, adjustment.by, adjustment.at);
  }
  return limit.peek(words, call);
}

// The table that has the most accounts, of those that are expendable or of the others; null: none has any.
MemoryStore::Table* MemoryStore::Private::largest(bool expendable) const {
  Table* found = nullptr;
  for (Table* table = first.load(std::memory_order_acquire); table != nullptr; table = table->next()) {
    if (table->expendable() != expendable || table->accounts() == 0) continue;
    if (found == nullptr || table->accounts() > found->accounts()) found = table;
  }
  return found;
}

// Frees at least one place of the largest table of this sort, if there is a record at all; beginning with the given
// shard. Requires: no lock is held.
bool MemoryStore::Private::make_room(bool expendable, std::uint64_t begin, const limit::Call& call) {
  Table* const table = largest(expendable);
  for (std::uint64_t i = 0; table != nullptr && i < std::uint64_t{1} << bits; ++i) {
    Shard& shard = table->shard(begin + i);
    const std::lock_guard guard(shard.lock);
    lay_out(*table, shard, call);
    if (shard.size() == 0) continue;
    const auto [full, live] = shard.evict(call);
    drop(*table, full + live);
    evictions.fetch_add(live, std::memory_order_relaxed);
    return true;
  }
  return false;
}

// Counts a record that is about to be made, and makes room for it where the bound is passed. False: there is no room
// for an expendable one.
bool MemoryStore::Private::reserve(Table& table, std::uint64_t shard, const limit::Call& call) {
  table.count_new();
  const std::uint64_t count = accounts.fetch_add(1, std::memory_order_relaxed) + 1;
  if (count <= options.max_accounts || make_room(/*expendable=*/true, shard, call)) return true;
  if (table.expendable()) {
    drop(table, 1);
    return false;
  }
  make_room(/*expendable=*/false, shard, call);
  return true;
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
  auto& table = private_->owned.emplace_back(std::make_unique<Table>(layout, private_->bits, newest));
  kind.table_ = table.get();
  kind.generation_ = table->adopt(layout);
  private_->first.store(kind.table_, std::memory_order_release);
  return kind;
}

Fingerprint MemoryStore::subject(std::string_view joined_values) const {
  return fingerprint(private_->options.key, joined_values);
}

std::uint64_t MemoryStore::counter_of(const Kind& kind, std::uint16_t slot) {
  return std::bit_cast<std::uintptr_t>(kind.table_) ^ limit::fnv1a(kind.generation_->layout().slots[slot].identity);
}

void MemoryStore::prefetch(const Kind& kind, const Fingerprint& subject) const {
  kind.table_->shard_of(subject).prefetch(subject);
}

bool MemoryStore::acquire(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges,
                          const limit::Call& call, std::span<Outcome> outcomes) {
  assert(charges.size() == outcomes.size() && charges.size() <= kMaxCharges && call.now >= 0 && call.wall >= 0);
  if (has_duplicates(charges)) [[unlikely]]
    return acquire_summed({kind, subject, charges, call, outcomes});
  Shard& shard = kind.table_->shard_of(subject);
  shard.prefetch(subject);
  {
    const std::lock_guard guard(shard.lock);
    const bool current = kind.generation_ == &kind.table_->in_force() && shard.uses(*kind.generation_);
    Word* record = current ? shard.find(subject) : nullptr;
    if (record != nullptr) [[likely]]
      return Private::decide(*kind.generation_, charges, call, outcomes.data(), shard, record);
  }
  return acquire_long_way({kind, subject, charges, call, outcomes});
}

bool MemoryStore::acquire_summed(const Request& request) {
  std::array<Charge, kMaxCharges> sums;
  std::array<Outcome, kMaxCharges> answers;
  std::size_t size = 0;
  const auto find = [&](std::uint16_t slot) {
    return std::find_if(sums.begin(), sums.begin() + size, [&](const Charge& sum) { return sum.slot == slot; });
  };
  for (const Charge& charge : request.charges) {
    const auto known = find(charge.slot);
    if (known == sums.begin() + size) {
      sums[size++] = charge;
    } else {
      known->cost = std::min(known->cost + charge.cost, limit::kMaxUnits + 1);  // more than any limit allows
    }
  }
  const bool admitted = acquire(request.kind, request.subject, std::span(sums).first(size), request.call,
                                std::span(answers).first(size));
  for (std::size_t i = 0; i < request.charges.size(); ++i) {
    request.outcomes[i] = answers[static_cast<std::size_t>(find(request.charges[i].slot) - sums.begin())];
  }
  return admitted;
}

// The record is missing, or the kind or the shard are of an older generation.
bool MemoryStore::acquire_long_way(const Request& request) {
  using Result = Private::Result;
  Result result = private_->attempt(request, false);
  if (result == Result::kNeedsRecord) {
    if (!private_->reserve(*request.kind.table_, request.subject.high, request.call)) return true;  // uncounted
    result = private_->attempt(request, true);
    if (result != Result::kInserted) private_->drop(*request.kind.table_, 1);
  }
  if (result == Result::kOldKind) return acquire_by_new_numbers(request);
  return result != Result::kRefused;
}

bool MemoryStore::acquire_by_new_numbers(const Request& request) {
  const Generation& from = *request.kind.generation_;
  Kind current = request.kind;
  current.generation_ = &request.kind.table_->in_force();
  const Translated translated = translate(from, *current.generation_, request.charges);
  std::array<Outcome, kMaxCharges> answers;
  const bool admitted =
      acquire(current, request.subject, translated.view(), request.call, std::span(answers).first(translated.size));
  for (std::size_t i = 0; i < request.charges.size(); ++i) {
    request.outcomes[i] = free_outcome(from, request.charges[i], request.call);
  }
  for (std::size_t i = 0; i < translated.size; ++i) request.outcomes[translated.origin[i]] = answers[i];
  return admitted;
}

void MemoryStore::adjust(const Kind& kind, const Fingerprint& subject, std::span<const Adjustment> adjustments,
                         const limit::Call& call, std::span<Outcome> outcomes) {
  assert(outcomes.empty() || outcomes.size() == adjustments.size());
  using Result = Private::Result;
  const Changes changes{kind, subject, adjustments, call, outcomes};
  if (private_->attempt(changes, false) != Result::kNeedsRecord) return;
  if (!private_->reserve(*kind.table_, subject.high, call)) return;
  if (private_->attempt(changes, true) != Result::kInserted) private_->drop(*kind.table_, 1);
}

MemoryStore::Look MemoryStore::look(const Kind& kind, const Fingerprint& subject, std::uint16_t slot,
                                    const limit::Call& call, limit::Cost cost) {
  Shard& shard = kind.table_->shard_of(subject);
  const std::lock_guard guard(shard.lock);
  const Generation& generation = private_->lay_out(*kind.table_, shard, call);
  const auto found = generation.find(kind.generation_->layout().slots[slot].identity);
  if (!found) return {};
  const CompiledSlot& compiled = generation.slot(*found);
  const Word* record = shard.find(subject);
  Word state[kSlotWords] = {};
  if (record != nullptr) compiled.copy(record + compiled.offset, state);
  const limit::Limit& limit = compiled.writing(state);
  const std::span<Word> words(state, compiled.words);
  Look look{.limit = &limit, .outcome = limit.peek(words, call), .variant = compiled.writer(state)};
  look.used = record != nullptr && !limit.is_initial(words, call);
  if (!compiled.keeps_entries) look.asked = limit.step(words, call, cost);  // of a copy
  return look;
}

bool MemoryStore::renew(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges,
                        const limit::Call& call) {
  Shard& shard = kind.table_->shard_of(subject);
  const std::lock_guard guard(shard.lock);
  const Generation& generation = private_->lay_out(*kind.table_, shard, call);
  Word* record = shard.find(subject);
  bool alive = true;
  const Translated translated = translate(*kind.generation_, generation, charges);
  for (std::size_t i = 0; i < translated.size; ++i) {
    const CompiledSlot& slot = generation.slot(translated.charges[i].slot);
    const Charge& charge = charges[translated.origin[i]];
    const limit::Limit& charged = kind.generation_->slot(charge.slot).limit(charge.variant);
    const auto* leases = std::get_if<limit::Concurrency>(&charged.algorithm());
    if (leases == nullptr || !slot.limit(0).holds<limit::Concurrency>()) continue;
    const std::span<Word> state(record == nullptr ? nullptr : record + slot.offset, slot.words);
    alive &= record != nullptr && slot.writing(state.data()).renew(state, call, leases->numbers().lease);
  }
  return alive;
}

void MemoryStore::reset(const Kind& kind, const Fingerprint& subject) {
  Shard& shard = kind.table_->shard_of(subject);
  const std::lock_guard guard(shard.lock);
  Word* record = shard.find(subject);
  if (record == nullptr) return;
  shard.erase(record);
  private_->drop(*kind.table_, 1);
}

std::size_t MemoryStore::sweep(const limit::Call& call) {
  const std::uint64_t index = private_->sweeps.fetch_add(1, std::memory_order_relaxed);
  std::size_t total = 0;
  for (Table* table = private_->first.load(std::memory_order_acquire); table != nullptr; table = table->next()) {
    Shard& shard = table->shard(index);
    const std::lock_guard guard(shard.lock);
    private_->lay_out(*table, shard, call);
    const std::size_t dropped = shard.sweep(call);
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
