// SPDX-License-Identifier: Apache-2.0
//
// A server for tests that blocks on a thread of its own, speaks in clear or through TLS, and serves one connection on
// a port that was free. Thread safety: what serves runs on the server's thread; the rest is for the test's thread.
#pragma once

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "weir/io/acceptor.h"
#include "weir/io/testing/certificates.h"
#include "weir/io/tls_context.h"

namespace weir::io::testing {

// The server's end of the connection.
class Peer {
 public:
  Peer(Descriptor socket, SSL_CTX* tls) : socket_(std::move(socket)) {
    if (tls == nullptr) return;
    session_.reset(SSL_new(tls));
    SSL_set_fd(session_.get(), socket_.get());
    ERR_clear_error();
    if (SSL_accept(session_.get()) != 1) fault_ = take_tls_fault();
  }

  SSL* session() { return session_.get(); }
  const std::string& fault() const { return fault_; }

  // 0: it ended, however.
  std::size_t read(std::span<char> room) {
    const auto size = static_cast<int>(room.size());
    const ssize_t got =
        session_ ? SSL_read(session_.get(), room.data(), size) : ::recv(socket_.get(), room.data(), room.size(), 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  std::string read_all() {
    std::string all;
    std::string room(16384, ' ');
    while (const std::size_t got = read(room)) all.append(room, 0, got);
    return all;
  }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = session_ ? SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()))
                                    : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void echo() {
    std::string room(20000, ' ');
    while (const std::size_t got = read(room)) {
      if (!write({room.data(), got})) return;
    }
  }

  // The client has ended in order, as far as reading has told.
  bool saw_end() const { return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }
  void end() {
    if (session_) SSL_shutdown(session_.get());
    cut();
  }
  void cut() { ::shutdown(socket_.get(), SHUT_WR); }
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    socket_.close();
  }

 private:
  Descriptor socket_;
  std::unique_ptr<SSL, Free<SSL_free>> session_;
  std::string fault_;
};

class ByteServer {
 public:
  using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;

  // Context is null: in clear. `serve` is called for a client that could not shake hands too.
  ByteServer(Context context, std::function<void(Peer&)> serve)
      : context_(std::move(context)),
        listener_(std::move(*open_listener(*SocketAddress::literal("127.0.0.1", 0), Sharing::kAlone))),
        serve_(std::move(serve)) {
    ::fcntl(listener_.get(), F_SETFL, 0);
    thread_ = std::thread([this] { run(); });
  }
  ~ByteServer() {
    if (!thread_.joinable()) return;
    ::shutdown(listener_.get(), SHUT_RDWR);  // wakes one that nobody has come to
    thread_.join();
  }
  ByteServer(const ByteServer&) = delete;
  ByteServer& operator=(const ByteServer&) = delete;

  static Context tls(const Identity& identity, int newest = 0) {
    Context context(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context.get(), identity.certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), identity.key.get());
    SSL_CTX_set_security_level(context.get(), 0);  // so that it offers what is old where a test asks for that
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), newest);
    return context;
  }

  SocketAddress address() const { return SocketAddress::of_socket(listener_.get()); }
  // Until it has served. Requires: a client has connected.
  void wait() { thread_.join(); }

 private:
  void run() {
    Descriptor socket(::accept(listener_.get(), nullptr, nullptr));
    if (!socket.is_open()) return;
    Peer peer(std::move(socket), context_.get());
    serve_(peer);
  }

  Context context_;
  Descriptor listener_;
  std::function<void(Peer&)> serve_;
  std::thread thread_;
};

}  // namespace weir::io::testing
