// SPDX-License-Identifier: Apache-2.0
#include "weir/http/message.h"

#include <algorithm>
#include <span>

namespace weir::http {
namespace {

const Field* find_id(const std::vector<Field>& fields, FieldId id) {
  const auto found = std::ranges::find(fields, id, &Field::id);
  return found == fields.end() ? nullptr : &*found;
}

// Where a view into `from` lies in `to`; a view elsewhere (a literal) stays.
void shift(std::string_view& view, std::string_view from, std::string_view to) {
  const auto base = reinterpret_cast<std::uintptr_t>(from.data());
  const auto at = reinterpret_cast<std::uintptr_t>(view.data());
  if (at >= base && at - base + view.size() <= from.size()) view = to.substr(at - base, view.size());
}

}  // namespace

const Field* RequestHead::find(FieldId id) const { return has(id) ? find_id(fields, id) : nullptr; }

const Field* RequestHead::only(FieldId id) const {
  const Field* first = find(id);
  if (first == nullptr) return nullptr;
  const auto rest = std::span(fields).subspan(static_cast<std::size_t>(first - fields.data()) + 1);
  return std::ranges::find(rest, id, &Field::id) == rest.end() ? first : nullptr;
}

const Field* RequestHead::find(std::string_view name) const {
  const FieldId id = field_id(name);
  if (id != FieldId::kOther) return find(id);
  const auto found = std::ranges::find_if(fields, [&](const Field& f) { return same_name(f.name(bytes), name); });
  return found == fields.end() ? nullptr : &*found;
}

void RequestHead::rebase(std::string_view moved) {
  for (std::string_view* view : {&method, &target, &path, &query, &host}) shift(*view, bytes, moved);
  bytes = moved;
}

const Field* ResponseHead::find(FieldId id) const { return has(id) ? find_id(fields, id) : nullptr; }

}  // namespace weir::http
