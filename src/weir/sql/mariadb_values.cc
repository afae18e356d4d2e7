// SPDX-License-Identifier: Apache-2.0
#include "weir/sql/mariadb_values.h"

namespace weir::sql {
namespace {

constexpr unsigned kBinaryCharset = 63;

// The library asks for pointers to what it only reads.
void bind_octets(MYSQL_BIND& bind, enum_field_types type, const std::string& octets) {
  bind.buffer_type = type;
  bind.buffer = const_cast<char*>(octets.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): see above
  bind.buffer_length = octets.size();
}

void bind_value(MYSQL_BIND& bind, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    bind.buffer_type = MYSQL_TYPE_LONGLONG;
    bind.buffer = const_cast<std::int64_t*>(number);  // NOLINT(cppcoreguidelines-pro-type-const-cast): see above
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    bind_octets(bind, MYSQL_TYPE_STRING, *text);
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    bind_octets(bind, MYSQL_TYPE_BLOB, bytes->octets);
  } else {
    bind.buffer_type = MYSQL_TYPE_NULL;
  }
}

bool is_integer(enum_field_types type) {
  return type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_INT24 || type == MYSQL_TYPE_LONG ||
         type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_YEAR;
}

bool is_octets(enum_field_types type) {
  return type == MYSQL_TYPE_TINY_BLOB || type == MYSQL_TYPE_BLOB || type == MYSQL_TYPE_MEDIUM_BLOB ||
         type == MYSQL_TYPE_LONG_BLOB || type == MYSQL_TYPE_STRING || type == MYSQL_TYPE_VAR_STRING;
}

}  // namespace

BoundValues::BoundValues(std::span<const Value> values) : binds_(values.size()) {
  for (std::size_t i = 0; i < values.size(); ++i) bind_value(binds_[i], values[i]);
}

BoundColumns::BoundColumns(MYSQL_RES* metadata) : columns_(mysql_num_fields(metadata)), binds_(columns_.size()) {
  const MYSQL_FIELD* fields = mysql_fetch_fields(metadata);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    MYSQL_BIND& bind = binds_[i];
    column.is_number = is_integer(fields[i].type);
    column.is_bytes = is_octets(fields[i].type) && fields[i].charsetnr == kBinaryCharset;
    bind.buffer_type = column.is_number ? MYSQL_TYPE_LONGLONG : column.is_bytes ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
    if (column.is_number) bind.buffer = &column.number;
    bind.length = &column.size;
    bind.is_null = &column.null;
  }
}

std::optional<Row> BoundColumns::row(MYSQL_STMT* statement) {
  Row row;
  row.reserve(columns_.size());
  for (unsigned i = 0; i < columns_.size(); ++i) {
    auto one = value(statement, i);
    if (!one) return std::nullopt;
    row.push_back(*std::move(one));
  }
  return row;
}

std::optional<Value> BoundColumns::value(MYSQL_STMT* statement, unsigned index) {
  const Column& column = columns_[index];
  if (column.null != 0) return Null{};
  if (column.is_number) return column.number;
  std::string octets(column.size, '\0');
  MYSQL_BIND room{};
  unsigned long size = 0;
  my_bool null = 0;
  room.buffer_type = binds_[index].buffer_type;
  room.buffer = octets.data();
  room.buffer_length = octets.size();
  room.length = &size;
  room.is_null = &null;
  if (!octets.empty() && mysql_stmt_fetch_column(statement, &room, index, 0) != 0) return std::nullopt;
  if (column.is_bytes) return Bytes{std::move(octets)};
  return octets;
}

}  // namespace weir::sql
