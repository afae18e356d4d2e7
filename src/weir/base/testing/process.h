// SPDX-License-Identifier: Apache-2.0
//
// For tests: other programs that run beside the test, and waiting for them.
// Thread safety: none.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weir::testing {

// Asks `holds` again and again for some 30 seconds. Throws when it never held.
template <class Condition>
void eventually(const std::string& what, Condition holds) {
  for (int tries = 0; tries < 6000; ++tries) {
    if (holds()) return;
    ::poll(nullptr, 0, 5);
  }
  throw std::runtime_error(what + " did not come true");
}

// A port of the loopback that was free a moment ago. It is reserved until the object goes.
class FreePort {
 public:
  FreePort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, size) != 0 || ::getsockname(socket_, any, &size) != 0) {
      throw std::runtime_error("no free port");
    }
    number_ = ntohs(address.sin_port);
  }
  ~FreePort() { ::close(socket_); }
  FreePort(const FreePort&) = delete;
  FreePort& operator=(const FreePort&) = delete;

  std::uint16_t number() const { return number_; }

 private:
  int socket_;
  std::uint16_t number_ = 0;
};

// A program that ends with this object, and with the thread that started it: a test that crashes leaves nothing
// behind.
class Process {
 public:
  Process() = default;
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }  // 0 while there is none

  // Finds the program in the PATH. What it writes is added to `log`. Requires: there is none yet.
  void start(std::vector<std::string> arguments, const std::string& log) {
    std::vector<char*> argv;
    for (std::string& word : arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    // Between fork and exec only what a signal handler may do.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDOUT_FILENO);
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

  // Has it ended by itself?
  bool ended() {
    if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }

  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    wait(0);
    pid_ = 0;
    stopped_ = false;
  }

  // Both return when it has happened.
  void stop() {
    if (pid_ == 0 || std::exchange(stopped_, true)) return;
    ::kill(pid_, SIGSTOP);
    wait(WUNTRACED);
  }
  void cont() {
    if (!std::exchange(stopped_, false)) return;
    ::kill(pid_, SIGCONT);
    wait(WCONTINUED);
  }

 private:
  void wait(int flags) const {
    while (::waitpid(pid_, nullptr, flags) < 0 && errno == EINTR) {
    }
  }

  pid_t pid_ = 0;
  bool stopped_ = false;
};

}  // namespace weir::testing
