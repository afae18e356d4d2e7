// SPDX-License-Identifier: Apache-2.0
//
// Where what is known of a caller came from. The callers of the configuration are asked one by one, by the same code
// that identifies with all of them: which one was the first to say something, is its origin.
// Thread safety: one thread; whatever is given outlives an Origins.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/config/config.h"
#include "weir/explain/explanation.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/pipeline.h"
#include "weir/http/message.h"
#include "weir/identity/identifier.h"
#include "weir/lookup/directory.h"

namespace weir::explain {

class Origins {
 public:
  struct Scene {
    const gateway::Generation& generation;
    const http::RequestHead& head;
    const identity::Peer& peer;
    gateway::Times times;
    lookup::Directory* directory;  // null: there are no policies
    gateway::KeyRefresher& keys;
  };
  explicit Origins(const Scene& scene);

  // Of what was found out in the end, all that limits or people may want to know, also what is not there.
  std::vector<AttributeFacts> attributes(const identity::Attributes& known) const;
  // What was said and counts for nothing.
  std::vector<std::string> notes() const;
  // The entry of `bypass` that lets the request pass.
  std::string bypass() const;
  // Which credential it is that was answered with this code, and what more can be said about it; empty: none.
  std::string blame(std::string_view code) const;
  // Values of the request that nobody may see.
  const std::vector<std::string>& secrets() const { return secrets_; }

 private:
  // What one caller of the configuration says.
  struct Said {
    const config::Caller* caller;
    bool good = false;
    std::string code;                                         // why it is not
    std::vector<std::pair<std::string, std::string>> values;  // by attribute
  };

  Said ask(const config::Caller& caller) const;
  std::string_view value_of(const Said& said, std::string_view name) const;
  std::string text_of(const Said& said, std::string_view attribute) const;
  std::string key_text(const config::ApiKeyCaller& caller) const;
  std::string key_trouble(const config::ApiKeyCaller& caller) const;
  std::string absence(const std::string& name) const;
  std::string absence(const Said& said, std::string_view name) const;
  AttributeFacts address(std::string_view value) const;
  AttributeFacts facts(const config::PerAttribute& attribute, std::string_view value) const;
  bool is_wanted(const std::string& name) const;
  bool is_believed(config::TrustedFrom from) const;
  std::string disbelief() const;  // why the peer's fields are not
  std::string_view field(const std::string& name) const;
  void keep_secrets();

  Scene scene_;
  const config::Config& config_;
  std::vector<Said> said_;
  std::vector<std::string> secrets_;
};

}  // namespace weir::explain
