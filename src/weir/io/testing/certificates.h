// SPDX-License-Identifier: Apache-2.0
//
// Certificates for tests: an authority, what it issues, and the file that makes others trust it. Valid for a day
// unless told otherwise. Thread safety: immutable once made.
#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

namespace weir::io::testing {

template <auto Function>
struct Free {
  template <class T>
  void operator()(T* object) const {
    Function(object);
  }
};

using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;

struct Identity {
  Key key;
  Certificate certificate;
};

struct Validity {
  long from = -3600;  // seconds from now
  long until = 86400;
};

class Authority {
 public:
  Authority() {
    own_.key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    own_.certificate = sign("Authority of a test", *own_.key, {});
    extend(NID_basic_constraints, "critical,CA:TRUE", *own_.certificate);
    finish(*own_.certificate);
  }

  // `names` as OpenSSL writes them: "DNS:redis.test,IP:127.0.0.1".
  Identity issue(const std::string& names, Validity validity = {}) const {
    Identity made;
    made.key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    made.certificate = sign("Server of a test", *made.key, validity);
    extend(NID_subject_alt_name, names, *made.certificate);
    finish(*made.certificate);
    return made;
  }

  void write(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, own_.certificate.get());
    std::fclose(file);
  }

 private:
  Certificate sign(const std::string& name, EVP_PKEY& key, Validity validity) const {
    Certificate made(X509_new());
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), validity.from);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), validity.until);
    X509_set_pubkey(made.get(), &key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    const X509* issuer = own_.certificate ? own_.certificate.get() : made.get();
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
    return made;
  }

  static void extend(int kind, const std::string& value, X509& certificate) {
    X509_EXTENSION* extension = X509V3_EXT_nconf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(&certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  void finish(X509& certificate) const { X509_sign(&certificate, own_.key.get(), EVP_sha256()); }

  Identity own_;
  mutable long serial_ = 0;
};

}  // namespace weir::io::testing
