// SPDX-License-Identifier: Apache-2.0
//
// What we use of libjose. Its headers are C and do not say so; those that they include do.
#pragma once

#include <jansson.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>

extern "C" {
#include <jose/b64.h>
#include <jose/jwk.h>
#include <jose/openssl.h>
}
