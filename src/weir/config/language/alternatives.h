// SPDX-License-Identifier: Apache-2.0
//
// Key `by` of a limit: other numbers for callers with certain attributes. Its values are rates, with concurrency
// numbers of requests, so they are read when the algorithm is known. Thread safety: immutable after it was made.
#pragma once

#include <vector>

#include "weir/config/config.h"
#include "weir/config/object.h"

namespace weir::config {

class Alternatives {
 public:
  Alternatives();

  // The shape of the key: attribute to value to anything. Reads nothing.
  Type<std::vector<ByRate>> shape() const;

  // Fills limit.by from what `shape` has seen; bursts that are not written become kAbsent. False after a fault was
  // reported, here or by `shape`.
  bool read(Reader& reader, const Fields& fields, Limit& limit) const;

 private:
  const Type<ByRate>& form(const Fields& fields, const Limit& limit, const Node& value) const;

  Type<ByRate> rate_;
  Type<ByRate> places_;
};

}  // namespace weir::config
