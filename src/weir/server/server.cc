// SPDX-License-Identifier: Apache-2.0
#include "weir/server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "weir/http/chunked.h"
#include "weir/http/date.h"
#include "weir/http/parser.h"
#include "weir/http/status.h"
#include "weir/io/buffer.h"
#include "weir/io/stream.h"
#include "weir/io/task.h"

namespace weir::server {
namespace {

constexpr std::size_t kReadSize = 16384;
constexpr auto kHeadTimeout = std::chrono::seconds(10);
constexpr auto kBodyTimeout = std::chrono::seconds(30);
constexpr auto kIdleTimeout = std::chrono::seconds(60);
constexpr auto kWriteTimeout = std::chrono::seconds(30);

std::string text_of(const io::SocketAddress& peer) {
  const auto address = peer.ip();
  return address ? address->to_string() : "unix";
}

}  // namespace

// One connection: a coroutine that reads a request, calls the handler, writes the answer, and starts over.
class Server::Session final : public io::Retired {
 public:
  Session(Server& server, io::Acceptor::Accepted accepted)
      : server_(server),
        peer_(text_of(accepted.peer)),
        stream_(server.loop_, std::move(accepted.socket), &wake_),
        timer_(server.loop_.timers(), wake_) {}

  io::Detached run();
  // Ends an idle session; a busy one sees `closing_` when it is done.
  void close_if_idle() {
    if (idle_) stop();
  }

 private:
  io::Task<bool> read_head();
  io::Task<bool> read_body();
  io::Task<bool> fill();
  io::Task<bool> write(std::string_view bytes);
  bool take_payload(std::string_view payload);
  std::string compose(const Answer& answer, bool keep_alive) const;
  void stop() {
    stopped_ = true;
    wake_.notify();
  }
  void arm(nanoseconds timeout) { timer_.set(server_.loop_.now() + timeout); }

  Server& server_;
  const std::string peer_;
  io::Waiter wake_;
  io::Stream stream_;
  io::Timer timer_;
  io::Buffer in_;
  http::RequestParser parser_{http::RequestRules{}};
  std::string head_bytes_;
  std::string body_;
  std::uint64_t body_size_ = 0;
  http::Rejection rejection_;
  bool rejected_ = false;
  bool idle_ = true;
  bool stopped_ = false;
};

io::Detached Server::Session::run() {
  while (!stopped_ && co_await read_head()) {
    Answer answer;
    std::optional<Answer> refusal;
    if (!rejected_ && server_.options_.refuse) refusal = server_.options_.refuse(parser_.head());
    const bool has_body = !rejected_ && parser_.head().body.kind != http::BodyKind::kNone;
    bool keep_alive = !rejected_ && parser_.head().keep_alive && !server_.closing_ && !(refusal && has_body);
    if (!rejected_ && !refusal) keep_alive = co_await read_body() && keep_alive && !rejected_;
    if (refusal) {
      answer = *std::move(refusal);
    } else if (rejected_) {
      answer.status = rejection_.status;
      answer.body = fmt::format("{}\n", rejection_.detail);
    } else if (stopped_) {
      break;
    } else {
      timer_.clear();  // however long the handler takes
      const Request request{parser_.head(), body_, body_size_, peer_};
      io::Task<Answer> answering = server_.handler_(request);
      answer = co_await answering;
    }
    const std::string bytes = compose(answer, keep_alive);
    if (!co_await write(bytes) || !keep_alive || server_.closing_) break;
    parser_.reset();
  }
  stream_.close();
  server_.loop_.forget(wake_);
  auto& sessions = server_.sessions_;
  const auto self = std::ranges::find_if(sessions, [this](const auto& other) { return other.get() == this; });
  server_.loop_.retire(std::move(*self));
  sessions.erase(self);
}

io::Task<bool> Server::Session::fill() {
  for (;;) {
    const auto room = in_.reserve(kReadSize);
    const auto got = stream_.receive(room);
    if (got.status == io::Transfer::kDone) {
      in_.commit(got.bytes);
      co_return true;
    }
    if (got.status != io::Transfer::kWouldBlock || stopped_ || !timer_.is_set()) co_return false;
    co_await wake_;
    if (stopped_ || !timer_.is_set()) co_return false;
  }
}

io::Task<bool> Server::Session::read_head() {
  body_.clear();
  body_size_ = 0;
  rejected_ = false;
  idle_ = in_.empty();
  arm(idle_ ? nanoseconds(kIdleTimeout) : nanoseconds(kHeadTimeout));
  for (;;) {
    (void)in_.reserve(io::Buffer::kSlack);
    const auto parsed = parser_.parse(in_.view());
    if (parsed == http::Parsed::kRejected) {
      rejected_ = true;
      rejection_ = parser_.rejection();
      co_return true;
    }
    if (parsed == http::Parsed::kComplete) break;
    if (!in_.empty() && idle_) arm(kHeadTimeout);
    if (!in_.empty()) idle_ = false;
    if (!co_await fill()) co_return false;
  }
  idle_ = false;
  head_bytes_.assign(parser_.head().bytes);  // the buffer moves while the body is read
  in_.consume(parser_.consumed());
  parser_.head().rebase(head_bytes_);
  co_return true;
}

bool Server::Session::take_payload(std::string_view payload) {
  body_size_ += payload.size();
  body_.append(payload.substr(0, server_.options_.kept_body - std::min(server_.options_.kept_body, body_.size())));
  if (!server_.options_.refuse_larger_bodies || body_size_ <= server_.options_.kept_body) return true;
  rejected_ = true;
  rejection_ = {413, "body-too-large", "The body is larger than this endpoint takes."};
  return false;
}

io::Task<bool> Server::Session::read_body() {
  const http::RequestHead& head = parser_.head();
  if (head.body.kind == http::BodyKind::kNone) co_return true;
  if (head.expects_continue && in_.empty() && !co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  std::uint64_t left = head.body.length;
  http::ChunkedDecoder decoder;
  arm(kBodyTimeout);
  for (;;) {
    if (head.body.kind == http::BodyKind::kLength) {
      const std::string_view payload = in_.view().substr(0, std::min<std::uint64_t>(left, in_.size()));
      if (!take_payload(payload)) co_return false;
      left -= payload.size();
      in_.consume(payload.size());
      if (left == 0) co_return true;
    } else {
      const auto step = decoder.next(in_.view());
      if (!take_payload(step.payload)) co_return false;
      in_.consume(step.consumed);
      if (step.state == http::Parsed::kComplete) co_return true;
      if (step.state == http::Parsed::kRejected) {
        rejected_ = true;
        rejection_ = decoder.rejection();
        co_return false;
      }
      if (!step.payload.empty() || step.consumed > 0) continue;
    }
    if (!co_await fill()) {
      stopped_ = true;
      co_return false;
    }
  }
}

io::Task<bool> Server::Session::write(std::string_view bytes) {
  arm(kWriteTimeout);
  while (!bytes.empty()) {
    const auto sent = stream_.send(bytes);
    if (sent.status == io::Transfer::kBroken) co_return false;
    bytes.remove_prefix(sent.bytes);
    if (bytes.empty()) break;
    co_await wake_;
    if (!timer_.is_set()) co_return false;
  }
  co_return true;
}

std::string Server::Session::compose(const Answer& answer, bool keep_alive) const {
  std::string out =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\nServer: weir\r\nContent-Type: {}\r\n", answer.status,
                  http::reason_phrase(answer.status), http::imf_date(server_.loop_.wall()), answer.content_type);
  for (const auto& [name, value] : answer.fields) fmt::format_to(std::back_inserter(out), "{}: {}\r\n", name, value);
  if (!keep_alive) out += "Connection: close\r\n";
  fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n\r\n", answer.body.size());
  const bool head_only = !rejected_ && parser_.head().method_id == http::Method::kHead;
  if (!head_only) out += answer.body;
  return out;
}

Server::Server(io::EventLoop& loop, Options options, Handler handler)
    : loop_(loop), options_(std::move(options)), handler_(std::move(handler)) {}

Server::~Server() = default;

Result<void> Server::listen(const io::SocketAddress& address) {
  auto socket = io::open_listener(address, io::Sharing::kAlone);
  if (!socket) return std::unexpected(socket.error());
  acceptors_.push_back(std::make_unique<io::Acceptor>(
      loop_, std::move(*socket),
      [this](io::Acceptor::Accepted accepted) {
        sessions_.push_back(std::make_unique<Session>(*this, std::move(accepted)));
        sessions_.back()->run();
      },
      [this] { return sessions_.size() < options_.most_connections; }));
  return {};
}

void Server::close() {
  closing_ = true;
  for (auto& acceptor : acceptors_) acceptor->close();
  for (std::size_t i = sessions_.size(); i-- > 0;) sessions_[i]->close_if_idle();
}

}  // namespace weir::server
