// SPDX-License-Identifier: Apache-2.0
#include "weir/base/sha256.h"

#include <openssl/evp.h>

#include <cstdlib>

namespace weir {

Sha256 sha256(std::string_view bytes) {
  // SHA256() would look for the algorithm each time, under a lock of the whole process, which costs more than it
  // does.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Sha256 digest;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) != 1) std::abort();
  return digest;
}

}  // namespace weir
