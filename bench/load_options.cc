// SPDX-License-Identifier: Apache-2.0
#include "load_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::bench {
namespace {

struct Url {
  std::uint16_t port = 0;
  std::string authority;
  std::string target;
};

std::optional<Url> parse_url(std::string_view text) {
  constexpr std::string_view kStart = "http://127.0.0.1:";
  if (!text.starts_with(kStart)) return std::nullopt;
  const std::size_t path = std::min(text.find('/', kStart.size()), text.size());
  Url url;
  const auto [end, error] = std::from_chars(text.data() + kStart.size(), text.data() + path, url.port);
  if (error != std::errc{} || end != text.data() + path || url.port == 0) return std::nullopt;
  url.authority = text.substr(7, path - 7);
  url.target = path == text.size() ? "/" : text.substr(path);
  return url;
}

// "Name:value" as given; Host is added in front unless one is given.
std::string request_bytes(const Url& url, const std::vector<std::string>& headers) {
  std::string fields;
  bool has_host = false;
  for (const std::string& header : headers) {
    const std::size_t colon = std::min(header.find(':'), header.size());
    const std::string name = header.substr(0, colon);
    std::string_view value = std::string_view(header).substr(std::min(colon + 1, header.size()));
    while (value.starts_with(' ')) value.remove_prefix(1);
    has_host = has_host || name == "Host";
    fields += fmt::format("{}: {}\r\n", name, value);
  }
  const std::string host = has_host ? "" : fmt::format("Host: {}\r\n", url.authority);
  return fmt::format("GET {} HTTP/1.1\r\n{}{}\r\n", url.target, host, fields);
}

// One request for each value of {n} in the headers, all of the same length.
std::vector<std::string> requests_bytes(const Url& url, const std::vector<std::string>& headers, int variants) {
  const auto digits = std::to_string(variants - 1).size();
  std::vector<std::string> requests;
  for (int n = 0; n < variants; ++n) {
    const std::string number = fmt::format("{:0{}}", n, digits);
    std::vector<std::string> filled = headers;
    for (std::string& header : filled) {
      if (const std::size_t at = header.find("{n}"); at != std::string::npos) header.replace(at, 3, number);
    }
    requests.push_back(request_bytes(url, filled));
  }
  return requests;
}

bool add_one(Watched& watched, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data() + equals + 1, text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  watched[std::string(text.substr(0, equals))].push_back(pid);
  return true;
}

std::chrono::nanoseconds from_seconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace

bool add_watched(Watched& watched, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at && !add_one(watched, text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

std::expected<LoadOptions, int> parse_load_options(int argc, char** argv) {
  LoadOptions options;
  std::string target;
  std::vector<std::string> headers;
  double seconds = 3;
  double warmup = 0.5;
  double patience = 1;
  int variants = 1;

  CLI::App app("Sends GETs on N connections, one at a time on each, and prints what came back as JSON.");
  app.add_option("--target", target, "http://127.0.0.1:PORT/PATH")->required();
  app.add_option("--header", headers, "Name:value of a request field; repeatable");
  app.add_option("--vary", variants, "So many requests in turn: {n} in a header is the number of each, from 0")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--connections", options.connections, "How many")->check(CLI::Range(1, 60000));
  app.add_option("--seconds", seconds, "Measured time")->check(CLI::PositiveNumber);
  app.add_option("--warmup", warmup, "Seconds before it that do not count")->check(CLI::NonNegativeNumber);
  app.add_option("--patience", patience, "Seconds after which a request at the end has stalled")
      ->check(CLI::PositiveNumber);
  app.add_option("--expect-status", options.expected_status, "Any other status is an error");
  app.add_option("--expect-body", options.expected_body, "Any other number of bytes is an error");
  app.add_option(
      "--serve", options.serve,
      "Port on which to be the origin too; the load begins when standard input has a line of NAME=PID, the "
      "processes whose CPU time is reported");
  app.add_flag("--yield", options.yield,
               "Gives way whenever nothing is to be done: for a CPU that something else has to run on, too");
  app.add_flag("--hold", options.hold,
               "One request on each connection, then keep all open until standard input has a line or ends");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(app.exit(error) == 0 ? 0 : 2);
  }

  const auto url = parse_url(target);
  if (!url) {
    fmt::print(stderr, "bench_load: --target is http://127.0.0.1:PORT/PATH\n");
    return std::unexpected(2);
  }
  options.port = url->port;
  options.requests = requests_bytes(*url, headers, variants);
  options.warmup = from_seconds(warmup);
  options.patience = from_seconds(patience);
  options.duration = from_seconds(seconds);
  return options;
}

}  // namespace weir::bench
