// SPDX-License-Identifier: Apache-2.0
//
// What a client of Redis counts. Thread safety: counting on the loop's thread, reading from any.
#pragma once

#include "weir/base/counter.h"

namespace weir::redis {

struct Counters {
  OwnedCounter commands;        // sent
  OwnedCounter writes;          // in so many batches
  OwnedCounter connects;        // attempts
  OwnedCounter timeouts;        // of commands
  OwnedCounter unavailable;     // commands that failed without being sent, or with their connection
  OwnedCounter errors;          // answers that were errors, but for redirections and scripts that are not loaded
  OwnedCounter scripts_loaded;  // because a server did not know them
  OwnedCounter moved;
  OwnedCounter asked;
  OwnedCounter tried_again;
  OwnedCounter topologies;          // looked at
  OwnedCounter opened;              // breakers
  OwnedCounter nodes;               // known now
  OwnedCounter open_nodes;          // of those, whose breaker is open
  OwnedCounter subscriptions;       // wanted now
  OwnedCounter live_subscriptions;  // of those, that hear what is published
  OwnedCounter messages;            // heard
};

}  // namespace weir::redis
