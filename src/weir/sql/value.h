// SPDX-License-Identifier: Apache-2.0
//
// What databases keep and say: values, rows, and errors that tell what to do about them. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::sql {

// Octets of any kind, as opposed to text, which is UTF-8.
struct Bytes {
  std::string octets;

  bool operator==(const Bytes&) const = default;
};

struct Null {
  bool operator==(const Null&) const = default;
};

using Value = std::variant<Null, std::int64_t, std::string, Bytes>;
using Row = std::vector<Value>;

// What a statement did.
struct Answer {
  std::vector<Row> rows;
  std::int64_t affected = 0;  // rows inserted, deleted, or found by an update

  bool operator==(const Answer&) const = default;
};

enum class ErrorKind : std::uint8_t {
  kUnavailable,  // the server is away or was lost, the disk is full: open a new connection, later
  kBusy,         // somebody else holds a lock, or the server has no room: the transaction may be tried again
  kConstraint,   // a row like it is there already, or one that it names is not
  kInvalid,      // the statement, the schema or the right to use it is wrong; trying again does not help
};

struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline bool is_null(const Value& value) { return std::holds_alternative<Null>(value); }

}  // namespace weir::sql
