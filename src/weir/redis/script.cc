// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/script.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace weir::redis {

Script::Script(std::string_view text) : text_(text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha1(), nullptr);
  for (unsigned int i = 0; i < size; ++i) sha1_ += fmt::format("{:02x}", digest[i]);
}

}  // namespace weir::redis
