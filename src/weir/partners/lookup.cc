// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/lookup.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "weir/partners/change_log.h"
#include "weir/partners/digest.h"
#include "weir/partners/session.h"
#include "weir/partners/tables.h"

namespace weir::partners {
namespace {

// The records of subjects that were asked for, each once.
using Found = std::map<Subject, Record>;

std::vector<std::string> texts_of(std::span<const Subject> subjects, Subject::Kind kind) {
  std::vector<std::string> texts;
  for (const Subject& one : subjects) {
    if (one.kind == kind) texts.push_back(subject_text(one));
  }
  std::ranges::sort(texts);
  const auto rest = std::ranges::unique(texts);
  texts.erase(rest.begin(), rest.end());
  return texts;
}

class LookUp {
 public:
  explicit LookUp(sql::Connection& connection) : tables_(connection) {}

  sql::Result<void> keys(const std::vector<std::string>& digests) {
    return each(RowKind::kKey, "key_sha256", digests, {}, [&](Row&& row) {
      auto& key = std::get<Key>(row);
      const Subject subject = subject_of(key.digest);
      found_[subject] = std::move(key);
    });
  }
  sql::Result<void> partners(const std::vector<std::string>& names) {
    auto done = each(RowKind::kPartner, "name", names, {}, [&](Row&& row) {
      auto& partner = std::get<Partner>(row);
      const Subject subject{Subject::Kind::kPartner, partner.name};
      found_[subject] = PartnerRecord{std::move(partner), {}};
    });
    return done ? limits<PartnerRecord>("partner", names, "AND `plan` = ''") : done;
  }
  sql::Result<void> plans(const std::vector<std::string>& names) {
    auto done = each(RowKind::kPlan, "name", names, {}, [&](Row&& row) {
      auto& plan = std::get<Plan>(row);
      const Subject subject{Subject::Kind::kPlan, plan.name};
      found_[subject] = PlanRecord{std::move(plan), {}};
    });
    return done ? limits<PlanRecord>("plan", names, "AND `partner` = ''") : done;
  }

  Reading reading(std::span<const Subject> subjects, std::int64_t revision) {
    Reading reading{.revision = revision, .records = {}, .faults = std::move(faults_)};
    for (const Subject& subject : subjects) {
      const auto found = found_.find(subject);
      reading.records.push_back(found == found_.end() ? Record() : found->second);
    }
    return reading;
  }

 private:
  template <class Keep>
  sql::Result<void> each(RowKind kind, const std::string& column, const std::vector<std::string>& texts,
                         const std::string& rest, Keep keep) {
    auto rows = tables_.among(kind, column, texts, rest);
    if (!rows) return std::unexpected(std::move(rows.error()));
    for (StoredRow& one : *rows) {
      if (one.row) {
        keep(*std::move(one.row));
      } else {
        std::ranges::move(one.row.error(), std::back_inserter(faults_));
      }
    }
    return {};
  }

  // Limits of nobody are not looked at.
  template <class R>
  sql::Result<void> limits(const std::string& column, const std::vector<std::string>& names,
                           const std::string& rest) {
    return each(RowKind::kLimit, column, names, rest, [&](Row&& row) {
      auto& limit = std::get<LimitRow>(row);
      const auto owner = found_.find(subject_of(limit.owner));
      if (owner != found_.end()) std::get<R>(owner->second).limits.push_back(std::move(limit));
    });
  }

  Tables tables_;
  Found found_;
  Faults faults_;
};

}  // namespace

Outcome<Reading> look_up(sql::Connection& connection, std::span<const Subject> subjects) {
  LookUp look_up(connection);
  const auto revision = ChangeLog(connection).revision();
  if (!revision) return std::unexpected(refusal_of(revision.error()));
  for (const auto& done : {look_up.keys(texts_of(subjects, Subject::Kind::kKey)),
                           look_up.partners(texts_of(subjects, Subject::Kind::kPartner)),
                           look_up.plans(texts_of(subjects, Subject::Kind::kPlan))}) {
    if (!done) return std::unexpected(refusal_of(done.error()));
  }
  return look_up.reading(subjects, *revision);
}

}  // namespace weir::partners
