// SPDX-License-Identifier: Apache-2.0
//
// The database of a configuration for the time of one command, and what commands about it say. Thread safety: one
// thread.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "weir/base/clock.h"
#include "weir/config/config.h"
#include "weir/partners/repository.h"

namespace weir::app {

class PoliciesSession {
 public:
  // Fails with the process's exit code, when what is wrong has been said on standard error.
  static std::expected<std::unique_ptr<PoliciesSession>, int> open(const std::string& file);

  partners::Repository& repository() { return repository_; }
  // Tells the gateways that share a Redis of what was written, so that they need not find out. Whether they hear it
  // is not waited for: they look by themselves, too.
  template <class T>
  partners::Outcome<T> announced(partners::Outcome<T> written) const {
    if (written) announce();
    return written;
  }
  WallTime now() const { return clock_.wall(); }
  const std::string& database() const { return config_.policies->sql.url.text; }

  // Says on standard error why the database, or the repository, refused. Returns the exit code.
  int tell(const partners::Refusal& refusal) const;

 private:
  explicit PoliciesSession(config::Config config);
  void announce() const;

  config::Config config_;
  SystemClock clock_;
  partners::Repository repository_;
};

// Who runs this process, as user@host.
std::string process_author();

}  // namespace weir::app
