// SPDX-License-Identifier: Apache-2.0
#include "weir/io/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <system_error>

namespace weir::io {

void TlsContext::Free::operator()(ssl_ctx_st* context) const { ::SSL_CTX_free(context); }

Result<std::shared_ptr<TlsContext>> TlsContext::client(const Options& options) {
  ::ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(::SSL_CTX_new(::TLS_client_method()), options.verify));
  ssl_ctx_st* context = made->native();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    return invalid(fmt::format("cannot use TLS: {}", take_tls_fault()));
  }
  const bool loaded = options.ca_file.empty() ? ::SSL_CTX_set_default_verify_paths(context) == 1
                                              : ::SSL_CTX_load_verify_file(context, options.ca_file.c_str()) == 1;
  if (!loaded) {
    return invalid(fmt::format("cannot use the certificates of {}: {}",
                               options.ca_file.empty() ? "the system" : options.ca_file, take_tls_fault()));
  }
  ::ERR_clear_error();
  ::SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  // Idle connections hold no record buffers, and what is sent may have moved since it was first tried.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return made;
}

// The earliest note is the cause, those after it say who passed it on.
std::string take_tls_fault() {
  const unsigned long code = ::ERR_peek_error();
  ::ERR_clear_error();
  if (code == 0) return "unknown fault";
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = ::ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("fault {:x}", code);
}

}  // namespace weir::io
