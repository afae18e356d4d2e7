// SPDX-License-Identifier: Apache-2.0
//
// For tests: a real MariaDB server on a free port of the loopback, with its data in a folder of its own, that ends
// with its object (and with the thread that started it). What goes wrong here is thrown, so that the test fails.
// Thread safety: none.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "weir/base/testing/process.h"
#include "weir/sql/connection.h"

namespace weir::sql::testing {

inline bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator(stream), {}};
}

// The server refuses to run as root unless that is said.
inline void add_user(std::vector<std::string>& arguments) {
  if (::geteuid() == 0) arguments.emplace_back("--user=root");
}

class MariaDbServer {
 public:
  static constexpr const char* kUser = "weir";
  static constexpr const char* kPassword = "s/ecret@";
  static constexpr const char* kDatabase = "weir";

  // Are mariadbd and mariadb-install-db in the PATH?
  static bool available();

  // Returns once the server answers and has the user and the database. `more`: its arguments that differ from those
  // of a small server for tests.
  explicit MariaDbServer(std::vector<std::string> more = {});
  ~MariaDbServer();
  MariaDbServer(const MariaDbServer&) = delete;
  MariaDbServer& operator=(const MariaDbServer&) = delete;

  // Of the user above, who may do everything.
  Settings settings() const;
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return process_.pid(); }

  // Ends the process at once; restart() continues with its data, on the same port.
  void kill() { process_.kill(); }
  void restart();
  // The process stands still: connections are accepted by the kernel, and nothing answers.
  void stop() { process_.stop(); }
  void cont() { process_.cont(); }
  // A database without tables, in place of the one that was there.
  void clear();

 private:
  void install();
  void start();
  bool came_up();
  std::vector<std::string> arguments() const;

  const std::vector<std::string> more_;
  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  weir::testing::Process process_;
};

inline bool MariaDbServer::available() { return in_path("mariadbd") && in_path("mariadb-install-db"); }

inline MariaDbServer::MariaDbServer(std::vector<std::string> more) : more_(std::move(more)) {
  std::string folder = std::filesystem::temp_directory_path() / "weir-mariadb-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot create " + folder);
  folder_ = folder;
  install();
  start();
}

inline MariaDbServer::~MariaDbServer() {
  process_.kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

inline Settings MariaDbServer::settings() const {
  Settings settings;
  settings.host = "127.0.0.1";
  settings.port = port_;
  settings.user = kUser;
  settings.password = kPassword;
  settings.database = kDatabase;
  return settings;
}

inline void MariaDbServer::restart() {
  kill();
  process_.start(arguments(), folder_ / "log");
  weir::testing::eventually("the restart of mariadbd", [&] {
    if (process_.ended()) throw std::runtime_error(content_of(folder_ / "log"));
    return open(settings()).has_value();
  });
}

inline void MariaDbServer::clear() {
  auto connection = open(settings());
  if (!connection) throw std::runtime_error(connection.error().message);
  for (const char* statement : {"DROP DATABASE weir", "CREATE DATABASE weir"}) {
    if (auto done = (*connection)->execute(statement); !done) throw std::runtime_error(done.error().message);
  }
}

inline void MariaDbServer::install() {
  std::ofstream(folder_ / "init.sql") << "CREATE DATABASE IF NOT EXISTS weir;\n"
                                         "CREATE USER IF NOT EXISTS 'weir'@'%' IDENTIFIED BY 's/ecret@';\n"
                                         "GRANT ALL ON *.* TO 'weir'@'%';\n"
                                         "DELETE FROM mysql.global_priv WHERE User = '';\nFLUSH PRIVILEGES;\n";
  std::vector<std::string> arguments{"mariadb-install-db", "--no-defaults",
                                     "--datadir=" + (folder_ / "data").string(), "--skip-test-db",
                                     "--auth-root-authentication-method=normal"};
  add_user(arguments);
  weir::testing::Process installer;
  installer.start(arguments, folder_ / "log");
  weir::testing::eventually("the tables of MariaDB itself", [&] { return installer.ended(); });
}

inline void MariaDbServer::start() {
  for (int tries = 0; tries < 8; ++tries) {
    port_ = weir::testing::FreePort().number();
    if (came_up()) return;  // or somebody else took the port meanwhile
  }
  throw std::runtime_error("mariadbd does not start:\n" + content_of(folder_ / "log"));
}

inline bool MariaDbServer::came_up() {
  process_.start(arguments(), folder_ / "log");
  bool up = false;
  weir::testing::eventually("an answer of mariadbd", [&] {
    up = open(settings()).has_value();
    return up || process_.ended();
  });
  return up;
}

inline std::vector<std::string> MariaDbServer::arguments() const {
  std::vector<std::string> all{"mariadbd",
                               "--no-defaults",
                               "--datadir=" + (folder_ / "data").string(),
                               "--socket=" + (folder_ / "socket").string(),
                               "--pid-file=" + (folder_ / "pid").string(),
                               "--init-file=" + (folder_ / "init.sql").string(),
                               "--bind-address=127.0.0.1",
                               "--port=" + std::to_string(port_),
                               "--innodb-buffer-pool-size=16M",
                               "--innodb-log-file-size=8M",
                               "--performance-schema=OFF",
                               "--skip-log-bin",
                               "--skip-name-resolve"};
  add_user(all);
  all.insert(all.end(), more_.begin(), more_.end());
  return all;
}

}  // namespace weir::sql::testing
