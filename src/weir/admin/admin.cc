// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/admin.h"

#include <openssl/crypto.h>
#include <prometheus/text_serializer.h>

namespace weir::admin {
namespace {

server::Answer plain(int status, std::string body) {
  server::Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.fields.emplace_back("Cache-Control", "no-store");
  return answer;
}

}  // namespace

Result<std::unique_ptr<Admin>> Admin::start(const io::SocketAddress& address, std::optional<std::string> token,
                                            Sources sources, const Clock& clock) {
  std::unique_ptr<Admin> admin(new Admin(std::move(token), std::move(sources), clock));
  if (auto listening = admin->server_.listen(address); !listening) return std::unexpected(listening.error());
  admin->thread_ = std::thread([&loop = admin->loop_] { loop.run(); });
  return admin;
}

Admin::Admin(std::optional<std::string> token, Sources sources, const Clock& clock)
    : token_(std::move(token)),
      sources_(std::move(sources)),
      loop_(clock),
      server_(loop_, {}, [this](const server::Request& request) { return answer(request); }) {}

Admin::~Admin() {
  loop_.post([this] { server_.close(); });
  loop_.stop();
  if (thread_.joinable()) thread_.join();
}

bool Admin::authorized(const http::RequestHead& head) const {
  if (!token_) return true;
  const http::Field* field = head.find(http::FieldId::kAuthorization);
  if (field == nullptr) return false;
  const std::string wanted = "Bearer " + *token_;
  const std::string_view given = head.value(*field);
  return given.size() == wanted.size() && CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

server::Answer Admin::ready(bool verbose) const {
  const bool draining = sources_.draining();
  std::string body = draining ? "draining\n" : "ready\n";
  if (verbose) {
    body += draining ? "[-] draining\n" : "[+] configuration in force, listeners open\n";
    body += "[+] store memory\n";
  }
  return plain(draining ? 503 : 200, std::move(body));
}

server::Answer Admin::answer(const server::Request& request) const {
  const http::RequestHead& head = request.head;
  const bool reads = head.method_id == http::Method::kGet || head.method_id == http::Method::kHead;
  const bool known = head.path == "/livez" || head.path == "/readyz" || head.path == "/metrics";
  if (!known) return plain(404, "There is /livez, /readyz and /metrics here.\n");
  if (!reads) {
    server::Answer answer = plain(405, "Only GET and HEAD are served here.\n");
    answer.fields.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (head.path == "/livez") return sources_.alive() ? plain(200, "alive\n") : plain(503, "an event loop is stuck\n");
  if (head.path == "/readyz") return ready(head.query == "?verbose");
  if (!authorized(head)) {
    server::Answer answer = plain(401, "A token is needed.\n");
    answer.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"weir admin\"");
    return answer;
  }
  server::Answer answer = plain(200, prometheus::TextSerializer().Serialize(sources_.metrics()));
  answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return answer;
}

}  // namespace weir::admin
