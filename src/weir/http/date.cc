// SPDX-License-Identifier: Apache-2.0
#include "weir/http/date.h"

#include <array>
#include <charconv>
#include <cstring>

namespace weir::http {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::month;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

void two_digits(char* out, unsigned value) {
  out[0] = static_cast<char>('0' + value / 10 % 10);
  out[1] = static_cast<char>('0' + value % 10);
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

std::optional<unsigned> month_number(std::string_view name) {
  for (unsigned i = 0; name.size() == 3 && i < 12; ++i) {
    if (kMonths.substr(3 * i, 3) == name) return i + 1;
  }
  return std::nullopt;
}

std::optional<seconds> time_of_day(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto h = number(text.substr(0, 2));
  const auto m = number(text.substr(3, 2));
  const auto s = number(text.substr(6, 2));
  if (!h || !m || !s || *h > 23 || *m > 59 || *s > 60) return std::nullopt;  // 60: a leap second
  return hours(*h) + minutes(*m) + seconds(*s);
}

std::optional<sys_seconds> assemble(std::optional<int> y, std::optional<unsigned> m, std::optional<int> d,
                                    std::optional<seconds> time) {
  if (!y || !m || !d || !time) return std::nullopt;
  const year_month_day date{year(*y), month(*m), day(static_cast<unsigned>(*d))};
  if (!date.ok()) return std::nullopt;
  return sys_days(date) + *time;
}

// "06-Nov-94" with its century.
std::optional<sys_seconds> rfc850(std::string_view text, WallTime now) {
  const std::size_t comma = text.find(", ");
  if (comma == std::string_view::npos || text.size() != comma + 24 || !text.ends_with(" GMT")) return std::nullopt;
  const std::string_view rest = text.substr(comma + 2);
  const auto two = number(rest.substr(7, 2));
  if (rest[2] != '-' || rest[6] != '-' || !two) return std::nullopt;
  const int this_year = static_cast<int>(year_month_day(floor<days>(now)).year());
  int y = this_year / 100 * 100 + *two;
  if (y > this_year + 50) y -= 100;
  return assemble(y, month_number(rest.substr(3, 3)), number(rest.substr(0, 2)), time_of_day(rest.substr(10, 8)));
}

// "Sun Nov  6 08:49:37 1994"
std::optional<sys_seconds> asctime_form(std::string_view text) {
  if (text.size() != 24 || text[3] != ' ' || text[7] != ' ' || text[10] != ' ' || text[19] != ' ')
    return std::nullopt;
  const std::string_view d = text[8] == ' ' ? text.substr(9, 1) : text.substr(8, 2);
  return assemble(number(text.substr(20, 4)), month_number(text.substr(4, 3)), number(d),
                  time_of_day(text.substr(11, 8)));
}

std::optional<sys_seconds> imf_fixdate(std::string_view text) {
  if (text.size() != kImfDateSize || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) return std::nullopt;
  return assemble(number(text.substr(12, 4)), month_number(text.substr(8, 3)), number(text.substr(5, 2)),
                  time_of_day(text.substr(17, 8)));
}

}  // namespace

void write_imf_date(WallTime at, char* out) {
  const auto whole = floor<seconds>(at);
  const auto date = floor<days>(whole);
  const year_month_day ymd(date);
  const std::chrono::hh_mm_ss time(whole - date);
  std::memcpy(out, "ddd, DD mmm YYYY hh:mm:ss GMT", kImfDateSize);
  std::memcpy(out, kDays.data() + 3 * std::chrono::weekday(date).c_encoding(), 3);
  two_digits(out + 5, static_cast<unsigned>(ymd.day()));
  std::memcpy(out + 8, kMonths.data() + 3 * (static_cast<unsigned>(ymd.month()) - 1), 3);
  const auto y = static_cast<unsigned>(static_cast<int>(ymd.year()));
  two_digits(out + 12, y / 100);
  two_digits(out + 14, y % 100);
  two_digits(out + 17, static_cast<unsigned>(time.hours().count()));
  two_digits(out + 20, static_cast<unsigned>(time.minutes().count()));
  two_digits(out + 23, static_cast<unsigned>(time.seconds().count()));
}

std::string imf_date(WallTime at) {
  std::string text(kImfDateSize, ' ');
  write_imf_date(at, text.data());
  return text;
}

std::optional<sys_seconds> parse_date(std::string_view text, WallTime now) {
  if (const auto date = imf_fixdate(text)) return date;
  if (const auto date = rfc850(text, now)) return date;
  return asctime_form(text);
}

}  // namespace weir::http
