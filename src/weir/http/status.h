// SPDX-License-Identifier: Apache-2.0
//
// Names of status codes (RFC 9110 section 15, RFC 6585).
#pragma once

#include <string_view>

namespace weir::http {

// "Not Found"; "" for a code without a name here.
std::string_view reason_phrase(int status);

}  // namespace weir::http
