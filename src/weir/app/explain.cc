// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "weir/app/commands.h"
#include "weir/app/redis_counters.h"
#include "weir/base/log.h"
#include "weir/config/load.h"
#include "weir/explain/explainer.h"
#include "weir/explain/gateway_counters.h"
#include "weir/explain/printable.h"

namespace weir::app {
namespace {

std::unique_ptr<explain::Counters> counters_of(const config::Config& config) {
  if (config.redis) return std::make_unique<RedisCounters>(*config.redis);
  return std::make_unique<explain::GatewayCounters>(config.admin);
}

}  // namespace

int explain_request(const std::string& file, const explain::RequestWords& words, bool json) {
  set_log_level(LogLevel::kWarn);
  auto loaded = config::load_file(file, environment_variable);
  for (const config::Diagnostic& one : loaded ? loaded->warnings : loaded.error()) {
    std::fputs(config::to_text(one).c_str(), stderr);
  }
  if (!loaded) return kUnusableConfiguration;
  const SystemClock clock;
  const auto counters = counters_of(loaded->config);
  const auto explanation = explain::explain(loaded->config, words, clock, *counters);
  if (!explanation) {
    std::fprintf(stderr, "%s\n", explain::printable(explanation.error().message).c_str());
    return explanation.error().kind == ErrorKind::kInvalid ? kWrongUsage : kFailed;
  }
  std::fputs((json ? to_json(*explanation) : to_text(*explanation)).c_str(), stdout);
  return kDone;
}

}  // namespace weir::app
