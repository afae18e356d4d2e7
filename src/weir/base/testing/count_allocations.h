// SPDX-License-Identifier: Apache-2.0
//
// For tests: counts the allocations of this program by replacing operator new. Included by one source file of a test
// program, named allocation_test.cc, which is left out where a sanitizer replaces the operator itself.
// Thread safety: the count may be read from any thread.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace weir::testing {
inline std::atomic<std::size_t> allocations{0};
}  // namespace weir::testing

// NOLINTBEGIN: the signatures are given. Not inlined, so that the compiler takes them for a matching pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++weir::testing::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND
