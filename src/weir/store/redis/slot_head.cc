// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/slot_head.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <variant>

#include "weir/limit/ranges.h"

namespace weir::store {
namespace {

static_assert(std::endian::native == std::endian::little, "accounts are written as this machine keeps numbers");

using limit::CalendarQuota;
using limit::Concurrency;
using limit::FixedWindow;
using limit::LeakyBucket;
using limit::Limit;
using limit::SlidingLog;
using limit::SlidingWindow;
using limit::TokenBucket;
using Wide = __int128;

constexpr std::int64_t kLeastLife = 10;  // seconds
constexpr int kLifeMantissa = 2048;
constexpr std::size_t kIdBytes = sizeof(SlotId);

// The letters by which heads name algorithms. Never to be given another meaning.
constexpr char kTokenBucket = 'b';
constexpr char kQueue = 'q';
constexpr char kFixedWindow = 'f';
constexpr char kSlidingWindow = 's';
constexpr char kCalendarQuota = 'c';
constexpr char kSlidingLog = 'l';
constexpr char kConcurrency = 'r';

// Seven bits a byte, the low ones first (LEB128).
void append_number(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}
  std::int64_t next() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (at_ == bytes_.size()) break;
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return static_cast<std::int64_t>(value);
    }
    good_ = false;
    return 0;
  }
  bool at_end() const { return at_ == bytes_.size(); }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

// N units per P ticks, in microseconds: the reduced fraction stays exact.
struct Rate {
  std::int64_t count;
  std::int64_t period;
};
Rate in_microseconds(std::int64_t count, std::int64_t period, std::int64_t ticks) {
  const std::int64_t common = std::gcd(period, ticks);
  const std::int64_t scaled = count * (ticks / common);
  const std::int64_t micros = period / common;
  const std::int64_t shared = std::gcd(scaled, micros);
  return {scaled / shared, micros / shared};
}

limit::WindowNumbers in_microseconds(limit::WindowNumbers numbers, std::int64_t ticks) {
  numbers.alignment.window /= ticks;
  numbers.alignment.offset /= ticks;
  numbers.ticks_per_second = kMicrosPerSecond;
  return numbers;
}

std::int64_t second_of(const Limit& limit) {
  return std::visit([](const auto& algorithm) { return algorithm.numbers().ticks_per_second; }, limit.algorithm());
}

template <class A>
Limit or_same(Result<A> made, const Limit& limit) {
  return made ? Limit(*std::move(made)) : limit;
}

std::uint32_t text_of(const limit::CivilCalendar& calendar) {
  const auto& rules = calendar.rules();
  const std::string text = std::to_string(static_cast<int>(rules.unit)) + rules.zone + ',' +
                           std::to_string(rules.anchor_day) + ',' + std::to_string(rules.week_starts.c_encoding());
  return static_cast<std::uint32_t>(limit::fnv1a(text));
}

void append_numbers(const limit::WindowNumbers& numbers, std::uint64_t phase, std::string& out) {
  append_number(static_cast<std::uint64_t>(numbers.alignment.window), out);
  append_number(static_cast<std::uint64_t>(shift_of(numbers.alignment, phase)), out);
  append_number(static_cast<std::uint64_t>(numbers.capacity), out);
  append_number(static_cast<std::uint64_t>(numbers.debt), out);
}

// In the order of the arguments of `read`.
limit::WindowNumbers read_window(NumberReader& reader) {
  limit::WindowNumbers numbers{};
  numbers.ticks_per_second = kMicrosPerSecond;
  const std::int64_t window = reader.next();
  const std::int64_t shift = reader.next();
  numbers.alignment = {.window = window, .offset = shift == 0 ? 0 : window - shift};
  numbers.capacity = reader.next();
  numbers.debt = reader.next();
  return numbers;
}

template <class A>
std::optional<Limit> made(Result<A> result) {
  if (!result) return std::nullopt;
  return Limit(*std::move(result));
}

std::optional<Limit> read_limit(char letter, NumberReader& reader) {
  switch (letter) {
    case kTokenBucket: {
      TokenBucket::Numbers numbers{.ticks_per_second = kMicrosPerSecond};
      numbers.count = reader.next();
      numbers.period = reader.next();
      numbers.capacity = reader.next();
      if (!reader.at_end()) numbers.debt = reader.next();
      return made(TokenBucket::create(limit::widened(numbers)));
    }
    case kQueue: {
      LeakyBucket::Numbers numbers{.ticks_per_second = kMicrosPerSecond};
      numbers.count = reader.next();
      numbers.period = reader.next();
      numbers.queue = reader.next();
      numbers.undelayed = reader.next();
      return made(LeakyBucket::create(limit::widened(numbers)));
    }
    case kFixedWindow:
      return made(FixedWindow::create(read_window(reader)));
    case kSlidingWindow:
      return made(SlidingWindow::create(read_window(reader)));
    case kCalendarQuota: {
      CalendarQuota::Numbers numbers{.ticks_per_second = kMicrosPerSecond};
      numbers.capacity = reader.next();
      numbers.debt = reader.next();
      reader.next();  // which calendar
      return made(CalendarQuota::create(numbers, limit::CivilCalendar::create({}).value()));
    }
    case kSlidingLog:
      return made(
          SlidingLog::create({.capacity = 1, .window = kMicrosPerSecond, .ticks_per_second = kMicrosPerSecond}));
    case kConcurrency:
      return made(
          Concurrency::create({.capacity = 1, .lease = kMicrosPerSecond, .ticks_per_second = kMicrosPerSecond}));
    default:
      return std::nullopt;
  }
}

bool is_bucket(const Limit& limit) { return limit.holds<TokenBucket>() || limit.holds<LeakyBucket>(); }

constexpr std::int64_t kDay = 86'400;

std::int64_t longest_period(limit::CivilCalendar::Unit unit) {
  switch (unit) {
    case limit::CivilCalendar::Unit::kDay:
      return 2 * kDay;  // clocks may be put back by some hours
    case limit::CivilCalendar::Unit::kWeek:
      return 8 * kDay;
    case limit::CivilCalendar::Unit::kMonth:
      return 32 * kDay;
    case limit::CivilCalendar::Unit::kYear:
      break;
  }
  return 367 * kDay;
}

std::int64_t seconds_up(Wide micros) {
  return static_cast<std::int64_t>((micros + kMicrosPerSecond - 1) / kMicrosPerSecond);
}

// The longest time from a write to a state that equals "never used".
std::int64_t fading_seconds(const Limit& limit) {
  if (is_bucket(limit)) {
    const TokenBucket::Numbers numbers = bucket_numbers(limit);
    return seconds_up(Wide{refill_time(numbers, numbers.capacity + numbers.debt).whole} + 1);
  }
  if (const auto* one = std::get_if<FixedWindow>(&limit.algorithm())) {
    return seconds_up(one->numbers().alignment.window);
  }
  if (const auto* one = std::get_if<SlidingWindow>(&limit.algorithm())) {
    return seconds_up(2 * Wide{one->numbers().alignment.window});
  }
  if (const auto* one = std::get_if<SlidingLog>(&limit.algorithm())) return seconds_up(one->numbers().window);
  if (const auto* one = std::get_if<Concurrency>(&limit.algorithm())) return seconds_up(one->numbers().lease);
  return longest_period(std::get<CalendarQuota>(limit.algorithm()).calendar().rules().unit);
}

Wide debt_of(std::int64_t count, Micros t, std::int64_t rest, Micros now) {
  if (t < now) return 0;
  return static_cast<Wide>(t - now) * count + rest;
}

}  // namespace

void append_double(double value, std::string& out) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

double read_double(std::string_view bytes, std::size_t at) {
  double value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Form form_of(const Limit& limit) {
  if (is_bucket(limit)) return bucket_numbers(limit).count == 1 ? Form::kBucket : Form::kFractions;
  if (limit.holds<FixedWindow>()) return Form::kFixed;
  if (limit.holds<SlidingWindow>()) return Form::kSliding;
  if (limit.holds<CalendarQuota>()) return Form::kCalendar;
  return limit.holds<SlidingLog>() ? Form::kLog : Form::kLeases;
}

std::int64_t ticks_per_micro(const Limit& limit) { return second_of(limit) / kMicrosPerSecond; }

Limit in_microseconds(const Limit& limit) {
  const std::int64_t ticks = ticks_per_micro(limit);
  if (ticks <= 1) return limit;
  const auto convert = [&]<class A>(const A& algorithm) -> Limit {
    auto numbers = algorithm.numbers();
    if constexpr (std::is_same_v<A, TokenBucket> || std::is_same_v<A, LeakyBucket>) {
      const Rate rate = in_microseconds(numbers.count, numbers.period, ticks);
      numbers.count = rate.count;
      numbers.period = rate.period;
    } else if constexpr (std::is_same_v<A, FixedWindow> || std::is_same_v<A, SlidingWindow>) {
      numbers = in_microseconds(numbers, ticks);
    } else if constexpr (std::is_same_v<A, SlidingLog>) {
      numbers.window /= ticks;
    } else if constexpr (std::is_same_v<A, Concurrency>) {
      numbers.lease /= ticks;
    }
    numbers.ticks_per_second = kMicrosPerSecond;
    if constexpr (requires { numbers.count; }) numbers = limit::widened(numbers);
    if constexpr (std::is_same_v<A, CalendarQuota>) {
      return or_same(A::create(numbers, algorithm.calendar()), limit);
    } else {
      return or_same(A::create(numbers), limit);
    }
  };
  return std::visit(convert, limit.algorithm());
}

LifeCode life_code(std::int64_t seconds) {
  LifeCode shift = 0;
  for (; seconds >= kLifeMantissa; ++shift) seconds = (seconds + 1) / 2;
  return static_cast<LifeCode>(shift * kLifeMantissa + seconds);
}

std::int64_t seconds_of(LifeCode code) { return std::int64_t{code % kLifeMantissa} << (code / kLifeMantissa); }

std::int64_t life_seconds(const Limit& limit) { return std::max(kLeastLife, 2 * fading_seconds(limit)); }

TokenBucket::Numbers bucket_numbers(const Limit& limit) {
  if (const auto* bucket = std::get_if<TokenBucket>(&limit.algorithm())) return bucket->numbers();
  const LeakyBucket::Numbers& line = std::get<LeakyBucket>(limit.algorithm()).numbers();
  const std::int64_t common = std::gcd(line.count, line.period);
  return {line.count / common, line.period / common, line.queue + 1, line.ticks_per_second, 0};
}

Pair refill_time(const TokenBucket::Numbers& numbers, limit::Cost units) {
  const Wide time = static_cast<Wide>(units) * numbers.period;
  return {static_cast<std::int64_t>(time / numbers.count), static_cast<std::int64_t>(time % numbers.count)};
}

Micros shift_of(const limit::Alignment& alignment, std::uint64_t phase) {
  return alignment.time({.now = 0, .wall = 0, .phase = phase});
}

void append_head(SlotId id, const Limit& limit, std::uint64_t phase, std::string& out) {
  std::array<char, kIdBytes> name;
  std::memcpy(name.data(), &id, kIdBytes);
  out.append(name.data(), kIdBytes);
  const auto number = [&out](std::int64_t value) { append_number(static_cast<std::uint64_t>(value), out); };
  const auto write = [&]<class A>(const A& algorithm) {
    const auto& numbers = algorithm.numbers();
    if constexpr (std::is_same_v<A, TokenBucket>) {
      out += kTokenBucket;
      number(numbers.count);
      number(numbers.period);
      number(numbers.capacity);
      if (numbers.debt > 0) number(numbers.debt);
    } else if constexpr (std::is_same_v<A, LeakyBucket>) {
      out += kQueue;
      number(numbers.count);
      number(numbers.period);
      number(numbers.queue);
      number(numbers.undelayed);
    } else if constexpr (std::is_same_v<A, FixedWindow>) {
      out += kFixedWindow;
      append_numbers(numbers, phase, out);
    } else if constexpr (std::is_same_v<A, SlidingWindow>) {
      out += kSlidingWindow;
      append_numbers(numbers, phase, out);
    } else if constexpr (std::is_same_v<A, CalendarQuota>) {
      out += kCalendarQuota;
      number(numbers.capacity);
      number(numbers.debt);
      number(text_of(algorithm.calendar()));
    } else {
      out += std::is_same_v<A, SlidingLog> ? kSlidingLog : kConcurrency;
    }
  };
  std::visit(write, limit.algorithm());
}

std::optional<Limit> read_head(std::string_view head) {
  if (head.size() <= kIdBytes) return std::nullopt;
  NumberReader reader(head.substr(kIdBytes + 1));
  auto limit = read_limit(head[kIdBytes], reader);
  if (!reader.good()) return std::nullopt;
  return limit;
}

StateWords read_state(const Limit& limit, std::string_view state, Micros now) {
  StateWords words{};
  if (state.empty()) return words;
  const auto number = [&](std::size_t i) {
    return static_cast<std::int64_t>(read_double(state, i * sizeof(double)));
  };
  if (!is_bucket(limit)) {
    for (std::size_t i = 0; i < words.size() && i * sizeof(double) < state.size(); ++i) words[i] = number(i);
    return words;
  }
  const TokenBucket::Numbers numbers = bucket_numbers(limit);
  const auto debt =
      static_cast<unsigned __int128>(debt_of(numbers.count, number(0), numbers.count == 1 ? 0 : number(1), now));
  words[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(debt));
  if (limit.state_words() > 1) words[1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(debt >> 64));
  return words;
}

void append_state(const Limit& limit, const StateWords& words, Micros now, std::string& out) {
  if (!is_bucket(limit)) {
    for (int i = 0; i < limit.state_words(); ++i)
      append_double(static_cast<double>(words[static_cast<std::size_t>(i)]), out);
    return;
  }
  const std::int64_t count = bucket_numbers(limit).count;
  const auto low = static_cast<std::uint64_t>(words[0]);
  const auto high = limit.state_words() > 1 ? static_cast<std::uint64_t>(words[1]) : 0;
  const auto debt = static_cast<unsigned __int128>(high) << 64 | low;
  append_double(static_cast<double>(now + static_cast<std::int64_t>(debt / static_cast<std::uint64_t>(count))), out);
  if (count > 1) append_double(static_cast<double>(debt % static_cast<std::uint64_t>(count)), out);
}

}  // namespace weir::store
