// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/row_operations.h"

#include <fmt/format.h>

#include <utility>

#include "weir/base/percent.h"
#include "weir/partners/json.h"
#include "weir/partners/words.h"

namespace weir::admin {
namespace {

using partners::Edit;
using partners::Json;
using partners::LimitId;
using partners::Outcome;
using partners::Owner;
using partners::OwnerKind;
using partners::Refusal;
using partners::Repository;
using partners::Row;
using partners::RowId;
using partners::RowKind;

constexpr Question::Numbers kPage{.usual = 100, .least = 1, .most = 1000};

std::string collection(RowKind kind) { return fmt::format("/v1/{}s", word(kind)); }

// The id of the row that a request is about. A limit is named by its owner, too, and where it acts.
Outcome<RowId> id_of(RowKind kind, const Question& question) {
  const std::string& name = question.names.front();
  if (kind != RowKind::kLimit) return RowId{kind, name, {}};
  const std::string &partner = question.parameter("partner"), &plan = question.parameter("plan");
  if (partner.empty() == plan.empty()) {
    return partners::refuse(Refusal::Kind::kWrong,
                            "a limit belongs to a partner or to a plan: the query has to name one");
  }
  const Owner owner{partner.empty() ? OwnerKind::kPlan : OwnerKind::kPartner, partner.empty() ? plan : partner};
  return partners::id_of(LimitId{name, owner, question.parameter("service"), question.parameter("endpoint")});
}

// A page begins behind a row: its name, or for a limit all of its id.
std::string place_text(const RowId& id) {
  if (id.kind != RowKind::kLimit) return id.name;
  const LimitId& limit = id.limit;
  return partners::compact(
      Json::array({limit.limit, word(limit.owner.kind), limit.owner.name, limit.service, limit.endpoint}));
}

std::optional<RowId> place_of(RowKind kind, const std::string& text) {
  if (kind != RowKind::kLimit) return RowId{kind, text, {}};
  const Json parts = Json::parse(text, nullptr, false);
  if (!parts.is_array() || parts.size() != 5) return std::nullopt;
  for (const Json& part : parts) {
    if (!part.is_string()) return std::nullopt;
  }
  const OwnerKind owner = parts[1] == word(OwnerKind::kPlan) ? OwnerKind::kPlan : OwnerKind::kPartner;
  return partners::id_of(LimitId{parts[0], {owner, parts[2]}, parts[3], parts[4]});
}

// The same question, for what comes after this page.
std::string next_link(RowKind kind, const Question& question, const RowId& last) {
  std::string link = collection(kind) + "?after=" + percent_encoded(place_text(last));
  for (const auto& [name, value] : question.parameters) {
    if (name != "after") link += "&" + name + "=" + percent_encoded(value);
  }
  return link;
}

Json json_of(RowKind kind, const Question& question, const partners::Page& page) {
  Json body{{"items", Json::array()}};
  for (const Row& row : page.rows) body["items"].push_back(to_json(row));
  body["next"] = page.next ? Json(next_link(kind, question, *page.next)) : Json();
  body["faults"] = Json::array();
  for (const partners::Fault& fault : page.faults) body["faults"].push_back(to_json(fault));
  return body;
}

// What was written by hand has no revision.
void add_tag(server::Answer& answer, std::int64_t revision) {
  if (revision > 0) answer.fields.emplace_back("ETag", fmt::format("\"{}\"", revision));
}

server::Answer answer_of(const Row& row) {
  server::Answer answer = json(200, to_json(row));
  add_tag(answer, stamp_of(row).revision);
  return answer;
}

// A change, and the revision that the row has then; 0: it is not there.
struct Written {
  partners::Applied applied;
  std::int64_t revision = 0;
};

server::Answer answer_of(const Outcome<Written>& written, const Question& question) {
  if (!written) return problem(written.error(), question.expected.has_value());
  const auto& changes = written->applied.changes;
  const bool dry_run = question.is_set("dry_run");
  const bool made = !changes.empty() && changes.back().action == partners::Change::Action::kCreated;
  server::Answer answer = json(made && !dry_run ? 201 : 200, json_of(written->applied, question));
  if (!dry_run) add_tag(answer, written->revision);
  return answer;
}

Outcome<Written> write(Repository& repository, const Edit& edit, const Question& question) {
  auto applied = repository.apply({edit}, options_of(question));
  if (!applied) return std::unexpected(std::move(applied.error()));
  Written written{.applied = *std::move(applied)};
  if (!edit.row) return written;
  if (!written.applied.changes.empty()) {
    written.revision = written.applied.changes.back().revision;
  } else if (const auto there = repository.get(edit.id); there && *there) {
    written.revision = stamp_of(**there).revision;
  }
  return written;
}

// What names the row in the path and the query must not be told otherwise by the body.
Outcome<Row> row_of(const RowId& id, Json object) {
  Json name = Json::object();
  if (id.kind == RowKind::kLimit) {
    name["limit"] = id.limit.limit;
    name[std::string(word(id.limit.owner.kind))] = id.limit.owner.name;
    if (!id.limit.service.empty()) name["service"] = id.limit.service;
    if (!id.limit.endpoint.empty()) name["endpoint"] = id.limit.endpoint;
  } else {
    name[id.kind == RowKind::kKey ? "id" : "name"] = id.name;
  }
  for (const auto& [field, value] : name.items()) {
    if (!object.contains(field)) object[field] = value;
  }
  auto row = partners::row_from_json(id.kind, object, to_text(id));
  if (!row) return partners::refuse(std::move(row.error()));
  if (partners::id_of(*row) == id) return *std::move(row);
  return partners::refuse(Refusal::Kind::kWrong,
                          fmt::format("the body is about {}, the path about {}: a row cannot be renamed",
                                      to_text(partners::id_of(*row)), to_text(id)));
}

// RFC 7396: what is null goes, what is not there stays.
Outcome<Edit> merge(Repository& repository, const RowId& id, const Question& question) {
  const auto there = repository.get(id);
  if (!there) return std::unexpected(there.error());
  if (!*there) return partners::refuse(Refusal::Kind::kAbsent, fmt::format("there is no {}", to_text(id)));
  Json object = to_json(**there);
  object.merge_patch(question.body);
  auto row = row_of(id, std::move(object));
  if (!row) return std::unexpected(row.error());
  // Whoever changes the row at the same time is not overwritten.
  return question.expected ? Edit::put(*std::move(row), question.expected) : Edit::change(*std::move(row), **there);
}

class Rows {
 public:
  Rows(RowKind kind, PolicyDesk& desk) : kind_(kind), desk_(desk) {}

  io::Task<server::Answer> list(const Question& question) const;
  io::Task<server::Answer> get(const Question& question) const;
  io::Task<server::Answer> put(const Question& question) const;
  io::Task<server::Answer> patch(const Question& question) const;
  io::Task<server::Answer> remove(const Question& question) const;

 private:
  RowKind kind_;
  PolicyDesk& desk_;
};

io::Task<server::Answer> Rows::list(const Question& question) const {
  partners::RowFilter filter{.prefix = question.parameter("prefix"),
                             .partner = question.parameter("partner"),
                             .plan = question.parameter("plan"),
                             .after = {}};
  const auto most = question.number("most", kPage);
  if (!most) {
    co_return problem(400, "bad-parameter", fmt::format("`most` is a number from 1 to {}.", kPage.most));
  }
  filter.most = static_cast<std::size_t>(*most);
  if (!question.parameter("after").empty()) {
    filter.after = place_of(kind_, question.parameter("after"));
    if (!filter.after) co_return problem(400, "bad-parameter", "`after` is to be taken from `next` of a page.");
  }
  auto running = desk_.run([&](Repository& repository) { return repository.list(kind_, filter); });
  const auto page = co_await running;
  co_return page ? json(200, json_of(kind_, question, *page)) : problem(page.error(), false);
}

io::Task<server::Answer> Rows::get(const Question& question) const {
  const auto id = id_of(kind_, question);
  if (!id) co_return problem(id.error(), false);
  auto running = desk_.run([&](Repository& repository) { return repository.get(*id); });
  const auto row = co_await running;
  if (!row) co_return problem(row.error(), false);
  if (!*row) co_return problem(404, "no-such-row", fmt::format("There is no {}.", to_text(*id)));
  co_return answer_of(**row);
}

io::Task<server::Answer> Rows::put(const Question& question) const {
  const auto id = id_of(kind_, question);
  if (!id) co_return problem(id.error(), false);
  const auto row = row_of(*id, question.body);
  if (!row) co_return problem(row.error(), false);
  const Edit edit = Edit::put(*row, question.expected);
  auto running = desk_.write(question, [&](Repository& repository) { return write(repository, edit, question); });
  co_return answer_of(co_await running, question);
}

io::Task<server::Answer> Rows::patch(const Question& question) const {
  const auto id = id_of(kind_, question);
  if (!id) co_return problem(id.error(), false);
  auto running = desk_.write(question, [&](Repository& repository) -> Outcome<Written> {
    const auto edit = merge(repository, *id, question);
    if (!edit) return std::unexpected(edit.error());
    return write(repository, *edit, question);
  });
  co_return answer_of(co_await running, question);
}

io::Task<server::Answer> Rows::remove(const Question& question) const {
  const auto id = id_of(kind_, question);
  if (!id) co_return problem(id.error(), false);
  const Edit edit = Edit::remove(*id, question.expected);
  auto running = desk_.write(question, [&](Repository& repository) { return write(repository, edit, question); });
  co_return answer_of(co_await running, question);
}

void add(Operations& operations, RowKind kind, PolicyDesk& desk) {
  using Body = Operations::Body;
  const bool is_limit = kind == RowKind::kLimit;
  const std::vector<std::string> naming =
      is_limit ? std::vector<std::string>{"partner", "plan", "service", "endpoint"} : std::vector<std::string>{};
  std::vector<std::string> filters{"prefix", "most", "after"};
  if (kind == RowKind::kKey || is_limit) filters.emplace_back("partner");
  if (kind != RowKind::kPlan) filters.emplace_back("plan");
  std::vector<std::string> writing = naming;
  writing.emplace_back("dry_run");
  const std::string all = collection(kind);
  const std::string one = all + (kind == RowKind::kKey ? "/{id}" : is_limit ? "/{limit}" : "/{name}");
  const Rows rows(kind, desk);
  const auto answer = [rows](auto member) {
    return [rows, member](const Question& question) { return (rows.*member)(question); };
  };
  operations.add({"GET", all, filters, Body::kNone, answer(&Rows::list)});
  operations.add({"GET", one, naming, Body::kNone, answer(&Rows::get)});
  operations.add({"PUT", one, writing, Body::kObject, answer(&Rows::put), /*conditional=*/true});
  operations.add({"PATCH", one, writing, Body::kObject, answer(&Rows::patch), /*conditional=*/true});
  operations.add({"DELETE", one, writing, Body::kNone, answer(&Rows::remove), /*conditional=*/true});
}

}  // namespace

void add_row_operations(Operations& operations, PolicyDesk& desk) {
  for (const RowKind kind : {RowKind::kPlan, RowKind::kPartner, RowKind::kKey, RowKind::kLimit}) {
    add(operations, kind, desk);
  }
}

}  // namespace weir::admin
