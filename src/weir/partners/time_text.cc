// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/time_text.h"

#include <fmt/format.h>

#include <charconv>

namespace weir::partners {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Takes what is expected from the front of a text; once something was not there, nothing more is.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  int digits(std::size_t count, int most) {
    int value = 0;
    const bool plain = rest_.size() >= count && rest_.substr(0, count).find_first_not_of("0123456789") == rest_.npos;
    if (!plain) return fail();
    std::from_chars(rest_.data(), rest_.data() + count, value);
    rest_.remove_prefix(count);
    return value <= most ? value : fail();
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // `.` and 1 to 9 digits, in nanoseconds.
  int fraction() {
    if (!take('.')) return 0;
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (count < 1 || count > 9) return fail();
    int value = digits(count, 999'999'999);
    for (std::size_t i = count; i < 9; ++i) value *= 10;
    return value;
  }
  bool at_end() const { return good_ && rest_.empty(); }
  bool good() const { return good_; }

 private:
  int fail() {
    good_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

seconds offset(Cursor& cursor) {
  if (cursor.take('Z') || cursor.take('z')) return seconds(0);
  const bool west = cursor.take('-');
  if (!west) cursor.expect('+');
  const hours hour(cursor.digits(2, 23));
  cursor.expect(':');
  const seconds ahead = hour + minutes(cursor.digits(2, 59));
  return west ? -ahead : ahead;
}

}  // namespace

std::string time_text(WallTime time) {
  const auto day = floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (const auto rest = clock.subseconds().count(); rest != 0) {
    text += fmt::format(".{:09}", rest);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + 'Z';
}

std::optional<WallTime> parse_time(std::string_view text) {
  Cursor cursor(text);
  const int year = cursor.digits(4, 2261);
  cursor.expect('-');
  const int month = cursor.digits(2, 12);
  cursor.expect('-');
  const int day = cursor.digits(2, 31);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!cursor.good() || year < 1970 || !date.ok()) return std::nullopt;
  const std::chrono::sys_days midnight(date);
  if (cursor.at_end()) return WallTime(midnight);
  if (!cursor.take('T') && !cursor.take('t')) cursor.expect(' ');
  const hours hour(cursor.digits(2, 23));
  cursor.expect(':');
  const minutes minute(cursor.digits(2, 59));
  cursor.expect(':');
  const seconds second(cursor.digits(2, 59));
  const nanoseconds fraction(cursor.fraction());
  const seconds ahead = offset(cursor);
  if (!cursor.at_end()) return std::nullopt;
  return WallTime(midnight) + hour + minute + second + fraction - ahead;
}

}  // namespace weir::partners
