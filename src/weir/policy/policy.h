// SPDX-License-Identifier: Apache-2.0
//
// Which limits apply to a request, with which numbers and at which cost. Compiled from the configuration once:
// limits with the same `per` (endpoint and method aside) become slots of one kind of account. Per request it yields
// a short list of charges, grouped by account, narrowest account first (most values in `per`; then configuration
// order). Knows neither stores' state nor HTTP beyond the fields that `cost` and `per` name.
// Thread safety: a Policy is immutable; a Charges belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/http/message.h"
#include "weir/identity/identifier.h"
#include "weir/limit/limit.h"
#include "weir/policy/finding.h"
#include "weir/policy/limit_info.h"
#include "weir/policy/row_numbers.h"
#include "weir/policy/row_table.h"
#include "weir/policy/rule.h"
#include "weir/route/router.h"
#include "weir/store/account.h"
#include "weir/store/memory/memory_store.h"

namespace weir::policy {

struct ChargedLimit {
  LimitIndex limit = 0;
  VariantIndex variant = 0;
  std::uint16_t breadth = 0;  // of what it counts: a narrower limit has less
  config::StoreFailure on_store_failure = config::StoreFailure::kOpen;
  const LimitInfo* info = nullptr;  // if something is still to be done about it when the request has been admitted
};

// The charges of one account: a run in Charges::charges.
struct AccountCharges {
  store::MemoryStore::Kind kind;
  Fingerprint subject;
  std::uint64_t phase = 0;  // limit::fnv1a of the subject's key, if a window begins at it
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // at most Charges::kMaxRun
  bool shadow = false;      // shadow limits have accounts of their own
  bool queued = false;      // a limit has a line to wait in
  // Counted where all gateways count; null: in memory. Its name is in Charges::names.
  const std::shared_ptr<const store::RedisKind>* shared = nullptr;
  std::uint32_t name = 0;
  std::uint32_t name_size = 0;
};

// Reused from request to request.
struct Charges {
  std::vector<AccountCharges> accounts;  // enforced ones first, narrowest first; then shadow ones
  std::vector<store::Charge> charges;    // sorted by account
  std::vector<ChargedLimit> limits;      // parallel to charges
  std::vector<LimitIndex> skipped;       // a `per` attribute was missing and the limit says skip
  LimitIndex missing_refuses = kNone;    // the first limit with `missing: refuse` that lacks an attribute
  // Limits that say `rate: policies` when nobody could say in time whether there is a row.
  LimitIndex unknown_refuses = kNone;  // the first of these that is closed then
  bool unknown = false;                // there is one that is open then
  std::string names;                   // of accounts in a shared store
  std::string key;                     // room for joined values
  std::vector<RuleIndex> rules;        // room for what may apply

  static constexpr LimitIndex kNone = UINT16_MAX;
  static_assert(config::Limit::kMost <= kNone);
  // What a store takes in one step. An account to which more limits apply at once is asked in several runs, which are
  // composed like several accounts.
  static constexpr std::uint32_t kMaxRun = 64;

  std::string_view name_of(const AccountCharges& account) const {
    return std::string_view(names).substr(account.name, account.name_size);
  }
  bool are_shared() const { return !accounts.empty() && accounts.front().shared != nullptr; }

  void clear();
};

class Policy {
 public:
  // Puts the layouts in force in `store`, which must outlive this object. Requires: at most
  // config::Limit::kMost limits with kMostRates different rates in each, all of them in the ranges of
  // limit::TokenBucket (the loader of the configuration sees to it; a rate that is not counts as unlimited).
  // The numbers of rows are kept on `shelf`, which outlives the store.
  Policy(const config::Config& config, const route::Router& router, const identity::AttributeNames& names,
         store::MemoryStore& store, RowNumbersShelf& shelf);

  // Requires: caller.attributes with kService, kEndpoint and kMethod set. A caller on the bypass list gets no
  // charges. No allocation once the vectors have grown. `rows`: those of the caller.
  void charge(const route::Route& route, const http::RequestHead& request, const identity::Caller& caller,
              Charges& charges, const CallerRows& rows = {}) const;

  // What charge does with each limit, and why: in configuration order, one for each. For people, so not fast.
  // Requires: as charge.
  std::vector<Finding> explain(const route::Route& route, const http::RequestHead& request,
                               const identity::Caller& caller, const CallerRows& rows = {}) const;

  const std::vector<LimitInfo>& limits() const { return limits_; }
  // As account_directory() has them, with the same slots.
  const std::vector<AccountKind>& kinds() const { return kinds_; }
  // The subject of the account in memory with these values of `per`; empty: absent.
  Fingerprint subject_of(std::span<const std::string> values) const;
  // The account that a limit charges for a request, as people write it (store::AccountText).
  std::string account_text(LimitIndex limit, bool shadow, const route::Route& route, const http::RequestHead& request,
                           const identity::Caller& caller) const;
  // The same of an account in a shared store.
  std::string account_text(std::string_view name) const;
  // Whether some limit acts by rows.
  bool needs_rows() const { return needs_rows_; }

 private:
  struct Scene;

  void find_rules(const route::Route& route, std::vector<RuleIndex>& found) const;
  void apply(const Rule& rule, Scene& scene, Charges& charges) const;
  RowTable::Acting row_of(const Rule& rule, const Scene& scene, Charges& charges) const;
  RowTable::Scope row_scope(const Rule& rule, const route::Route& route) const;
  route::PatternIndex row_endpoint(const Rule& rule, const route::Route& route) const;
  void note_unknown(const Rule& rule, Charges& charges) const;
  bool enter(const Rule& rule, Scene& scene, Charges& charges) const;
  void open_account(const Rule& rule, Scene& scene, Charges& charges) const;
  std::uint64_t phase_of(const AccountKind& kind, bool shadow, const Scene& scene, std::string& room) const;
  std::string_view subject_value(identity::AttributeId id, bool shadow, const Scene& scene) const;

  std::string_view name_account(const AccountKind& kind, bool shadow, const Scene& scene, std::string& names) const;

  // policy/explain.cc
  Finding examine(const Rule& rule, const Scene& scene) const;
  std::optional<Finding::Row> find_row(const Rule& rule, const Scene& scene) const;
  Acts reason(const Rule& rule, const Scene& scene, const Charges& charges, Finding& finding) const;
  void describe(const Rule& rule, const Scene& scene, Charges& charges, Finding& finding) const;

  store::MemoryStore& store_;
  std::string prefix_;  // of names in a shared store; empty: there is none
  std::vector<LimitInfo> limits_;
  std::vector<Rule> rules_;
  std::vector<AccountKind> kinds_;
  RuleIndexes indexes_;
  std::vector<std::string> attributes_;  // as `per` names them
  std::vector<std::string> endpoints_;   // a text for each pattern that stays the same across reloads
  std::vector<std::uint32_t> ranks_;     // of each pattern, as Router::ranks
  bool needs_rows_ = false;
};

}  // namespace weir::policy
