// SPDX-License-Identifier: Apache-2.0
//
// What each caller of the configuration says about a request, and each field by which a limit counts, one by one by
// the code that identifies with all of them; and where that code stops, because something is refused.
// Thread safety: one thread; whatever is given outlives a Hearing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/config/config.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/pipeline.h"
#include "weir/gateway/scratch.h"
#include "weir/http/message.h"
#include "weir/identity/identifier.h"
#include "weir/lookup/directory.h"

namespace weir::explain {

// A request that was judged.
struct Scene {
  const gateway::Generation& generation;
  const http::RequestHead& head;
  const identity::Peer& peer;
  gateway::Times times;
  lookup::Directory* directory;  // null: there are no policies
  const gateway::LookedUp& looked_up;
  gateway::KeyRefresher& keys;
  const gateway::Scratch& scratch;  // what was found out in the end
};

// What was said.
struct Answer {
  bool good = false;
  std::string code;                                         // why it is not
  std::vector<std::pair<std::string, std::string>> values;  // by attribute

  std::string_view value_of(std::string_view attribute) const;
};

// Of one entry of `identify`.
struct Testimony : Answer {
  const config::Caller* caller;
  bool asked = true;          // false: something before it is refused already
  bool other_issuer = false;  // its token is good, and another entry's
};

// Of `header:`, `query:` and `cookie:`.
struct Reading : Answer {
  const config::PerAttribute* attribute;
  bool asked = true;
};

bool is_of_request(const config::PerAttribute& attribute);
std::string header_of(const config::Caller& caller);
// The claim that becomes an attribute; empty: none does.
std::string claim_of(const config::JwtCaller& caller, std::string_view attribute);
bool yields(const config::Caller& caller, std::string_view attribute);

class Hearing {
 public:
  explicit Hearing(const Scene& scene);

  const std::vector<Testimony>& callers() const { return callers_; }
  const std::vector<Reading>& readings() const { return readings_; }
  // The entry of `bypass` that lets the request pass.
  std::optional<std::size_t> bypass() const;

 private:
  Answer ask(const config::Config& one) const;
  Testimony hear(const config::Caller& caller) const;
  std::vector<config::Caller> group_of(const config::Caller& caller) const;
  std::size_t place_of(std::size_t index) const;
  bool stop_callers();
  void read_attributes(bool stopped);

  const Scene scene_;
  const config::Config& config_;
  std::vector<Testimony> callers_;
  std::vector<Reading> readings_;
};

}  // namespace weir::explain
