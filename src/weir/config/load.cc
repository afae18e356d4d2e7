// SPDX-License-Identifier: Apache-2.0
#include "weir/config/load.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "weir/config/language.h"
#include "weir/config/yaml.h"

namespace weir::config {
namespace {

constexpr std::size_t kLargestFile = 16 << 20;

std::vector<Diagnostic> whole_file(const std::string& file, std::string message) {
  return {{.severity = Severity::kError,
           .file = file,
           .line = 0,
           .column = 0,
           .message = std::move(message),
           .source_line = {},
           .suggestion = {}}};
}

void read_config(const Tree& tree, Reader& reader, Config& config) {
  static const Node nothing{
      .kind = Node::Kind::kMap, .quoted = false, .place = {1, 1}, .text = {}, .items = {}, .entries = {}};
  const bool empty = tree.root == nullptr || tree.root->kind == Node::Kind::kNull;
  language().read(reader, empty ? nothing : *tree.root, config);
}

}  // namespace

std::expected<Loaded, std::vector<Diagnostic>> load_text(std::string_view text, const std::string& file_name,
                                                         const Environment& environment) {
  if (text.size() > kLargestFile) return std::unexpected(whole_file(file_name, "the file is larger than 16 MiB"));
  const Source source(file_name, text);
  Report report(source);
  Loaded loaded;
  loaded.config.admin = Admin{};
  if (const auto tree = parse_yaml(source, environment, report)) {
    Reader reader{.report = report, .folder = std::filesystem::path(file_name).parent_path()};
    read_config(*tree, reader, loaded.config);
  }
  const bool failed = report.errors() > 0;
  auto diagnostics = report.take();
  if (failed) return std::unexpected(std::move(diagnostics));
  loaded.warnings = std::move(diagnostics);
  return loaded;
}

std::expected<Loaded, std::vector<Diagnostic>> load_file(const std::string& path, const Environment& environment) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return std::unexpected(whole_file(path, "is a directory"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf()))) {
    const std::string why = errno != 0 ? std::strerror(errno) : "unknown reason";
    return std::unexpected(whole_file(path, "cannot be read: " + why));
  }
  return load_text(text.view(), path, environment);
}

}  // namespace weir::config
