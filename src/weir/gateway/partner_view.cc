// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/partner_view.h"

#include <utility>

#include "weir/base/log.h"
#include "weir/partners/digest.h"

namespace weir::gateway {
namespace {

using Kind = partners::Subject::Kind;
using lookup::Freshness;
using lookup::KnownPtr;

bool holds(const partners::Key& key, WallTime now) {
  return key.enabled && (!key.not_before || *key.not_before <= now) && (!key.expires || now < *key.expires);
}

const std::vector<partners::LimitRow>* limits_of(const lookup::Known& known) {
  if (const auto* partner = std::get_if<partners::PartnerRecord>(&known.record)) return &partner->limits;
  if (const auto* plan = std::get_if<partners::PlanRecord>(&known.record)) return &plan->limits;
  return nullptr;
}

}  // namespace

PartnerView::~PartnerView() {
  if (wanted_) return;
  counters_.known.add(known_);
  counters_.expired.add(expired_);
  counters_.away.add(away_);
}

PartnerView::Answer PartnerView::find(std::string_view key) {
  findings_.key = look(partners::subject_of(partners::digest_of(key)));
  Answer answer;
  if (wanted_) {
    answer.known = identity::KeyDirectory::Known::kNotYet;
    answer.was_owner = outdated_ != nullptr && std::holds_alternative<partners::Key>(outdated_->record);
    return answer;
  }
  if (findings_.key == nullptr) {
    answer.known = identity::KeyDirectory::Known::kAway;
    return answer;
  }
  const auto* found = std::get_if<partners::Key>(&findings_.key->record);
  if (found == nullptr || !holds(*found, moment_.wall)) return answer;
  answer = {.known = identity::KeyDirectory::Known::kOwner,
            .partner = found->partner,
            .plan = found->plan,
            .fingerprint = found->id};
  return answer;
}

PartnerView::Standing PartnerView::complete(identity::Attributes& attributes, policy::CallerRows& rows) {
  findings_.partner = findings_.plan = nullptr;  // of the request before
  if (attributes.has(identity::kPartner)) {
    const partners::Subject subject{Kind::kPartner, std::string(attributes.get(identity::kPartner))};
    findings_.partner = compiled(subject, look(subject));
    rows.known &= findings_.partner != nullptr;
    rows.partner = rows_of(findings_.partner);
  }
  const auto* record =
      findings_.partner == nullptr ? nullptr : std::get_if<partners::PartnerRecord>(&findings_.partner->record);
  if (record != nullptr && !record->partner.enabled) return Standing::kSwitchedOff;
  if (record != nullptr) attributes.set_if_absent(identity::kPlan, record->partner.plan);
  if (!attributes.has(identity::kPlan) || !generation_.policy.needs_rows()) return Standing::kUsual;
  const partners::Subject plan{Kind::kPlan, std::string(attributes.get(identity::kPlan))};
  findings_.plan = compiled(plan, look(plan));
  rows.known &= findings_.plan != nullptr;
  rows.plan = rows_of(findings_.plan);
  return Standing::kUsual;
}

// Null: it is wanted, or cannot be had.
KnownPtr PartnerView::look(const partners::Subject& subject) {
  lookup::Found found = directory_.find(subject, moment_.now);
  const bool is_there = found.freshness == Freshness::kFresh || found.freshness == Freshness::kDue;
  if (is_there) {
    ++known_;
    return std::move(found.known);
  }
  if (lookup::KnownPtr known = moment_.looked_up.find(subject)) {
    ++known_;
    return known;
  }
  if (moment_.looked_up.may_wait()) {
    if (!wanted_) {
      wanted_ = subject;
      outdated_ = std::move(found.known);
    }
    return nullptr;
  }
  ++(found.known == nullptr ? away_ : expired_);
  return std::move(found.known);
}

// With rows that are made for the rules of this generation.
KnownPtr PartnerView::compiled(const partners::Subject& subject, KnownPtr known) {
  if (known == nullptr || known->compiled_for == generation_.number) return known;
  const auto* limits = limits_of(*known);
  if (limits == nullptr || limits->empty()) return known;
  partners::Faults faults;
  auto fresh = std::make_shared<lookup::Known>();
  fresh->record = known->record;
  fresh->compiled_for = generation_.number;
  fresh->rows = generation_.row_compiler.compile(*limits, faults);
  if (known->compiled_for == 0) {  // once for each time that they were read anew
    for (const partners::Fault& fault : faults) log_warn("policies: {}; it is left out", partners::to_text(fault));
  }
  KnownPtr result = std::move(fresh);
  directory_.replace(subject, known, result);
  return result;
}

const policy::RowTable* PartnerView::rows_of(const KnownPtr& known) const {
  const bool has_rows = known != nullptr && known->compiled_for == generation_.number;
  return has_rows ? &known->rows : nullptr;
}

}  // namespace weir::gateway
