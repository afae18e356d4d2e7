// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

#include "weir/explain/explanation.h"

namespace weir::explain {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t millis_of(nanoseconds time) { return std::chrono::ceil<std::chrono::milliseconds>(time).count(); }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const RequestFacts& request) {
  return {{"method", request.method},
          {"target", request.target},
          {"host", request.host},
          {"from", request.from},
          {"from_trusted_proxy", request.trusted}};
}

Json json_of(const RouteFacts& route) {
  return {{"service", route.service},
          {"host", text_or_null(route.host)},
          {"path", text_or_null(route.path)},
          {"read_as", route.read_as},
          {"upstream", route.upstream},
          {"addresses", route.addresses},
          {"endpoint", text_or_null(route.endpoint)}};
}

Json json_of(const AttributeFacts& attribute) {
  return {{"name", attribute.name},
          {"value", text_or_null(attribute.value)},
          {"source", text_or_null(attribute.source)},
          {"text", attribute.text}};
}

Json json_of(const SourceFacts& source) { return {{"source", source.word}, {"text", source.text}}; }

Json json_of(const CountFacts& count) {
  return {{"known", count.known},
          {"used", count.used},
          {"remaining", count.remaining},
          {"full_after_ms", millis_of(count.full_after)},
          {"admits", count.admits},
          {"retry_after_ms", count.retry_after ? Json(millis_of(*count.retry_after)) : Json()}};
}

Json json_of(const LimitFacts& limit) {
  Json json{{"limit", limit.name},
            {"applies", limit.applies},
            {"reason", limit.reason},
            {"text", limit.text},
            {"shadow", limit.shadow},
            {"algorithm", limit.algorithm},
            {"numbers", text_or_null(limit.numbers)},
            {"numbers_from", text_or_null(limit.numbers_from)}};
  if (!limit.applies) return json;
  json["cost"] = limit.cost;
  json["cost_from"] = text_or_null(limit.cost_from);
  json["per"] = limit.per;
  json["account"] = limit.account;
  json["key"] = text_or_null(limit.key);
  if (limit.by_endpoint) json["endpoint"] = text_or_null(limit.endpoint);
  if (!limit.method.empty()) json["method"] = limit.method;
  json["state"] = limit.count ? json_of(*limit.count) : Json();
  json["counts"] = limit.counts;
  json["on_store_failure"] = text_or_null(limit.without_store);
  json["binds"] = limit.binds;
  return json;
}

Json body_of(const AnswerFacts& answer) {
  if (answer.body.empty()) return {};
  Json body = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  return body.is_discarded() ? Json(answer.body) : body;
}

Json json_of(const AnswerFacts& answer) {
  Json fields = Json::array();
  for (const auto& [name, value] : answer.fields) fields.push_back({{"name", name}, {"value", value}});
  return {{"action", answer.word},
          {"status", answer.status == 0 ? Json() : Json(answer.status)},
          {"code", text_or_null(answer.code)},
          {"detail", text_or_null(answer.detail)},
          {"text", answer.text},
          {"certain", answer.certain},
          {"binding", text_or_null(answer.binding)},
          {"delay_ms", millis_of(answer.delay)},
          {"fields", std::move(fields)},
          {"body", body_of(answer)}};
}

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

template <class T>
Json json_or_null(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  const Json json{{"request", json_of(explanation.request)},
                  {"route", json_or_null(explanation.route)},
                  {"attributes", list_of(explanation.attributes)},
                  {"notes", explanation.notes},
                  {"bypass", explanation.bypass ? Json(*explanation.bypass) : Json()},
                  {"policies", json_or_null(explanation.policies)},
                  {"counters", json_or_null(explanation.counters)},
                  {"limits", list_of(explanation.limits)},
                  {"answer", json_of(explanation.answer)}};
  // In ASCII, since a terminal may be what it goes to. What is no UTF-8 becomes U+FFFD.
  return json.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + '\n';
}

}  // namespace weir::explain
