// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language/algorithms.h"

#include <algorithm>
#include <array>

#include "weir/config/scalars.h"

namespace weir::config {
namespace {

struct Description {
  Algorithm algorithm;
  std::string_view word;
  std::string_view capacity;
};

constexpr std::array kDescriptions{Description{Algorithm::kTokenBucket, "token_bucket", "burst"},
                                   Description{Algorithm::kFixedWindow, "fixed_window", "count"},
                                   Description{Algorithm::kSlidingWindow, "sliding_window", "count"},
                                   Description{Algorithm::kSlidingLog, "sliding_log", "count"},
                                   Description{Algorithm::kLeakyBucket, "leaky_bucket", "burst"},
                                   Description{Algorithm::kConcurrency, "concurrency", "max"},
                                   Description{Algorithm::kCalendar, "calendar", "count"}};

const Description& describe(Algorithm algorithm) {
  return *std::ranges::find(kDescriptions, algorithm, &Description::algorithm);
}

}  // namespace

Type<Algorithm> algorithm() {
  std::vector<Word<Algorithm>> words;
  for (const Description& one : kDescriptions) words.push_back({std::string(one.word), one.algorithm});
  return choice<Algorithm>("algorithm", std::move(words));
}

std::string_view algorithm_word(Algorithm algorithm) { return describe(algorithm).word; }

std::string_view capacity_word(Algorithm algorithm) { return describe(algorithm).capacity; }

bool has_queue(const Limit& limit) { return limit.algorithm == Algorithm::kLeakyBucket && limit.queue > 0; }

bool takes_burst(const Limit& limit) {
  return limit.algorithm == Algorithm::kTokenBucket ||
         (limit.algorithm == Algorithm::kLeakyBucket && limit.queue == 0);
}

}  // namespace weir::config
