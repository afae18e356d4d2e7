// SPDX-License-Identifier: Apache-2.0
//
// For tests: configurations written in a few lines, and requests taken through route, identify and charge.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/identity/testing/parsed_request.h"
#include "weir/policy/policy.h"

namespace weir::policy::testing {

inline config::PerAttribute attribute(std::string name) {
  return {config::PerAttribute::Source::kAttribute, std::move(name)};
}

inline config::EndpointPattern pattern(const std::string& text) {
  const std::size_t space = text.find(' ');
  return {text.substr(0, space), text.substr(space + 1), text};
}

// A token bucket of `count` per minute, burst the same.
inline config::Limit limit(std::string name, const std::vector<std::string>& per, std::int64_t count,
                           const std::vector<std::string>& match = {}) {
  config::Limit made;
  made.name = std::move(name);
  for (const std::string& text : per) made.per.push_back(attribute(text));
  for (const std::string& text : match) made.match.push_back(pattern(text));
  made.rate = config::Rate{count, std::chrono::minutes(1)};
  made.burst = count;
  return made;
}

// Two services, callers that anybody may claim to be, no limits.
inline config::Config services() {
  config::Config config;
  config.services = {{.name = "SAUCE", .upstream = 0, .hosts = {}, .paths = {"/"}, .max_body = {}},
                     {.name = "SHOP", .upstream = 0, .hosts = {}, .paths = {"/shop"}, .max_body = {}}};
  for (const auto* name : {"partner", "user", "plan", "role"}) {
    config.callers.push_back(config::HeaderCaller{std::string("X-") + name, name, config::TrustedFrom::kAnyone});
  }
  return config;
}

inline config::Config with_limits(std::vector<config::Limit> limits) {
  config::Config config = services();
  config.limits = std::move(limits);
  return config;
}

// One generation of a configuration; `store` may outlive it.
class Scene {
 public:
  // `shelf`: where several scenes with one store keep the numbers of rows.
  Scene(const config::Config& config, store::MemoryStore& store, RowNumbersShelf* shelf = nullptr)
      : config_(config),
        router_(config),
        identifier_(config),
        policy_(config, router_, identifier_.names(), store, shelf != nullptr ? *shelf : shelf_) {}

  // `start`: method and target, `fields`: lines. The charges stay until the next call.
  const Charges& charge(std::string_view start, const std::vector<std::string>& fields = {}) {
    const http::RequestHead& head = arrive(start, fields);
    policy_.charge(route_, head, caller_, charges_, rows);
    return charges_;
  }
  std::vector<Finding> explain(std::string_view start, const std::vector<std::string>& fields = {}) {
    const http::RequestHead& head = arrive(start, fields);
    return policy_.explain(route_, head, caller_, rows);
  }

  CallerRows rows;  // of the caller, from now on

  const Policy& policy() const { return policy_; }
  std::string_view name(LimitIndex index) const { return policy_.limits()[index].name; }

 private:
  const http::RequestHead& arrive(std::string_view start, const std::vector<std::string>& fields) {
    request_.emplace(start, fields);
    const http::RequestHead& head = request_->head();
    if (router_.find(head.host, head.path, head.method, route_) != route::RouteStatus::kFound) {
      throw std::invalid_argument("no route");
    }
    identity::Refusal why;
    if (identifier_.identify({head, peer_, WallTime{}, memory_}, caller_, why) != identity::Identified::kYes) {
      throw std::invalid_argument(std::string(why.code));
    }
    caller_.attributes.set(identity::kService, config_.services[route_.service].name);
    if (route_.endpoint != route::Route::kNoEndpoint) {
      caller_.attributes.set(identity::kEndpoint, router_.patterns()[route_.endpoint].text);
    }
    caller_.attributes.set(identity::kMethod, head.method);
    return head;
  }

  config::Config config_;
  route::Router router_;
  identity::Identifier identifier_;
  identity::Counters counters_;
  identity::Memory memory_ = identifier_.make_memory(counters_);
  RowNumbersShelf shelf_;
  Policy policy_;
  identity::Peer peer_ = identifier_.peer(IpAddress::parse("198.51.100.4"));
  std::optional<identity::testing::ParsedRequest> request_;
  route::Route route_;
  identity::Caller caller_;
  Charges charges_;
};

}  // namespace weir::policy::testing
