// SPDX-License-Identifier: Apache-2.0
//
// Who guesses credentials is held off before guessing costs anything: whoever has to look at a credential that is not
// known to be good asks the gate first, and tells it when the credential was wrong.
// Thread safety: as the gate.
#pragma once

#include <chrono>
#include <string_view>

#include "weir/identity/refusal.h"

namespace weir::identity {

class Gate {
 public:
  virtual ~Gate() = default;
  // How long the address has to wait before a credential of it is looked at; 0: not at all.
  virtual std::chrono::nanoseconds wait(std::string_view address) = 0;
  // A credential of the address was wrong.
  virtual void charge(std::string_view address) = 0;
};

// The sender of a request, as the gate knows it. Without a gate, and without an address (a Unix socket), nobody is
// held off.
struct Suspect {
  Gate* gate = nullptr;
  std::string_view address;

  bool is_held_off() const { return gate != nullptr && gate->wait(address).count() > 0; }
  Fault failed(Fault fault) const {
    if (gate != nullptr) gate->charge(address);
    return fault;
  }
};

}  // namespace weir::identity
