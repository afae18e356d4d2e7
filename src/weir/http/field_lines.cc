// SPDX-License-Identifier: Apache-2.0
#include "weir/http/field_lines.h"

#include "weir/http/faults.h"
#include "weir/http/scan.h"

namespace weir::http {
namespace {

// The longest name that a Field can hold.
constexpr std::uint32_t kMaxName = 0xFFFF;

// Why a name cannot go on with `stop`.
[[gnu::cold]] const Rejection& name_fault(char stop, bool first) {
  if (stop == '\n') return fault::kLoneLf;
  if (stop == '\r') return fault::kNoColon;
  if (stop == '_') return fault::kUnderscore;
  if (first && is_space(stop)) return fault::kFoldedLine;
  return fault::kFieldName;
}

}  // namespace

void FieldLines::start(std::uint32_t at, std::uint32_t max_fields, bool underscores) {
  line_ = at_ = at;
  left_ = max_fields;
  name_classes_ = underscores ? kAnyToken : kTokenChar;
  in_value_ = false;
}

FieldLines::Event FieldLines::next(const char* head, std::uint32_t size, Field& field) {
  if (!in_value_) {
    const Event event = read_name(head, size);
    if (event != Event::kField) return event;
  }
  return read_value(head, size, field);
}

// kField: the name and its colon are behind us.
[[gnu::always_inline]] inline FieldLines::Event FieldLines::read_name(const char* head, std::uint32_t size) {
  const char* const end = head + size;
  const char* const name = head + line_;
  const char* at = head + at_;
  if (at == name) {
    if (at == end) return Event::kMore;
    if (*at == '\r') return read_end(at, end);
    if (left_ == 0) return fail(fault::kTooManyFields);
  }
  const char* const window = size - line_ > kMaxName + 1 ? name + kMaxName + 1 : end;
  at = find_token_end(at, window, name_classes_);
  at_ = static_cast<std::uint32_t>(at - head);
  if (at_ - line_ > kMaxName) return fail(fault::kHeadTooLarge);
  if (at == end) return Event::kMore;
  if (*at != ':' || at == name) return fail(name_fault(*at, at == name));
  colon_ = at_++;
  in_value_ = true;
  return Event::kField;
}

[[gnu::noinline]] FieldLines::Event FieldLines::read_end(const char* at, const char* end) {
  if (at + 1 == end) return Event::kMore;
  if (at[1] != '\n') return fail(fault::kLoneCr);
  at_ += 2;
  return Event::kEnd;
}

[[gnu::always_inline]] inline FieldLines::Event FieldLines::read_value(const char* head, std::uint32_t size,
                                                                       Field& field) {
  const char* const end = head + size;
  const char* const stop = find_control(head + at_, end);
  at_ = static_cast<std::uint32_t>(stop - head);
  if (stop == end) return Event::kMore;
  if (*stop != '\r') return fail(*stop == '\n' ? fault::kLoneLf : fault::kFieldValue);
  if (stop + 1 == end) return Event::kMore;  // the next call stops at this CR again
  if (stop[1] != '\n') return fail(fault::kLoneCr);
  fill(head, stop, field);
  return Event::kField;
}

[[gnu::always_inline]] inline void FieldLines::fill(const char* head, const char* stop, Field& field) {
  const char* value = head + colon_ + 1;
  while (value < stop && is_space(*value)) ++value;
  while (stop > value && is_space(stop[-1])) --stop;
  field.line_at = line_;
  field.value_at = static_cast<std::uint32_t>(value - head);
  field.value_size = static_cast<std::uint32_t>(stop - value);
  field.line_end = at_ + 2;
  field.name_size = static_cast<std::uint16_t>(colon_ - line_);
  field.id = field_id(std::string_view(head + line_, field.name_size));
  line_ = at_ = field.line_end;
  --left_;
  in_value_ = false;
}

FieldLines::Event FieldLines::fail(const Rejection& why) {
  fault_ = &why;
  return Event::kFault;
}

}  // namespace weir::http
