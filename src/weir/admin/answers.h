// SPDX-License-Identifier: Apache-2.0
//
// What the admin API answers: JSON, and problem documents (RFC 9457) for what was not done. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "weir/base/result.h"
#include "weir/partners/json.h"
#include "weir/partners/refusal.h"
#include "weir/server/server.h"

namespace weir::admin {

server::Answer json(int status, const partners::Json& body);

// `code`: stable and short. `faults`: what is wrong with rows.
server::Answer problem(int status, std::string_view code, std::string_view detail, const partners::Faults& faults = {});
// `conditional`: the request said which revision it expects.
server::Answer problem(const partners::Refusal& refusal, bool conditional);
server::Answer problem(const Error& error);

}  // namespace weir::admin
