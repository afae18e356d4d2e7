// SPDX-License-Identifier: Apache-2.0
//
// What commands about policies print on standard output.
#pragma once

#include <string>
#include <vector>

#include "weir/app/policies_arguments.h"
#include "weir/partners/editor.h"
#include "weir/partners/json.h"
#include "weir/partners/repository.h"

namespace weir::app {

void print(const partners::Json& json);

// Each change with the row before and after it.
void print_changes(const partners::Applied& applied, const PoliciesArguments& arguments);
partners::Json changes_json(const partners::Applied& applied, const PoliciesArguments& arguments);
// One line: the fields that are set.
std::string row_line(const partners::Row& row);
// Rows that cannot be used, on standard error.
void tell_faults(const partners::Faults& faults);

partners::WriteOptions write_options(const PoliciesArguments& arguments);

}  // namespace weir::app
