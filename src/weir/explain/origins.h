// SPDX-License-Identifier: Apache-2.0
//
// Where what is known of a caller came from, and why something is not known, in words: of whom the gateway asked,
// the first who said it is its origin. No credential is among the words.
// Thread safety: one thread; whatever is given outlives an Origins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/explain/explanation.h"
#include "weir/explain/hearing.h"
#include "weir/explain/secrets.h"

namespace weir::explain {

class Origins {
 public:
  Origins(const Scene& scene, const Secrets& secrets);

  // Of what was found out in the end, all that limits or people may want to know, also what is not there.
  std::vector<AttributeFacts> attributes() const;
  // What was said and counts for nothing.
  std::vector<std::string> notes() const;
  // The entry of `bypass` that lets the request pass.
  std::string bypass() const;
  // Which credential it is that was answered with this code, and what more can be said about it; empty: none.
  std::string blame(std::string_view code) const;

 private:
  std::string text_of(const Testimony& said, std::string_view attribute) const;
  std::string key_text(const config::ApiKeyCaller& caller) const;
  std::string key_trouble(const config::ApiKeyCaller& caller) const;
  std::string absence(const config::PerAttribute& attribute) const;
  std::string absence(const Testimony& said, std::string_view name) const;
  std::string silence(const Testimony& said, std::string_view name) const;
  std::string missing_plan() const;
  const Reading* reading_of(const config::PerAttribute& attribute) const;
  AttributeFacts address(std::string_view value) const;
  AttributeFacts facts(const config::PerAttribute& attribute, std::string_view value) const;
  bool is_wanted(const std::string& name) const;
  bool is_believed(config::TrustedFrom from) const;
  std::string disbelief() const;  // why the peer's fields are not
  identity::Single field(const std::string& name) const;

  const Scene scene_;
  const Secrets& secrets_;
  const config::Config& config_;
  const Hearing hearing_;
};

}  // namespace weir::explain
