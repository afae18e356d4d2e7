// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/refusal.h"

namespace weir::partners {

std::unexpected<Refusal> refuse(Faults faults) {
  std::string message = to_text(faults);
  return std::unexpected(Refusal{Refusal::Kind::kWrong, std::move(message), std::move(faults)});
}

}  // namespace weir::partners
