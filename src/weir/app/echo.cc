// SPDX-License-Identifier: Apache-2.0
//
// `weir echo`: an upstream for demonstrations and tests that answers with what it received, to the byte.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "weir/app/commands.h"
#include "weir/app/signals.h"
#include "weir/base/clock.h"
#include "weir/base/log.h"
#include "weir/server/server.h"

namespace weir::app {
namespace {

using nlohmann::ordered_json;

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

// Bytes as JSON text. Bytes above 0x7f are shown as the characters with the same number (Latin-1), so that every byte
// can be read back.
std::string as_text(std::string_view bytes) {
  if (is_ascii(bytes)) return std::string(bytes);
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out.push_back(c);
    } else {
      out.push_back(static_cast<char>(0xc0 | (byte >> 6)));
      out.push_back(static_cast<char>(0x80 | (byte & 0x3f)));
    }
  }
  return out;
}

io::Task<server::Answer> echo(const server::Request& request) {
  ordered_json fields = ordered_json::array();
  for (const http::Field& field : request.head.fields) {
    fields.push_back({as_text(field.name(request.head.bytes)), as_text(request.head.value(field))});
  }
  const ordered_json document{{"method", as_text(request.head.method)},
                              {"target", as_text(request.head.target)},
                              {"fields", std::move(fields)},
                              {"body", as_text(request.body)},
                              {"body_bytes", request.body_size}};
  server::Answer answer;
  answer.content_type = "application/json";
  answer.body = document.dump(2) + "\n";
  co_return answer;
}

}  // namespace

int run_echo(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  unsigned port = 0;
  const bool has_port = colon != std::string::npos && std::sscanf(address.c_str() + colon, ":%5u", &port) == 1;
  const auto where =
      has_port && port <= 65535 ? io::SocketAddress::literal(host, static_cast<std::uint16_t>(port)) : std::nullopt;
  if (!where) {
    std::fprintf(stderr, "weir echo: '%s' is not an address such as 127.0.0.1:9000\n", address.c_str());
    return kWrongUsage;
  }
  const Signals signals{SIGTERM, SIGINT};
  const SystemClock clock;
  io::EventLoop loop(clock);
  server::Server server(loop, {.kept_body = 65536, .refuse_larger_bodies = false}, echo);
  if (const auto listening = server.listen(*where); !listening) {
    std::fprintf(stderr, "weir echo: %s\n", listening.error().message.c_str());
    return kFailed;
  }
  log_info("echo listens on {}", server.address().to_string());
  std::thread thread([&] { loop.run(); });
  while (!signals.wait(std::chrono::seconds(3600))) {
  }
  loop.post([&] { server.close(); });
  loop.stop();
  thread.join();
  return kDone;
}

}  // namespace weir::app
