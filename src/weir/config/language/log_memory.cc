// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "weir/config/language/limit_checks.h"
#include "weir/config/rate.h"

namespace weir::config {
namespace {

// As measured (docs/benchmarks.md): the account, and 16 bytes for each request.
constexpr std::uint64_t kBytesOfAnAccount = 90;
constexpr std::uint64_t kBytesOfARequest = 16;
constexpr std::uint64_t kBytesOfASlidingWindow = 58;

// In powers of ten, rounded up: 160 KB, 1.6 TB.
std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  std::uint64_t length = 1;
  for (; bytes / length >= 1000 && unit + 1 < kUnits.size(); ++unit) length *= 1000;
  const std::uint64_t tenths = bytes / length * 10 + (bytes % length * 10 + length - 1) / length;
  if (tenths >= 100 || tenths % 10 == 0) return fmt::format("{} {}", (tenths + 9) / 10, kUnits[unit]);
  return fmt::format("{}.{} {}", tenths / 10, tenths % 10, kUnits[unit]);
}

std::int64_t largest_count(const Limit& limit) {
  std::int64_t largest = limit.rate ? limit.rate->count : 0;
  for (const ByRate& by : limit.by) largest = std::max(largest, by.rate ? by.rate->count : 0);
  return largest;
}

}  // namespace

void warn_of_logs(Reader& reader, const Fields& fields, Config& config) {
  const Node* list = fields.find("limits");
  if (!fields.good("store") || list == nullptr || list->items.size() != config.limits.size()) return;
  for (std::size_t i = 0; i < config.limits.size(); ++i) {
    const Limit& limit = config.limits[i];
    const std::int64_t count = limit.algorithm == Algorithm::kSlidingLog ? largest_count(limit) : 0;
    if (count == 0 || count > kMostLogged) continue;
    const std::uint64_t account = kBytesOfAnAccount + static_cast<std::uint64_t>(count) * kBytesOfARequest;
    const std::uint64_t accounts = config.store.max_accounts;
    reader.report.warning(
        Fields(*list->items[i]).place("algorithm"),
        fmt::format("sliding_log remembers every request: up to {} for each account, {} for the {} accounts of "
                    "store.memory.max_accounts; sliding_window takes {} bytes an account",
                    bytes_text(account), bytes_text(account * accounts), accounts, kBytesOfASlidingWindow));
  }
}

}  // namespace weir::config
