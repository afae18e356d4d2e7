// SPDX-License-Identifier: Apache-2.0
//
// What is known of the policies, on disk: a line for each record, and a last line that says how many there are and
// what they hash to, so that half a file is never believed. It is written beside the old one, which it then replaces.
// Nobody but the owner may read it. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <string>

#include "weir/base/result.h"
#include "weir/lookup/cache.h"

namespace weir::lookup {

Result<void> write_snapshot(const std::string& path, const Cache& cache);
// Puts what is in there into the cache; all of it has expired. Returns how much; a file that is not there has
// nothing.
Result<std::size_t> read_snapshot(const std::string& path, Cache& cache);

}  // namespace weir::lookup
