// SPDX-License-Identifier: Apache-2.0
//
// The result of an operation that can fail: a value, or an Error that says what kind of fault it was and
// whose. What follows from an error (HTTP status, log level, retry) is derived from kind and origin.
// A refusal by a limit is not an error. Thread safety: plain values.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace weir {

enum class ErrorKind {
  kInvalid,      // the input cannot be used; trying again does not help
  kUnavailable,  // the other side is not there (refused, unreachable, closed)
  kTimeout,      // the other side was too slow
  kIo,           // the operating system reported a fault
};

enum class Origin { kClient, kUpstream, kStore, kSelf };

struct Error {
  ErrorKind kind;
  Origin origin;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

// An error made by weir itself about input that cannot be used.
inline std::unexpected<Error> invalid(std::string message) {
  return std::unexpected(Error{ErrorKind::kInvalid, Origin::kSelf, std::move(message)});
}

}  // namespace weir
