// SPDX-License-Identifier: Apache-2.0
//
// What must hold between the keys of one limit, so that it can act. Each function looks only at keys that could be
// read.
#pragma once

#include "weir/config/config.h"
#include "weir/config/object.h"

namespace weir::config {

void check_name(Reader& reader, const Fields& fields, const Limit& limit);
// `match` against the paths of services.
void check_match(Reader& reader, const Fields& fields, const Limit& limit);
// `per`, `only_if` and `by` against what callers yield.
void check_attributes(Reader& reader, const Fields& fields, const Limit& limit);
// Rates, bursts and costs. Fills in the largest cost where it depends on the burst. Requires: bursts filled in.
void check_numbers(Reader& reader, const Fields& fields, Limit& limit);

}  // namespace weir::config
