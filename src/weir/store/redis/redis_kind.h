// SPDX-License-Identifier: Apache-2.0
//
// A layout (store/account.h) as accounts in Redis have it: which name and which head each slot has. Compiled once for
// a configuration, but for the limits of books (store/limit_book.h): each when it is first met.
// Thread safety: any thread may use it.
//
// Where gateways may take tokens in advance ("bundles", bundles.h) a bucket keeps as many in reserve as all of them
// together can hold: what is held now and spent later comes on top of what the bucket gives then. A window needs no
// reserve, since what was taken is spent in the same window.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weir/base/memo.h"
#include "weir/store/account.h"
#include "weir/store/redis/slot_head.h"

namespace weir::store {

// What all gateways may take in advance.
struct Leasing {
  limit::Cost max = 0;       // tokens that one of them may hold of a limit; 0: none
  limit::Cost gateways = 1;  // how many there are
};

class RedisKind : public std::enable_shared_from_this<RedisKind> {
 public:
  struct Variant {
    limit::Limit limit;      // in microseconds, without the reserve
    std::int64_t ticks = 1;  // of the layout's limit in a microsecond
    Form form = Form::kBucket;
    LifeCode life = 0;
    std::string head;       // empty: it depends on the subject
    std::string list;       // what the name of its list has behind the account's; empty: it has none
    limit::Cost lease = 0;  // tokens that one gateway may hold; 0: none
  };
  struct KeptSlot {
    SlotId id = 0;
    limit::Cost largest_cost = 1;  // of one charge
    std::vector<Variant> variants;
    const LimitBook* book = nullptr;  // then the variants are made when they are first met
    std::vector<std::string> lists;   // what the names of its lists can have behind the account's
  };

  explicit RedisKind(const Layout& layout, const Leasing& leasing = {});

  const KeptSlot& slot(std::size_t index) const { return slots_[index]; }
  const std::vector<KeptSlot>& slots() const { return slots_; }
  limit::Cost gateways() const { return leasing_.gateways; }
  // No other one in this process has it: accounts of several kinds can have one name.
  std::uint64_t number() const { return number_; }
  const Variant& variant(std::uint16_t slot, std::uint32_t variant) const {
    return slots_[slot].book == nullptr ? slots_[slot].variants[variant] : met(slot, variant);
  }
  const Variant& variant(const Charge& charge) const { return variant(charge.slot, charge.variant); }

 private:
  const Variant& met(std::uint16_t slot, std::uint32_t variant) const;

  std::vector<KeptSlot> slots_;
  std::unique_ptr<Memo<std::uint64_t, Variant>> met_;  // by slot and number
  Leasing leasing_;
  std::uint64_t number_;
};

// What the name of a slot's list has behind the account's. Requires: has_list(form).
std::string list_name(SlotId id, Form form);

// The name of an account: `prefix:{values}`, the values of `per` in order. Whatever a value is, it chooses neither
// the hash slot nor the account of other values: `,`, `{`, `}` and `\` are escaped in it, an absent one is `\-`, and
// what is too long for a name is replaced by a fingerprint.
class AccountName {
 public:
  // Appends to `out`.
  AccountName(std::string_view prefix, std::string& out) : out_(out) { out_.append(prefix).append(":{"); }
  void add(std::string_view value);
  void add_escaped(std::string_view value);
  // A name without values must not have an empty hash tag, which is none.
  void finish() { out_ += first_ ? "\\.}" : "}"; }

 private:
  static constexpr std::size_t kLongest = 512;

  std::string& out_;
  bool first_ = true;
};

}  // namespace weir::store
