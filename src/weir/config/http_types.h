// SPDX-License-Identifier: Apache-2.0
//
// The scalars that speak of requests: hosts, paths, endpoint patterns, header fields, attributes.
#pragma once

#include <string>
#include <string_view>

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

// A host of a service in lower case, without the trailing dot.
Parsed<std::string> parse_host(std::string_view text);
Type<std::string> host();

// A prefix by whole segments, without a trailing '/'.
Parsed<std::string> parse_path_prefix(std::string_view text);
Type<std::string> path_prefix();

// METHOD /path/{segment}/*
Parsed<EndpointPattern> parse_endpoint_pattern(std::string_view text);
Type<EndpointPattern> endpoint_pattern();

// The name of a header field, RFC 9110 section 5.1.
Parsed<std::string> parse_header_name(std::string_view text);
Type<std::string> header_name();
// One of an answer: upstreams may use '_', which is refused in requests.
Type<std::string> response_header_name();
// One that may say who the caller is: not one that frames or routes the message.
Type<std::string> identity_header_name();

// The name of an attribute.
Parsed<std::string> parse_attribute(std::string_view text);
Type<std::string> attribute();

// A claim of a token: its whole name, or a path of names with dots between them.
Parsed<std::string> parse_claim(std::string_view text);
Type<std::string> claim();

// An attribute, or header:NAME, query:NAME, cookie:NAME, claim:NAME.
Parsed<PerAttribute> parse_per(std::string_view text);
Type<PerAttribute> per_attribute();

std::string lower_case(std::string_view text);

}  // namespace weir::config
