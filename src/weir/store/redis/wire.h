// SPDX-License-Identifier: Apache-2.0
//
// How the arguments of scripts are packed. Internal to this folder. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "weir/limit/ranges.h"
#include "weir/store/redis/slot_head.h"

namespace weir::store {

inline void append_u32(std::uint32_t value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void append_life(LifeCode life, std::string& out) {
  out.append(reinterpret_cast<const char*>(&life), sizeof life);
}

// What stands before a head in an account: how long it is, and how long its state.
class HeadMark {
 public:
  explicit HeadMark(char byte) : bits_(static_cast<std::uint8_t>(byte)) {}
  HeadMark(std::size_t head, std::size_t state) : bits_(static_cast<std::uint8_t>(head + state * 8)) {}

  std::size_t head_bytes() const { return bits_ % 64U; }
  std::size_t state_bytes() const { return bits_ / 64U * sizeof(double); }
  char byte() const { return static_cast<char>(bits_); }

 private:
  std::uint8_t bits_;
};

inline void append_sized(std::string_view bytes, std::string& out) {
  out += static_cast<char>(bytes.size());
  out += bytes;
}

template <class... Values>
void append_doubles(std::string& out, Values... values) {
  (append_double(static_cast<double>(values), out), ...);
}

inline void append_lease(const limit::LeaseId& lease, std::string& out) {
  out.append(reinterpret_cast<const char*>(&lease), sizeof lease);
}

// The largest debt that a bucket can owe while its clock does not jump.
inline Micros most_owed(const limit::TokenBucket::Numbers& numbers) {
  return refill_time(numbers, numbers.capacity + numbers.debt).whole + limit::kClockStepSeconds * kMicrosPerSecond;
}

// What a script answers.
struct ScriptAnswer {
  std::int32_t granted = 0;
  Micros now = 0;
  std::string_view account;
  std::string_view facts;  // of the lists, one behind the other
};
// Absent: it is no answer of a script.
inline std::optional<ScriptAnswer> read_answer(std::string_view bytes) {
  ScriptAnswer answer;
  std::uint32_t size = 0;
  constexpr std::size_t kFixed = sizeof answer.granted + sizeof(double) + sizeof size;
  if (bytes.size() < kFixed) return std::nullopt;
  std::memcpy(&answer.granted, bytes.data(), sizeof answer.granted);
  answer.now = static_cast<Micros>(read_double(bytes, sizeof answer.granted));
  std::memcpy(&size, bytes.data() + sizeof answer.granted + sizeof(double), sizeof size);
  if (bytes.size() - kFixed < size) return std::nullopt;
  answer.account = bytes.substr(kFixed, size);
  answer.facts = bytes.substr(kFixed + size);
  return answer;
}

// What was told in microseconds, in the ticks of a layout.
inline limit::Outcome in_ticks(limit::Outcome outcome, std::int64_t ticks) {
  if (outcome.retry_after) *outcome.retry_after *= ticks;
  if (outcome.next_after) *outcome.next_after *= ticks;
  outcome.reset_after *= ticks;
  outcome.delay *= ticks;
  outcome.at *= ticks;
  return outcome;
}

inline bool same_algorithm(const limit::Limit& a, const limit::Limit& b) {
  return a.algorithm().index() == b.algorithm().index();
}

// What scripts answer in place of a count.
constexpr std::int32_t kOtherNumbers = -1;
constexpr std::int32_t kOtherPeriod = -2;
constexpr std::int32_t kTooLate = -3;

}  // namespace weir::store
