// SPDX-License-Identifier: Apache-2.0
//
// The configuration language: one table per section, from which the reader and the JSON Schema are made. To add a
// key, add a line to its section's table (and a member to config.h).
#pragma once

#include <optional>
#include <vector>

#include "weir/config/combine.h"
#include "weir/config/config.h"
#include "weir/config/object.h"
#include "weir/config/type.h"

namespace weir::config {

// language/listeners.cc
Type<std::vector<Listener>> listeners_section();
Type<std::optional<Admin>> admin_section();
// language/upstreams.cc
Type<std::vector<Upstream>> upstreams_section();
// language/services.cc
Type<std::vector<Service>> services_section();
// language/callers.cc
Type<std::vector<Caller>> callers_section();
Type<std::vector<ApiKey>> keys_section();
Type<std::vector<Bypass>> bypass_section();
// Reports a field that another caller reads already. `key`: where its name stands.
void check_identity_field(Reader& reader, const Fields& fields, std::string_view key, const std::string& header);
// language/tokens.cc
Type<JwtCaller> jwt_caller();
Type<std::optional<Guessing>> guessing_section();
// language/limits.cc
Type<std::vector<Limit>> limits_section();
// language/settings.cc
Object<Config> store_section();
Type<Responses> responses_section();
Type<Log> log_section();
Type<Http> http_section();
Type<Shutdown> shutdown_section();
// language/redis.cc
Type<std::optional<Redis>> redis_store();
// Reports what only a shared store would make act. Requires: store and limits were read.
void warn_of_what_cannot_act(Reader& reader, const Fields& fields, Config& config);

// language/policies.cc
Type<std::optional<Policies>> policies_section();

// The whole file.
Type<Config> language();

// The index of a name that another section defines.
Type<std::size_t> reference(const std::string& what, Names Scope::* names);

// `from`: whose word is believed.
Type<TrustedFrom> trusted_from();
// Reports identity fields from trusted proxies where there are none.
void check_trusted(Reader& reader, TrustedFrom from, const Place& place);

}  // namespace weir::config
