// SPDX-License-Identifier: Apache-2.0
#include "weir/route/path.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>
#include <string>
#include <vector>

namespace weir::route {
namespace {

std::string normal(std::string_view path, Reading reading = kPlain) {
  std::string decoded(path);
  if ((reading & kDecoded) && !decode_fully(path, decoded)) return "control byte";
  std::string out;
  return normalise(decoded, reading, out) ? out : "above the root";
}

TEST(PathTest, ThePlainReadingFollowsRfc3986) {
  const struct {
    std::string_view path, normal;
  } kRows[] = {
      {"/", "/"},
      {"/a", "/a"},
      {"//a", "/a"},
      {"/./a", "/a"},
      {"/b/../a", "/a"},
      {"/%61", "/a"},
      {"/a/", "/a"},
      {"/a//b///c", "/a/b/c"},
      {"/a/.", "/a"},
      {"/a/..", "/"},
      {"/a/b/../..", "/"},
      {"/a/%2e%2E/b", "/b"},
      {"/a/%2e/b", "/a/b"},
      {"/...", "/..."},
      {"/.a/..b", "/.a/..b"},
      {"/%7Euser/%2D%5f%2e%41", "/~user/-_.A"},
      {"/a%2fb", "/a%2Fb"},
      {"/a%252fb", "/a%252fb"},
      {"/a%3ab", "/a%3Ab"},
      {"/a;v=1,2", "/a;v=1,2"},
      {"/..;/a", "/..;/a"},
      {"/a\"<>^`{|}[]", "/a%22%3C%3E%5E%60%7B%7C%7D%5B%5D"},
      {"/caf\xC3\xA9", "/caf%C3%A9"},
      {"/caf%c3%a9", "/caf%C3%A9"},
      {"/..", "above the root"},
      {"/a/../..", "above the root"},
      {"/%2e%2e/a", "above the root"},
      {"/a/../../a", "above the root"},
  };
  for (const auto& row : kRows) EXPECT_EQ(normal(row.path), row.normal) << row.path;
}

TEST(PathTest, EveryLibertyReadsItsOwnBytes) {
  const struct {
    std::string_view path;
    Reading reading;
    std::string_view normal;
  } kRows[] = {
      {"/a%2Fb", kSlash, "/a/b"},
      {"/a%2fb%5Cc", kSlash, "/a/b%5Cc"},
      {"/a%2F..%2Fb", kSlash, "/b"},
      {"/a%5cb", kBackslash, "/a/b"},
      {"/a\\b", kBackslash, "/a/b"},
      {"/a;x/b;y=1", kParameters, "/a/b"},
      {"/..;/a", kParameters, "above the root"},
      {"/b/..;x/a", kParameters, "/a"},
      {"/a%3Bx", kParameters, "/a%3Bx"},
      {"/a%3Bx", kParameters | kDecoded, "/a"},
      {"/a%3ab", kDecoded, "/a:b"},
      {"/a%2Fb", kDecoded, "/a%2Fb"},
      {"/a%252Fb", kDecoded, "/a%2Fb"},
      {"/a%25252Fb", kDecoded | kSlash, "/a/b"},
      {"/%252e%252e/a", kDecoded, "above the root"},
      {"/%25%32%65", kDecoded, "/"},
      {"/100%25", kDecoded, "/100%25"},
      {"/100%25%", kDecoded, "/100%25%25"},
      {"/a%2500", kDecoded, "control byte"},
      {"/a//../b", kEmpty, "/a/b"},
      {"/a//../b", kPlain, "/b"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(normal(row.path, row.reading), row.normal) << row.path << " " << int{row.reading};
  }
}

TEST(PathTest, InspectionTellsOrdinaryPathsFromOthers) {
  const struct {
    std::string_view path;
    PathShape shape;
    Reading doubts;
  } kRows[] = {
      {"/", PathShape::kOrdinary, kPlain},
      {"/api/v1/users/42/", PathShape::kOrdinary, kPlain},
      {"/a.b-c_d~e/f:g@h!$&'()*+,=", PathShape::kOrdinary, kPlain},
      {"//", PathShape::kUnusual, kPlain},
      {"/.a", PathShape::kUnusual, kPlain},
      {"/%61", PathShape::kUnusual, kPlain},
      {"/a b", PathShape::kUnusual, kPlain},
      {"/%20%7C", PathShape::kUnusual, kPlain},
      {"/a;b", PathShape::kUnusual, kParameters},
      {"/a%2fb", PathShape::kUnusual, kSlash},
      {"/a%5Cb", PathShape::kUnusual, kBackslash},
      {"/a%3Ab", PathShape::kUnusual, kDecoded},
      {"/a%25b", PathShape::kUnusual, kDecoded},
      {"/a//../b", PathShape::kUnusual, kEmpty},
      {"/a%2f..%2fb", PathShape::kUnusual, kSlash | kEmpty},
      {"/a%00", PathShape::kBad, kPlain},
      {"/a%1F", PathShape::kBad, kPlain},
      {"/a%7f", PathShape::kBad, kPlain},
      {"/a\x01", PathShape::kBad, kPlain},
      {"/a\x7F", PathShape::kBad, kPlain},
      {"/%", PathShape::kBad, kPlain},
      {"/%4", PathShape::kBad, kPlain},
      {"/%4g", PathShape::kBad, kPlain},
      {"/%zz", PathShape::kBad, kPlain},
      {"/%%41", PathShape::kBad, kPlain},
  };
  for (const auto& row : kRows) {
    const Inspection seen = inspect(row.path);
    EXPECT_EQ(seen.shape, row.shape) << row.path;
    if (seen.shape == PathShape::kBad) continue;
    EXPECT_EQ(seen.doubts, row.doubts) << row.path;
  }
}

// Paths made of the bytes that matter, so that they meet often.
std::string random_path(std::mt19937& random) {
  constexpr std::string_view kParts[] = {"/",   "/",   "..", ".",  "a",  "b",  ";",   "%2e", "%2F", "%5C", "%25",
                                         "%41", "%3B", "\"", "\\", "2f", "5c", "%c3", ":",   "%3A", "{"};
  std::string path = "/";
  std::uniform_int_distribution<std::size_t> part(0, std::size(kParts) - 1);
  for (std::size_t left = std::uniform_int_distribution<std::size_t>(0, 12)(random); left > 0; --left) {
    path += kParts[part(random)];
  }
  return path;
}

TEST(PathTest, NormalisingTwiceIsNormalisingOnce) {
  std::mt19937 random(7);
  std::size_t compared = 0;
  for (int round = 0; round < 50'000; ++round) {
    const std::string path = random_path(random);
    std::string once;
    std::string twice;
    if (inspect(path).shape == PathShape::kBad || !normalise(path, kPlain, once)) continue;
    ASSERT_TRUE(normalise(once, kPlain, twice)) << path;
    ASSERT_EQ(once, twice) << path;
    ++compared;
  }
  EXPECT_GT(compared, 10'000U);
}

TEST(PathTest, AnOrdinaryPathIsItsOwnNormalFormInEveryReading) {
  std::mt19937 random(11);
  std::size_t compared = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string path = random_path(random);
    if (inspect(path).shape != PathShape::kOrdinary) continue;
    for (unsigned reading = 0; reading < 32; ++reading) {
      if (path.size() > 1 && path.ends_with('/')) path.pop_back();
      ASSERT_EQ(normal(path, static_cast<Reading>(reading)), path) << reading;
    }
    ++compared;
  }
  EXPECT_GT(compared, 250U);
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// Decodes all escapes at once, and again, as long as something changes.
std::string decode_in_rounds(std::string text) {
  for (;;) {
    std::string next;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool escape = text[at] == '%' && at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
      if (escape) {
        const char byte = static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
        next += byte == '/' ? kEscapedSlash : byte;
        at += 2;
      } else {
        next += text[at];
      }
    }
    if (next == text) return text;
    text = next;
  }
}

TEST(PathTest, DecodingInOnePassEqualsDecodingInRounds) {
  std::mt19937 random(13);
  std::size_t compared = 0;
  for (int round = 0; round < 50'000; ++round) {
    const std::string path = random_path(random);
    std::string decoded;
    if (inspect(path).shape == PathShape::kBad || !decode_fully(path, decoded)) continue;
    ASSERT_EQ(decoded, decode_in_rounds(path)) << path;
    ++compared;
  }
  EXPECT_GT(compared, 10'000U);
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> all;
  for (auto segment = take_segment(path); !segment.empty(); segment = take_segment(path)) all.emplace_back(segment);
  return all;
}

TEST(PathTest, DoubtsCoverEveryReadingThatDiffers) {
  std::mt19937 random(17);
  std::size_t differing = 0;
  for (int round = 0; round < 10'000; ++round) {
    const std::string path = random_path(random);
    const Inspection seen = inspect(path);
    std::string decoded;
    if (seen.shape == PathShape::kBad || !decode_fully(path, decoded)) continue;
    Reading doubts = seen.doubts;
    if (doubts & kDecoded) doubts |= doubts_of_decoded(decoded);
    for (unsigned reading = 1; reading < 32; ++reading) {
      const auto full = segments(normal(path, static_cast<Reading>(reading)));
      differing += full != segments(normal(path));
      ASSERT_EQ(full, segments(normal(path, static_cast<Reading>(reading & doubts)))) << path << " " << reading;
    }
  }
  EXPECT_GT(differing, 1'000U);
}

}  // namespace
}  // namespace weir::route
