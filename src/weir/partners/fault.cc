// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/fault.h"

#include <fmt/format.h>

namespace weir::partners {

std::string to_text(const Fault& fault) {
  if (fault.field.empty()) return fmt::format("{}: {}", fault.row, fault.message);
  return fmt::format("{}: {}: {}", fault.row, fault.field, fault.message);
}

std::string to_text(const Faults& faults) {
  std::string all;
  for (const Fault& fault : faults) all += (all.empty() ? "" : "; ") + to_text(fault);
  return all;
}

}  // namespace weir::partners
