// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/records.h"

namespace weir::partners {

Subject subject_of(const KeyDigest& digest) {
  return {Subject::Kind::kKey, std::string(digest.begin(), digest.end())};
}

Subject subject_of(const Owner& owner) {
  return {owner.kind == OwnerKind::kPartner ? Subject::Kind::kPartner : Subject::Kind::kPlan, owner.name};
}

}  // namespace weir::partners
