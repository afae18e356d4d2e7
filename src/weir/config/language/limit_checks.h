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
// The keys that go with the algorithm: those that it needs, and those that have no meaning with it.
void check_algorithm(Reader& reader, const Fields& fields, const Limit& limit);
// The days of a calendar against the rates. Requires: `by` could be read.
void check_calendar(Reader& reader, const Fields& fields, const Limit& limit);
// `count`, `refund`, and a cost that the answer tells.
void check_answers(Reader& reader, const Fields& fields, const Limit& limit);
// Fills in the bursts of the limit and of `by` where they come from another number.
void fill_capacities(const Fields& fields, Limit& limit);
// Rates, capacities and costs. Fills in the largest cost where it depends on them. Requires: capacities filled in,
// and `by` could be read.
void check_numbers(Reader& reader, const Fields& fields, Limit& limit);
// `rate: policies`: what belongs to the rows then. Fills in the largest cost. Instead of the three above.
void check_from_policies(Reader& reader, const Fields& fields, Limit& limit);
// The memory of sliding logs, for the whole file. Requires: the store was read.
void warn_of_logs(Reader& reader, const Fields& fields, Config& config);

}  // namespace weir::config
