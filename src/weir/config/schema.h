// SPDX-License-Identifier: Apache-2.0
//
// The configuration language as JSON Schema (draft-07), for editors. Generated from the same description of keys
// that the reader uses, so the two cannot differ.
#pragma once

#include <string>

namespace weir::config {

std::string json_schema();

}  // namespace weir::config
