// SPDX-License-Identifier: Apache-2.0
//
// One configuration in force: compiled once, immutable, shared by all workers, swapped whole. A request lives in
// the generation in which it began. Thread safety: Generation is immutable; WorkerGeneration belongs to one worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "weir/config/config.h"
#include "weir/gateway/guess_gate.h"
#include "weir/gateway/key_refresher.h"
#include "weir/gateway/metrics.h"
#include "weir/gateway/rate_limit_fields.h"
#include "weir/gateway/upstream.h"
#include "weir/http/parser.h"
#include "weir/identity/identifier.h"
#include "weir/policy/policy.h"
#include "weir/policy/row_compiler.h"
#include "weir/route/router.h"
#include "weir/store/memory/memory_store.h"

namespace weir::gateway {

// What outlives all generations.
struct Foundations {
  policy::RowNumbersShelf& row_numbers;
  store::MemoryStore& store;
  Resolver& resolver;
  KeyRefresher& keys;
};

struct Generation {
  // `previous`: the generation that it replaces, or null.
  Generation(config::Config configuration, const Generation* previous, const Foundations& under);

  config::Config config;
  std::uint64_t number;
  http::RequestRules rules;
  route::Router router;
  identity::Identifier identifier;
  std::optional<Guesses> guesses;  // absent: nobody is held off
  policy::Policy policy;
  policy::RowCompiler row_compiler;
  RateLimitFields fields;
  std::vector<std::shared_ptr<SharedUpstream>> upstreams;  // as in Config::upstreams
};

// A generation with what one worker adds to it: its connections, its counters, and the tokens that it has seen.
struct WorkerGeneration {
  WorkerGeneration(std::shared_ptr<const Generation> shared_generation, UpstreamHosts& hosts, WorkerMetrics& metrics);

  std::shared_ptr<const Generation> shared;
  std::unique_ptr<identity::Memory> memory;        // not null
  std::vector<Upstream> upstreams;                 // as in Config::upstreams
  std::vector<ServiceCounters*> service_counters;  // as in Config::services
  std::vector<LimitCounters*> limit_counters;      // by LimitIndex
  ServiceCounters* no_service = nullptr;           // requests that no service took
};

}  // namespace weir::gateway
