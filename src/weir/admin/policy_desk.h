// SPDX-License-Identifier: Apache-2.0
//
// The database of policies as the admin API reaches it: on a thread of its own, since it blocks. Rows are checked with
// the configuration that is in force; gateways are told of what was written. Thread safety: the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "weir/admin/answers.h"
#include "weir/admin/desk.h"
#include "weir/admin/operations.h"
#include "weir/base/clock.h"
#include "weir/config/config.h"
#include "weir/partners/repository.h"

namespace weir::admin {

class PolicyDesk {
 public:
  struct Sources {
    partners::Session::Open open;
    // In force: on any thread.
    std::function<std::shared_ptr<const config::Config>()> config;
    // Something was written.
    std::function<void()> changed;
  };

  PolicyDesk(io::EventLoop& loop, Sources sources, const Clock& clock)
      : sources_(std::move(sources)), repository_({.open = sources_.open, .scopes = {}}, clock), desk_(loop) {}

  // `work` asks or changes the repository, and returns an Outcome. kUnavailable when too many wait already.
  template <class Work>
  io::Task<std::invoke_result_t<Work, partners::Repository&>> run(Work work) {
    using Result = std::invoke_result_t<Work, partners::Repository&>;
    if (desk_.is_busy()) {
      co_return Result(partners::refuse(partners::Refusal::Kind::kUnavailable, "too many others wait for the database"));
    }
    auto with_scopes = [&] {
      repository_.fit(partners::scopes_of(*sources_.config()));
      return work(repository_);
    };
    auto running = desk_.run(with_scopes);
    co_return co_await running;
  }
  // The same for changes, which are told to gateways and in the log.
  template <class Work>
  io::Task<std::invoke_result_t<Work, partners::Repository&>> write(const Question& question, Work work) {
    auto running = run(work);
    auto written = co_await running;
    if (written && !question.is_set("dry_run")) sources_.changed();
    co_return written;
  }

  void shut() { desk_.shut(); }

 private:
  const Sources sources_;
  partners::Repository repository_;  // on the desk's thread
  Desk desk_;
};

partners::WriteOptions options_of(const Question& question);
// What a change did, or would do.
partners::Json json_of(const partners::Applied& applied, const Question& question);

}  // namespace weir::admin
