// SPDX-License-Identifier: Apache-2.0
//
// API keys that are kept elsewhere than in the configuration. A question is answered at once, if only by saying that
// there is no answer yet. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::identity {

class KeyDirectory {
 public:
  enum class Known : std::uint8_t {
    kOwner,
    kNobody,  // no such key, or it does not hold now
    kNotYet,  // it has to be looked up first
    kAway,    // nobody can say
  };
  // Views, until the next request.
  struct Answer {
    Known known = Known::kNobody;
    std::string_view partner;
    std::string_view plan;         // empty: none of its own
    std::string_view fingerprint;  // names the key without telling it
    bool was_owner = false;        // of kNotYet: it was somebody's when it was last looked up
  };

  virtual ~KeyDirectory() = default;
  virtual Answer find(std::string_view key) = 0;
};

}  // namespace weir::identity
