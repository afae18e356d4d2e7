// SPDX-License-Identifier: Apache-2.0
//
// The client's side of one TLS connection without its socket: what came in is fed, what is to leave is appended to a
// buffer. Plaintext is what the protocol above says, ciphertext what the wire carries. Every call may append to the
// buffer, also one that reads (alerts, key updates). Thread safety: a plain resource.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weir/io/buffer.h"
#include "weir/io/stream.h"
#include "weir/io/tls_context.h"

struct ssl_st;

namespace weir::io {

class TlsSession {
 public:
  // The server's certificate has to be for `server_name`, a host name or an IP address. A name that nothing can be
  // verified against shows as a handshake that is kBroken. `out` outlives the session.
  TlsSession(const TlsContext& context, std::string_view server_name, Buffer& out);

  // Ciphertext as it came. Requires: the last call of handshake() or read() said kWouldBlock, so that no more than
  // this is held.
  void feed(std::span<const char> ciphertext);

  // kWouldBlock: needs to be fed.
  Transfer handshake();
  // Requires: the handshake is done, as for all below; `room` is not empty. kWouldBlock: needs to be fed; kEnded: the
  // server has said that it ends.
  Transferred read(std::span<char> room);
  // All of it becomes ciphertext now. Every call makes records of its own. False: kBroken.
  bool write(std::string_view plaintext);
  // Says that nothing more follows.
  void end();

  // Why it is kBroken.
  const std::string& fault() const { return fault_; }

 private:
  struct Free {
    void operator()(ssl_st* session) const;
  };

  bool prepare(const TlsContext& context, std::string_view server_name);
  bool expect(std::string_view server_name);
  Transfer outcome(int result);
  void drain();

  std::unique_ptr<ssl_st, Free> session_;
  Buffer& out_;
  std::string fault_;
};

}  // namespace weir::io
