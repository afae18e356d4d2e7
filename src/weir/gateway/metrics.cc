// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/metrics.h"

#include <algorithm>

namespace weir::gateway {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void Histogram::observe(std::chrono::nanoseconds value) {
  const double seconds = static_cast<double>(value.count()) * 1e-9;
  const auto bucket = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
  buckets_[static_cast<std::size_t>(bucket)].add();
  sum_ns_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0)));
}

void Histogram::add_to(ClientMetric::Histogram& sum) const {
  sum.bucket.resize(buckets_.size());
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    cumulative += buckets_[i].value();
    sum.bucket[i].upper_bound = i < kBounds.size() ? kBounds[i] : std::numeric_limits<double>::infinity();
    sum.bucket[i].cumulative_count += cumulative;
  }
  sum.sample_count += cumulative;
  sum.sample_sum += static_cast<double>(sum_ns_.value()) * 1e-9;
}

ServiceCounters::~ServiceCounters() {
  for (auto& code : codes_) delete code.load(std::memory_order_relaxed);
}

void ServiceCounters::record(int status, std::chrono::nanoseconds duration) {
  auto& slot = codes_[static_cast<std::size_t>(std::clamp(status - kFirst, 0, kCodes - 1))];
  Histogram* histogram = slot.load(std::memory_order_relaxed);
  if (histogram == nullptr) {
    histogram = new Histogram;
    slot.store(histogram, std::memory_order_release);
  }
  histogram->observe(duration);
}

const Histogram* ServiceCounters::of_code(int status) const {
  return codes_[static_cast<std::size_t>(status - kFirst)].load(std::memory_order_acquire);
}

template <class T>
T& WorkerMetrics::find(ByName<T>& map, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  const auto found = map.find(name);
  if (found != map.end()) return *found->second;
  return *map.emplace(name, std::make_unique<T>()).first->second;
}

ServiceCounters& WorkerMetrics::service(std::string_view name) {
  return find(services_, name.empty() ? "none" : name);
}
LimitCounters& WorkerMetrics::limit(std::string_view name) { return find(limits_, name); }
UpstreamCounters& WorkerMetrics::upstream(std::string_view name) { return find(upstreams_, name); }
OwnedCounter& WorkerMetrics::rejected(std::string_view code) { return find(rejected_, code); }

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

ClientMetric labelled(const Labels& labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  return metric;
}

// A family whose samples are summed by their labels.
class Family {
 public:
  Family(std::string name, std::string help, MetricType type)
      : name_(std::move(name)), help_(std::move(help)), type_(type) {}

  void add(const Labels& labels, double value) { sums_[labels] += value; }
  void add(const Labels& labels, const Histogram& histogram) { histogram.add_to(histograms_[labels]); }

  void append_to(std::vector<MetricFamily>& out) const {
    MetricFamily family{name_, help_, type_, {}};
    for (const auto& [labels, value] : sums_) {
      ClientMetric metric = labelled(labels);
      (type_ == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
      family.metric.push_back(std::move(metric));
    }
    for (const auto& [labels, histogram] : histograms_) {
      ClientMetric metric = labelled(labels);
      metric.histogram = histogram;
      family.metric.push_back(std::move(metric));
    }
    if (!family.metric.empty()) out.push_back(std::move(family));
  }

 private:
  std::string name_;
  std::string help_;
  MetricType type_;
  std::map<Labels, double> sums_;
  std::map<Labels, ClientMetric::Histogram> histograms_;
};

double number(const OwnedCounter& counter) { return static_cast<double>(counter.value()); }

}  // namespace

class MetricsReport {
 public:
  void add(const WorkerMetrics& worker) {
    const std::scoped_lock lock(worker.mutex_);
    for (const auto& [name, service] : worker.services_) add_service(name, *service);
    for (const auto& [name, limit] : worker.limits_) add_limit(name, *limit);
    for (const auto& [name, upstream] : worker.upstreams_) add_upstream(name, *upstream);
    for (const auto& [code, count] : worker.rejected_) rejected_.add({{"reason", code}}, number(*count));
    connections_.add({{"side", "client"}}, number(worker.client_connections));
    connections_.add({{"side", "upstream"}}, number(worker.upstream_connections));
    accepted_.add({}, number(worker.accepted_connections));
    aborted_.add({}, number(worker.aborted_by_client));
    lost_leases_.add({}, number(worker.lost_leases));
    waiting_.add({}, number(worker.waiting));
    bytes_.add({{"direction", "received"}}, number(worker.bytes_received));
    bytes_.add({{"direction", "sent"}}, number(worker.bytes_sent));
    decision_seconds_.add({{"op", "acquire"}, {"store", "memory"}}, worker.memory_decisions);
    decision_seconds_.add({{"op", "acquire"}, {"store", "redis"}}, worker.shared_decisions);
    const identity::Counters& credentials = worker.credentials;
    credentials_.add({{"result", "remembered"}}, number(credentials.remembered));
    credentials_.add({{"result", "verified"}}, number(credentials.verified));
    credentials_.add({{"result", "refused"}}, number(credentials.refused));
    credentials_.add({{"result", "refused_again"}}, number(credentials.again));
    credentials_.add({{"result", "held_off"}}, number(credentials.held_off));
    lookups_.add({{"result", "known"}}, number(worker.lookups.known));
    lookups_.add({{"result", "expired"}}, number(worker.lookups.expired));
    lookups_.add({{"result", "wanted"}}, number(worker.lookups.wanted));
    lookups_.add({{"result", "away"}}, number(worker.lookups.away));
    for (std::size_t how = 0; how < decide::kReachedWords.size(); ++how) {
      reached_.add({{"how", std::string(decide::kReachedWords[how])}}, number(worker.reached_[how]));
    }
  }

  void add(const SharedStoreAccess& shared) {
    const redis::Counters& redis = shared.counters;
    const store::Bundles::Counters& ahead = shared.store.ahead();
    ahead_.add({{"what", "taken"}}, number(ahead.taken));
    ahead_.add({{"what", "spent"}}, number(ahead.spent));
    ahead_.add({{"what", "returned"}}, number(ahead.returned));
    ahead_.add({{"what", "lost"}}, number(ahead.lost));
    redis_commands_.add({}, number(redis.commands));
    redis_writes_.add({}, number(redis.writes));
    redis_connects_.add({}, number(redis.connects));
    redis_failures_.add({{"kind", "timeout"}}, number(redis.timeouts));
    redis_failures_.add({{"kind", "unavailable"}}, number(redis.unavailable));
    redis_failures_.add({{"kind", "error"}}, number(redis.errors));
    redis_scripts_.add({}, number(redis.scripts_loaded));
    redis_redirections_.add({{"kind", "moved"}}, number(redis.moved));
    redis_redirections_.add({{"kind", "ask"}}, number(redis.asked));
    redis_redirections_.add({{"kind", "tryagain"}}, number(redis.tried_again));
    redis_topologies_.add({}, number(redis.topologies));
    redis_opened_.add({}, number(redis.opened));
    redis_breakers_.add({{"state", "open"}}, number(redis.open_nodes));
    redis_breakers_.add({{"state", "closed"}}, number(redis.nodes) - number(redis.open_nodes));
    redis_subscriptions_.add({{"state", "live"}}, number(redis.live_subscriptions));
    redis_subscriptions_.add({{"state", "lost"}}, number(redis.subscriptions) - number(redis.live_subscriptions));
    redis_messages_.add({}, number(redis.messages));
    lost_amendments_.add({}, number(shared.shared.lost_amendments));
    lost_leases_.add({}, number(shared.shared.lost_leases));
    any_shared_ = true;
    all_up_ &= redis.open_nodes.value() == 0;
  }

  void add(const ProcessFigures& process) {
    keys_.add({{"store", "memory"}}, static_cast<double>(process.accounts));
    store_bytes_.add({{"store", "memory"}}, static_cast<double>(process.account_bytes));
    evictions_.add({{"store", "memory"}}, static_cast<double>(process.evictions));
    store_up_.add({{"store", "memory"}}, 1);
    if (any_shared_) store_up_.add({{"store", "redis"}}, all_up_ ? 1 : 0);
    reloads_.add({{"result", "success"}}, static_cast<double>(process.reloads_done));
    reloads_.add({{"result", "failure"}}, static_cast<double>(process.reloads_failed));
    last_reload_.add({}, process.last_reload_seconds);
    build_.add({{"version", process.version}}, 1);
    log_lines_.add({{"result", "written"}}, static_cast<double>(process.access_log_written));
    log_lines_.add({{"result", "dropped"}}, static_cast<double>(process.access_log_dropped));
    for (const KeyRefresher::Figures& keys : process.keys) add_keys(keys);
    if (process.policies) add_policies(*process.policies);
  }

  std::vector<MetricFamily> families() const {
    std::vector<MetricFamily> out;
    for (const Family* family : {&requests_,
                                 &duration_,
                                 &decisions_,
                                 &delayed_,
                                 &decision_seconds_,
                                 &rejected_,
                                 &connections_,
                                 &accepted_,
                                 &aborted_,
                                 &bytes_,
                                 &upstream_,
                                 &keys_,
                                 &store_bytes_,
                                 &evictions_,
                                 &store_up_,
                                 &waiting_,
                                 &reloads_,
                                 &last_reload_,
                                 &build_,
                                 &log_lines_,
                                 &reached_,
                                 &lost_leases_,
                                 &lost_amendments_,
                                 &ahead_,
                                 &redis_commands_,
                                 &redis_writes_,
                                 &redis_connects_,
                                 &redis_failures_,
                                 &redis_scripts_,
                                 &redis_redirections_,
                                 &redis_topologies_,
                                 &redis_opened_,
                                 &redis_breakers_,
                                 &redis_subscriptions_,
                                 &redis_messages_,
                                 &credentials_,
                                 &key_refreshes_,
                                 &key_age_,
                                 &key_counts_,
                                 &lookups_,
                                 &policy_reads_,
                                 &policy_failures_,
                                 &policy_records_,
                                 &policy_evictions_,
                                 &policy_revision_,
                                 &policy_up_}) {
      family->append_to(out);
    }
    return out;
  }

 private:
  void add_service(const std::string& name, const ServiceCounters& service) {
    for (int code = 100; code < 1000; ++code) {
      const Histogram* histogram = service.of_code(code);
      if (histogram == nullptr) continue;
      const Labels labels{{"code", std::to_string(code)}, {"route", name}};
      ClientMetric::Histogram sum;
      histogram->add_to(sum);
      requests_.add(labels, static_cast<double>(sum.sample_count));
      duration_.add(labels, *histogram);
    }
  }

  void add_keys(const KeyRefresher::Figures& keys) {
    key_refreshes_.add({{"result", "success"}, {"url", keys.url}}, static_cast<double>(keys.successes));
    key_refreshes_.add({{"result", "failure"}, {"url", keys.url}}, static_cast<double>(keys.failures));
    key_counts_.add({{"url", keys.url}}, static_cast<double>(keys.keys));
    if (keys.age) key_age_.add({{"url", keys.url}}, static_cast<double>(keys.age->count()) * 1e-9);
  }

  void add_policies(const lookup::Directory::Stats& policies) {
    policy_reads_.add({{"from", "redis"}}, static_cast<double>(policies.shared_hits));
    policy_reads_.add({{"from", "sql"}}, static_cast<double>(policies.queries));
    policy_failures_.add({}, static_cast<double>(policies.failures));
    policy_records_.add({}, static_cast<double>(policies.entries));
    policy_evictions_.add({}, static_cast<double>(policies.evictions));
    policy_revision_.add({}, static_cast<double>(policies.revision));
    policy_up_.add({}, policies.up ? 1 : 0);
  }

  void add_limit(const std::string& name, const LimitCounters& limit) {
    const auto add = [&](const char* result, const OwnedCounter& counter) {
      decisions_.add({{"limit", name}, {"result", result}}, number(counter));
    };
    add("admitted", limit.admitted);
    add("refused", limit.refused);
    add("never", limit.never);
    delayed_.add({{"limit", name}}, number(limit.delayed));
    add("shadow_refused", limit.shadow_refused);
    add("skipped", limit.skipped);
  }

  void add_upstream(const std::string& name, const UpstreamCounters& upstream) {
    const auto add = [&](const char* event, const OwnedCounter& counter) {
      upstream_.add({{"event", event}, {"upstream", name}}, number(counter));
    };
    add("connect", upstream.connects);
    add("connect_failure", upstream.connect_failures);
    add("closed", upstream.closed);
    add("broken_answer", upstream.broken_answers);
    add("timeout", upstream.timeouts);
    add("retry", upstream.retries);
    add("overloaded", upstream.overloaded);
  }

  static constexpr auto kCounter = MetricType::Counter;
  static constexpr auto kGauge = MetricType::Gauge;
  Family requests_{"weir_requests_total", "Requests answered, by service and status code.", kCounter};
  Family duration_{"weir_request_duration_seconds", "Time from a request's head to the end of its answer.",
                   MetricType::Histogram};
  Family decisions_{"weir_decisions_total", "What each limit said about requests that it applied to.", kCounter};
  Family delayed_{"weir_delayed_requests_total", "Admitted requests that had to wait in line.", kCounter};
  Family decision_seconds_{"weir_decision_duration_seconds", "Time of a decision in the store (one in 64 is timed).",
                           MetricType::Histogram};
  Family rejected_{"weir_rejected_messages_total", "Messages refused because they break HTTP.", kCounter};
  Family connections_{"weir_connections", "Connections open now.", kGauge};
  Family accepted_{"weir_accepted_connections_total", "Client connections accepted.", kCounter};
  Family aborted_{"weir_client_aborts_total", "Requests whose client went away before the answer.", kCounter};
  Family bytes_{"weir_client_bytes_total", "Bytes of request bodies received and of answers sent.", kCounter};
  Family upstream_{"weir_upstream_events_total", "What happened between the gateway and its upstreams.", kCounter};
  Family keys_{"weir_keys", "Accounts that the store holds.", kGauge};
  Family store_bytes_{"weir_store_bytes", "Memory of the store's tables.", kGauge};
  Family evictions_{"weir_evictions_total", "Accounts dropped before they were full again.", kCounter};
  Family store_up_{"weir_store_up", "1 while the store answers.", kGauge};
  Family lost_leases_{"weir_lost_leases_total", "Leases that had run out when they were to be renewed.", kCounter};
  Family waiting_{"weir_waiting_requests", "Requests that wait in line now.", kGauge};
  Family reloads_{"weir_config_reloads_total", "Reloads of the configuration.", kCounter};
  Family last_reload_{"weir_config_last_success_timestamp_seconds", "When a configuration was last put in force.",
                      kGauge};
  Family build_{"weir_build_info", "Always 1; the label tells the version.", kGauge};
  Family log_lines_{"weir_access_log_lines_total", "Lines of the access log.", kCounter};
  Family reached_{"weir_decisions_reached_total", "Decisions, by how they were reached.", kCounter};
  Family lost_amendments_{"weir_lost_amendments_total",
                          "Settlements, give-backs and renewals of which the shared store sent no answer.", kCounter};
  Family ahead_{"weir_requests_ahead_total",
                "Requests whose charges a gateway took from Redis in advance, and what has become of them.",
                kCounter};
  Family redis_commands_{"weir_redis_commands_total", "Commands sent to Redis.", kCounter};
  Family redis_writes_{"weir_redis_writes_total", "Batches in which they were sent.", kCounter};
  Family redis_connects_{"weir_redis_connects_total", "Attempts to connect to a Redis server.", kCounter};
  Family redis_failures_{"weir_redis_failures_total", "Commands that were not answered, or with an error.", kCounter};
  Family redis_scripts_{"weir_redis_script_loads_total", "Scripts sent because a server did not know them.",
                        kCounter};
  Family redis_redirections_{"weir_redis_redirections_total", "Redirections by a cluster's nodes.", kCounter};
  Family redis_topologies_{"weir_redis_topology_looks_total", "Looks at the topology of the cluster.", kCounter};
  Family redis_opened_{"weir_redis_breaker_opened_total", "Times that a server was left alone from then on.",
                       kCounter};
  Family redis_breakers_{"weir_redis_breakers", "Servers by the state of their breaker, of all workers.", kGauge};
  Family redis_subscriptions_{"weir_redis_subscriptions", "Subscriptions to what others give back, of all workers.",
                              kGauge};
  Family redis_messages_{"weir_redis_messages_total", "Accounts to which others gave something back.", kCounter};
  Family credentials_{"weir_credentials_total", "Tokens, and keys that were wrong, by what became of them.",
                      kCounter};
  Family key_refreshes_{"weir_jwks_refreshes_total", "Fetches of an issuer's keys.", kCounter};
  Family key_age_{"weir_jwks_age_seconds", "Since an issuer's keys were last fetched.", kGauge};
  Family key_counts_{"weir_jwks_keys", "Keys of an issuer that can be used.", kGauge};
  Family lookups_{"weir_policies_lookups_total", "Records of the policies that requests asked for.", kCounter};
  Family policy_reads_{"weir_policies_reads_total", "Look-ups that Redis answered, and queries of the database.",
                       kCounter};
  Family policy_failures_{"weir_policies_failures_total", "Queries of the database that failed.", kCounter};
  Family policy_records_{"weir_policies_records", "Records of the policies in memory.", kGauge};
  Family policy_evictions_{"weir_policies_evictions_total", "Records that gave way because memory is bounded.",
                           kCounter};
  Family policy_revision_{"weir_policies_revision", "Of the newest change that was noticed.", kGauge};
  Family policy_up_{"weir_policies_up", "Whether the database has answered last.", kGauge};
  bool any_shared_ = false;
  bool all_up_ = true;
};

std::vector<MetricFamily> collect(const std::vector<const WorkerMetrics*>& workers,
                                  const std::vector<const SharedStoreAccess*>& shared,
                                  const ProcessFigures& process) {
  MetricsReport report;
  for (const WorkerMetrics* worker : workers) report.add(*worker);
  for (const SharedStoreAccess* access : shared) report.add(*access);
  report.add(process);
  return report.families();
}

}  // namespace weir::gateway
