// SPDX-License-Identifier: Apache-2.0
//
// What the policies in the database say about the caller of one request: whose key it sent, its partner's plan, and
// the rows that its limits act by. Everything is answered from what is known; what has to be looked up first is
// `wanted`, and the request is judged again when it has been.
// Thread safety: the worker's thread; one request.
#pragma once

#include <optional>

#include "weir/gateway/generation.h"
#include "weir/gateway/looked_up.h"
#include "weir/gateway/lookup_counters.h"
#include "weir/identity/attributes.h"
#include "weir/identity/key_directory.h"
#include "weir/lookup/directory.h"
#include "weir/policy/row_table.h"

namespace weir::gateway {

// What was found for a request, so that views into it stay valid until the next one.
struct PartnerFindings {
  lookup::KnownPtr key;
  lookup::KnownPtr partner;
  lookup::KnownPtr plan;
};

class PartnerView final : public identity::KeyDirectory {
 public:
  struct Moment {
    Instant now{};
    WallTime wall{};
    const LookedUp& looked_up;
  };

  // Whatever is given outlives the view.
  PartnerView(lookup::Directory& directory, const Generation& generation, const Moment& moment,
              PartnerFindings& findings, LookupCounters& counters)
      : directory_(directory), generation_(generation), moment_(moment), findings_(findings), counters_(counters) {}
  // Counts what was found, unless the request is to be judged again.
  ~PartnerView() override;
  PartnerView(const PartnerView&) = delete;
  PartnerView& operator=(const PartnerView&) = delete;

  // The owner of an API key. A key that is switched off, or does not hold yet or any more, is nobody's.
  Answer find(std::string_view key) override;

  enum class Standing : std::uint8_t { kUsual, kSwitchedOff };
  // The partner's plan, if the request has none, and the rows of both.
  Standing complete(identity::Attributes& attributes, policy::CallerRows& rows);

  // What has to be looked up before this request can be judged.
  const std::optional<partners::Subject>& wanted() const { return wanted_; }

 private:
  lookup::KnownPtr look(const partners::Subject& subject);
  lookup::KnownPtr compiled(const partners::Subject& subject, lookup::KnownPtr known);
  const policy::RowTable* rows_of(const lookup::KnownPtr& known) const;

  lookup::Directory& directory_;
  const Generation& generation_;
  const Moment moment_;
  PartnerFindings& findings_;
  LookupCounters& counters_;
  std::optional<partners::Subject> wanted_;
  lookup::KnownPtr outdated_;  // what was known of it before
  std::uint64_t known_ = 0;
  std::uint64_t expired_ = 0;
  std::uint64_t away_ = 0;
};

}  // namespace weir::gateway
