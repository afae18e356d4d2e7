// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/snapshot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/lookup/record_text.h"
#include "weir/partners/digest.h"

namespace weir::lookup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "weir policies 1";
constexpr std::string_view kLastLine = "end ";

// SHA-256 of all lines.
class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(std::string_view line) {
    EVP_DigestUpdate(context_.get(), line.data(), line.size());
    EVP_DigestUpdate(context_.get(), "\n", 1);
  }
  std::string text() {
    partners::KeyDigest bytes{};
    EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr);
    return partners::hex(bytes);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

// A new file that nobody else may read, whatever the umask.
class OwnFile {
 public:
  explicit OwnFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)),
        file_(descriptor_ < 0 ? nullptr : ::fdopen(descriptor_, "w")) {}
  ~OwnFile() { close(); }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  void write(const std::string& line) {
    good_ = good_ && file_ != nullptr && std::fwrite(line.data(), 1, line.size(), file_) == line.size() &&
            std::fputc('\n', file_) != EOF;
  }
  // True when all of it is on disk.
  bool close() {
    if (file_ == nullptr) return good_ = false;
    good_ = good_ && std::fflush(file_) == 0 && ::fsync(descriptor_) == 0;
    good_ = std::fclose(std::exchange(file_, nullptr)) == 0 && good_;
    return good_;
  }

 private:
  int descriptor_;
  std::FILE* file_;
  bool good_ = true;
};

Error fault(const std::string& path, std::string_view what) {
  return {ErrorKind::kUnavailable, Origin::kSelf, fmt::format("the snapshot {} {}", path, what)};
}

Error system_fault(const std::string& path, std::string_view what) {
  return fault(path, fmt::format("{}: {}", what, std::strerror(errno)));
}

// A name may hold a space, but no tab and no line break (partners/validate.h).
std::string line_of(const partners::Subject& subject, const partners::Record& record, std::int64_t revision) {
  return name_of(subject) + '\t' + text_of({.record = record, .revision = revision, .at = {}});
}

struct Entry {
  partners::Subject subject;
  Said said;
};

std::optional<Entry> entry_of(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  auto subject = subject_of(line.substr(0, tab));
  auto said = said_of(line.substr(tab + 1));
  if (!subject || !said) return std::nullopt;
  return Entry{*std::move(subject), *std::move(said)};
}

}  // namespace

Result<void> write_snapshot(const std::string& path, const Cache& cache) {
  const std::string fresh = path + ".new";
  std::error_code ignored;
  fs::remove(fresh, ignored);
  OwnFile file(fresh);
  Digest digest;
  const auto write = [&](const std::string& line) {
    digest.add(line);
    file.write(line);
  };
  write(std::string(kFirstLine));
  cache.each([&](const auto& subject, const auto& record, std::int64_t revision) {
    write(line_of(subject, record, revision));
  });
  file.write(std::string(kLastLine) + digest.text());
  if (!file.close()) return std::unexpected(system_fault(path, "cannot be written"));
  std::error_code error;
  fs::rename(fresh, path, error);
  if (error) return std::unexpected(fault(path, fmt::format("cannot be replaced: {}", error.message())));
  return {};
}

Result<std::size_t> read_snapshot(const std::string& path, Cache& cache) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return 0;
    return std::unexpected(system_fault(path, "cannot be read"));
  }
  std::string line;
  Digest digest;
  std::vector<Entry> entries;
  if (!std::getline(file, line) || line != kFirstLine) return std::unexpected(fault(path, "is none of this version"));
  digest.add(line);
  while (std::getline(file, line) && !line.starts_with(kLastLine)) {
    digest.add(line);
    if (auto entry = entry_of(line)) entries.push_back(*std::move(entry));
  }
  if (line != std::string(kLastLine) + digest.text()) return std::unexpected(fault(path, "is damaged"));
  for (Entry& entry : entries) cache.restore(entry.subject, std::move(entry.said.record), entry.said.revision);
  return entries.size();
}

}  // namespace weir::lookup
