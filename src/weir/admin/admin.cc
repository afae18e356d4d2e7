// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/admin.h"

#include <openssl/crypto.h>
#include <prometheus/text_serializer.h>

#include <utility>

#include "weir/admin/answers.h"
#include "weir/admin/document_operations.h"
#include "weir/admin/key_operations.h"
#include "weir/admin/row_operations.h"
#include "weir/base/ip.h"
#include "weir/config/http_types.h"

namespace weir::admin {

namespace documents {
extern const std::string_view kOpenapi;
}

namespace {

constexpr std::size_t kLargestBody = std::size_t{8} << 20;  // a document to be imported

server::Answer plain(int status, std::string body) {
  server::Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.fields.emplace_back("Cache-Control", "no-store");
  return answer;
}

bool is_api(std::string_view path) { return path == "/v1" || path.starts_with("/v1/"); }

// A page in a browser can be made to ask a name of its own that means this machine; then the host is that name.
bool is_local_host(std::string_view host) {
  return host.empty() || config::lower_case(host.substr(0, host.find(':'))) == "localhost" ||
         IpAddress::parse_with_port(host).has_value();
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
      server_(loop_,
              {.kept_body = kLargestBody, .refuse = [this](const http::RequestHead& head) { return refusal(head); }},
              [this](const server::Request& request) { return answer(request); }) {
  add_operations(clock);
}

Admin::~Admin() {
  loop_.post([this] { server_.close(); });
  if (policies_) policies_->shut();
  loop_.post([this] { accounts_.reset(); });
  loop_.stop();
  if (thread_.joinable()) thread_.join();
}

void Admin::add_operations(const Clock& clock) {
  accounts_ = sources_.open_accounts(loop_);
  add_account_operations(operations_, *accounts_);
  add_limited_operation(operations_, sources_.refused, clock);
  operations_.add(
      {"GET", "/v1/openapi.json", {}, Operations::Body::kNone, [](const Question&) -> io::Task<server::Answer> {
         server::Answer document;
         document.content_type = "application/json";
         document.body = documents::kOpenapi;
         co_return document;
       }});
  if (!sources_.policies) return;
  policies_.emplace(loop_, *sources_.policies, clock);
  add_row_operations(operations_, *policies_);
  add_key_operations(operations_, *policies_, clock);
  add_document_operations(operations_, *policies_);
}

void Admin::set_token(std::optional<std::string> token) {
  const std::lock_guard lock(token_mutex_);
  token_ = std::move(token);
}

// RFC 9110 section 11.1: the scheme in any case.
bool Admin::authorized(const http::RequestHead& head) const {
  constexpr std::string_view kScheme = "bearer ";
  const std::lock_guard lock(token_mutex_);
  if (!token_) return true;
  const http::Field* field = head.only(http::FieldId::kAuthorization);
  if (field == nullptr) return false;
  std::string_view given = head.value(*field);
  if (config::lower_case(given.substr(0, kScheme.size())) != kScheme) return false;
  given.remove_prefix(kScheme.size());
  return given.size() == token_->size() && CRYPTO_memcmp(given.data(), token_->data(), token_->size()) == 0;
}

server::Answer Admin::ready(bool verbose) const {
  const bool draining = sources_.draining();
  std::string body = draining ? "draining\n" : "ready\n";
  if (verbose) {
    body += draining ? "[-] draining\n" : "[+] configuration in force, listeners open\n";
    body += "[+] store " + sources_.store + "\n";
  }
  return plain(draining ? 503 : 200, std::move(body));
}

// Absent: it is about something else.
std::optional<server::Answer> Admin::answer_health(const http::RequestHead& head) const {
  const bool known = head.path == "/livez" || head.path == "/readyz" || head.path == "/metrics";
  if (!known && !is_api(head.path))
    return plain(404, "There is /livez, /readyz, /metrics and /v1/openapi.json here.\n");
  const bool reads = head.method_id == http::Method::kGet || head.method_id == http::Method::kHead;
  if (known && !reads) {
    server::Answer answer = plain(405, "Only GET and HEAD are served here.\n");
    answer.fields.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (head.path == "/livez") return sources_.alive() ? plain(200, "alive\n") : plain(503, "an event loop is stuck\n");
  if (head.path == "/readyz") return ready(head.query == "?verbose");
  return std::nullopt;
}

std::optional<server::Answer> Admin::refusal(const http::RequestHead& head) const {
  if (head.path != "/metrics" && !is_api(head.path)) return std::nullopt;
  if (!authorized(head)) {
    server::Answer answer =
        is_api(head.path) ? problem(401, "no-token", "A token is needed.") : plain(401, "A token is needed.\n");
    answer.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"weir admin\"");
    return answer;
  }
  const std::lock_guard lock(token_mutex_);
  if (token_ || !is_api(head.path) || is_local_host(head.host)) return std::nullopt;
  return problem(403, "wrong-host", "Without a token the API is asked by address, or as localhost.");
}

io::Task<server::Answer> Admin::answer(const server::Request& request) const {
  const http::RequestHead& head = request.head;
  if (auto health = answer_health(head)) co_return *std::move(health);
  if (is_api(head.path)) {
    io::Task<server::Answer> answering = operations_.answer(request);
    co_return co_await answering;
  }
  server::Answer metrics = plain(200, prometheus::TextSerializer().Serialize(sources_.metrics()));
  metrics.content_type = "text/plain; version=0.0.4; charset=utf-8";
  co_return metrics;
}

}  // namespace weir::admin
