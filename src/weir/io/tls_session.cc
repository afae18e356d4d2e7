// SPDX-License-Identifier: Apache-2.0
#include "weir/io/tls_session.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "weir/base/ip.h"

namespace weir::io {

void TlsSession::Free::operator()(ssl_st* session) const { ::SSL_free(session); }

TlsSession::TlsSession(const TlsContext& context, std::string_view server_name, Buffer& out)
    : session_(::SSL_new(context.native())), out_(out) {
  if (server_name.ends_with('.')) server_name.remove_suffix(1);  // RFC 6066, section 3
  if (!prepare(context, server_name) && fault_.empty()) {
    fault_ = fmt::format("cannot begin a TLS session: {}", take_tls_fault());
  }
  ::ERR_clear_error();
}

bool TlsSession::prepare(const TlsContext& context, std::string_view server_name) {
  if (session_ == nullptr) return false;
  BIO* in = ::BIO_new(::BIO_s_mem());  // empty, it asks to be tried again
  BIO* out = ::BIO_new(::BIO_s_mem());
  ::SSL_set_bio(session_.get(), in, out);
  if (in == nullptr || out == nullptr) return false;
  ::SSL_set_connect_state(session_.get());
  if (context.verifies() && !expect(server_name)) return false;
  if (server_name.empty() || IpAddress::parse(server_name)) return true;
  std::string name(server_name);
  return ::SSL_ctrl(session_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

// OpenSSL takes an empty name for one that need not match and a leading dot for every name below it.
bool TlsSession::expect(std::string_view server_name) {
  X509_VERIFY_PARAM* rules = ::SSL_get0_param(session_.get());
  if (server_name.empty() || server_name.front() == '.' || server_name.contains('\0')) {
    fault_ = fmt::format("no certificate can be for the server name '{}'", server_name);
    return false;
  }
  if (IpAddress::parse(server_name)) {
    return ::X509_VERIFY_PARAM_set1_ip_asc(rules, std::string(server_name).c_str()) == 1;
  }
  ::X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return ::X509_VERIFY_PARAM_set1_host(rules, server_name.data(), server_name.size()) == 1;
}

void TlsSession::feed(std::span<const char> ciphertext) {
  if (!fault_.empty()) return;
  const int size = static_cast<int>(ciphertext.size());
  if (::BIO_write(::SSL_get_rbio(session_.get()), ciphertext.data(), size) != size) fault_ = "out of memory";
}

Transfer TlsSession::handshake() {
  if (!fault_.empty()) return Transfer::kBroken;
  ::ERR_clear_error();
  const int result = ::SSL_do_handshake(session_.get());
  const Transfer status = result == 1 ? Transfer::kDone : outcome(result);
  drain();
  return status;
}

Transferred TlsSession::read(std::span<char> room) {
  if (!fault_.empty()) return {Transfer::kBroken};
  ::ERR_clear_error();
  std::size_t bytes = 0;
  const int result = ::SSL_read_ex(session_.get(), room.data(), room.size(), &bytes);
  const Transfer status = result == 1 ? Transfer::kDone : outcome(result);
  drain();
  return {status, bytes};
}

bool TlsSession::write(std::string_view plaintext) {
  while (!plaintext.empty() && fault_.empty()) {
    ::ERR_clear_error();
    std::size_t bytes = 0;
    const int result = ::SSL_write_ex(session_.get(), plaintext.data(), plaintext.size(), &bytes);
    if (result != 1 && outcome(result) != Transfer::kBroken) fault_ = "TLS cannot send now";  // no memory BIO is full
    drain();
    plaintext.remove_prefix(bytes);
  }
  return fault_.empty();
}

void TlsSession::end() {
  if (!fault_.empty()) return;  // after a fault nothing may be said
  ::SSL_shutdown(session_.get());
  ::ERR_clear_error();
  drain();
}

// What came of a call that did not succeed.
Transfer TlsSession::outcome(int result) {
  const int error = ::SSL_get_error(session_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return Transfer::kWouldBlock;
  if (error == SSL_ERROR_ZERO_RETURN) return Transfer::kEnded;
  const bool refused = ERR_GET_REASON(::ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED &&
                       ERR_GET_LIB(::ERR_peek_error()) == ERR_LIB_SSL;
  fault_ = refused ? fmt::format("certificate verify failed: {}",
                                 ::X509_verify_cert_error_string(::SSL_get_verify_result(session_.get())))
                   : fmt::format("TLS: {}", take_tls_fault());
  ::ERR_clear_error();
  return Transfer::kBroken;
}

void TlsSession::drain() {
  BIO* ciphertext = ::SSL_get_wbio(session_.get());
  while (const std::size_t bytes = ::BIO_ctrl_pending(ciphertext)) {
    const int taken = ::BIO_read(ciphertext, out_.reserve(bytes).data(), static_cast<int>(bytes));
    if (taken <= 0) return;
    out_.commit(static_cast<std::size_t>(taken));
  }
}

}  // namespace weir::io
