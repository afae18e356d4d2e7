// SPDX-License-Identifier: Apache-2.0
//
// API keys and their digests. Thread safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/partners/records.h"

namespace weir::partners {

KeyDigest digest_of(std::string_view clear_key);

// 64 hexadecimal digits, lower case.
std::string hex(const KeyDigest& digest);
// Of hex(): absent for anything else, so that one digest has one text.
std::optional<KeyDigest> parse_hex(std::string_view text);
// What is written for a subject: its name, and for a key, whose name is no text, the digits of its digest.
std::string subject_text(const Subject& subject);
std::optional<Subject> subject_from(Subject::Kind kind, std::string_view text);

// From the operating system's random source: "weir_" and 43 characters (256 bits, base64url).
std::string random_key();
// The same for names of keys: "key_" and 12 characters.
std::string random_key_id();
// 32 hexadecimal digits.
std::string random_id();

}  // namespace weir::partners
