// SPDX-License-Identifier: Apache-2.0
//
// The name of an account as people write it: the values of `per`, joined by commas and escaped as AccountName escapes
// them, or the whole key. Thread safety: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::store {

class AccountText {
 public:
  // Absent: no account can have this name.
  static std::optional<AccountText> read(std::string_view prefix, std::string_view text);

  const std::string& name() const { return name_; }  // the key
  std::size_t values() const { return values_; }
  // limit::Call::phase of the account; absent: of a value only the fingerprint is known.
  std::optional<std::uint64_t> phase() const { return phase_; }
  // The values as requests have them, empty ones absent; absent: likewise.
  const std::optional<std::vector<std::string>>& plain() const { return plain_; }

 private:
  std::string name_;
  std::size_t values_ = 0;
  std::optional<std::uint64_t> phase_;
  std::optional<std::vector<std::string>> plain_;
};

}  // namespace weir::store
