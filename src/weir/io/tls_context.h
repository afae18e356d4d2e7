// SPDX-License-Identifier: Apache-2.0
//
// What all TLS connections of one kind to a server share: TLS 1.2 or newer, which authorities are trusted, and
// whether the server has to prove who it is. Immutable once made; sessions keep what they need of it, so that it may
// go before they do. Thread safety: any thread.
#pragma once

#include <memory>
#include <string>

#include "weir/base/result.h"

struct ssl_ctx_st;

namespace weir::io {

class TlsContext {
 public:
  struct Options {
    std::string ca_file = {};  // PEM; empty: the authorities that the system trusts
    bool verify = true;        // false: whoever answers is taken for the server
  };

  // kInvalid: a file that cannot be read or that holds no certificate.
  static Result<std::shared_ptr<TlsContext>> client(const Options& options);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  bool verifies() const { return verifies_; }
  ssl_ctx_st* native() const { return context_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };

  TlsContext(ssl_ctx_st* context, bool verifies) : context_(context), verifies_(verifies) {}

  std::unique_ptr<ssl_ctx_st, Free> context_;
  bool verifies_;
};

// What OpenSSL has noted for this thread, in words; forgets it. The note of one connection must not be found by the
// next, which would take it for its own.
std::string take_tls_fault();

}  // namespace weir::io
