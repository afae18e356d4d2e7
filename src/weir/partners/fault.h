// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a row. Thread safety: plain values.
#pragma once

#include <string>
#include <vector>

namespace weir::partners {

struct Fault {
  std::string row;      // "limit 'partner-service' of partner 'acme'"
  std::string field;    // "rate"; empty: the row as a whole
  std::string message;  // what is wrong with it, and what was probably meant

  bool operator==(const Fault&) const = default;
};

using Faults = std::vector<Fault>;

// One sentence that names the row and the field.
std::string to_text(const Fault& fault);
// All of them, joined by "; ".
std::string to_text(const Faults& faults);

}  // namespace weir::partners
