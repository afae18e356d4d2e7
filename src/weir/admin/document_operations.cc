// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/document_operations.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>

#include "weir/partners/document.h"
#include "weir/partners/words.h"

namespace weir::admin {
namespace {

using partners::Outcome;
using partners::Repository;

constexpr Question::Numbers kChanges{.usual = 100, .least = 1, .most = 1000};
constexpr Question::Numbers kRevisions{.usual = 0, .least = 0, .most = INT64_MAX};

partners::Faults faults_of(const std::vector<config::Diagnostic>& diagnostics) {
  partners::Faults faults;
  for (const config::Diagnostic& one : diagnostics) {
    const std::string advice = one.suggestion.empty() ? "" : "; " + one.suggestion;
    faults.push_back({.row = fmt::format("line {}", one.line), .field = {}, .message = one.message + advice});
  }
  return faults;
}

// Nothing comes from the environment of this process: whoever writes the document is somebody else.
std::optional<std::string> no_environment(const std::string&) { return std::nullopt; }

// Whoever imports with `prune` what was exported must not lose rows that only have to be mended.
Outcome<std::string> all_rows(Repository& repository, bool incomplete) {
  const auto all = repository.all();
  if (!all) return std::unexpected(all.error());
  if (!all->faults.empty() && !incomplete) return partners::refuse(all->faults);
  return partners::to_yaml(all->rows);
}

Outcome<partners::Applied> put_rows(Repository& repository, const Question& question) {
  const auto document = partners::parse_document(question.text, "the body", no_environment);
  if (!document) return partners::refuse(faults_of(document.error()));
  return repository.import(document->rows, question.is_set("prune"), options_of(question));
}

Outcome<partners::ChangeFilter> change_filter(const Question& question) {
  partners::ChangeFilter filter;
  filter.partner = question.parameter("partner");
  filter.by = question.parameter("by");
  const auto wrong = [](const char* what) { return partners::refuse(partners::Refusal::Kind::kWrong, what); };
  const auto after = question.number("after", kRevisions);
  const auto most = question.number("most", kChanges);
  if (!after) return wrong("`after` is a revision");
  if (!most) return wrong("`most` is a number from 1 to 1000");
  const std::string& kind = question.parameter("kind");
  filter.kind = partners::row_kind(kind);
  if (!kind.empty() && !filter.kind) return wrong("`kind` is plan, partner, key or limit");
  filter.after = *after;
  filter.newest_first = question.parameter("after").empty();
  filter.most = static_cast<std::size_t>(*most);
  return filter;
}

io::Task<server::Answer> list_changes(PolicyDesk& desk, const Question& question) {
  const auto filter = change_filter(question);
  if (!filter) co_return problem(400, "bad-parameter", filter.error().message);
  auto running = desk.run([&](Repository& repository) { return repository.changes(*filter); });
  const auto changes = co_await running;
  if (!changes) co_return problem(changes.error(), false);
  partners::Json items = partners::Json::array();
  for (const partners::Change& change : *changes) items.push_back(to_json(change));
  co_return json(200, {{"items", std::move(items)}});
}

io::Task<server::Answer> check(PolicyDesk& desk) {
  auto running = desk.run([](Repository& repository) { return repository.check(); });
  const auto faults = co_await running;
  if (!faults) co_return problem(faults.error(), false);
  partners::Json items = partners::Json::array();
  for (const partners::Fault& fault : *faults) items.push_back(to_json(fault));
  co_return json(200, {{"faults", std::move(items)}});
}

// Documents may be large: they are read and written where the database is, not in the loop.
io::Task<server::Answer> export_rows(PolicyDesk& desk, const Question& question) {
  auto running =
      desk.run([&](Repository& repository) { return all_rows(repository, question.is_set("incomplete")); });
  auto rows = co_await running;
  if (!rows) co_return problem(rows.error(), false);
  server::Answer answer;
  answer.content_type = "application/yaml";
  answer.body = *std::move(rows);
  answer.fields.emplace_back("Cache-Control", "no-store");
  co_return answer;
}

io::Task<server::Answer> import_rows(PolicyDesk& desk, const Question& question) {
  auto running = desk.write(question, [&](Repository& repository) -> Outcome<server::Answer> {
    const auto applied = put_rows(repository, question);
    if (!applied) return std::unexpected(applied.error());
    return json(200, json_of(*applied, question));
  });
  auto answer = co_await running;
  co_return answer ? *std::move(answer) : problem(answer.error(), false);
}

}  // namespace

void add_document_operations(Operations& operations, PolicyDesk& desk) {
  using Body = Operations::Body;
  operations.add({"GET",
                  "/v1/changes",
                  {"partner", "kind", "by", "after", "most"},
                  Body::kNone,
                  [&desk](const Question& question) { return list_changes(desk, question); }});
  operations.add({"GET", "/v1/check", {}, Body::kNone, [&desk](const Question&) { return check(desk); }});
  operations.add({"GET", "/v1/export", {"incomplete"}, Body::kNone, [&desk](const Question& question) {
                    return export_rows(desk, question);
                  }});
  operations.add({"POST", "/v1/import", {"dry_run", "prune"}, Body::kText, [&desk](const Question& question) {
                    return import_rows(desk, question);
                  }});
}

}  // namespace weir::admin
