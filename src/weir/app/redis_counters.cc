// SPDX-License-Identifier: Apache-2.0
#include "weir/app/redis_counters.h"

#include <fmt/format.h>

#include "weir/app/store_session.h"

namespace weir::app {
namespace {

using Told = std::vector<std::vector<store::Foreseen>>;

io::Task<Result<Told>> ask(store::AccountInspector& inspector, std::span<const explain::AccountQuestion> questions,
                           limit::Call call) {
  Told all;
  for (const explain::AccountQuestion& question : questions) {
    call.phase = question.account.phase;
    const store::RedisStore::Account account{**question.account.shared, question.name};
    Result<std::vector<store::Foreseen>> told = co_await inspector.foresee(account, question.charges, call);
    if (!told) co_return std::unexpected(told.error());
    all.push_back(std::move(*told));
  }
  co_return all;
}

}  // namespace

Result<Told> RedisCounters::look(std::span<const explain::AccountQuestion> questions, limit::Ticks wall) {
  auto session = StoreSession::open(redis_);
  if (!session) return std::unexpected(session.error());
  return (*session)->wait(ask((*session)->inspector(), questions, {.now = 0, .wall = wall}));
}

explain::SourceFacts RedisCounters::source(const Error* failure) const {
  const std::string servers = servers_text(redis_);
  if (failure == nullptr) return {"redis", "as Redis at " + servers + " has them"};
  return {"none", fmt::format("the store at {}: {}; the answer is that of a gateway which cannot reach it either "
                              "(on_store_failure)",
                              servers, failure->message)};
}

}  // namespace weir::app
