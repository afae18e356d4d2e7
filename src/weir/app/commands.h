// SPDX-License-Identifier: Apache-2.0
//
// The commands of the binary, one file each. Every command returns the process's exit code.
#pragma once

#include <optional>
#include <string>

#include "weir/explain/request_text.h"
#include "weir/io/transfer_batch.h"

namespace weir::app {

// Exit codes (78 is EX_CONFIG of sysexits.h).
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,  // a check failed, or the process could not go on
  kWrongUsage = 2,
  kUnusableConfiguration = 78,
};

// weir run [--io auto|epoll|io_uring] FILE: the gateway, until SIGTERM or SIGINT. SIGHUP reloads, SIGUSR1 opens the
// logs anew.
int run_gateway(const std::string& file, io::SocketCalls calls);

// weir check FILE [--json]: every fault of a configuration.
int check_configuration(const std::string& file, bool json);

// weir schema: JSON Schema of the configuration on standard output.
int print_schema();

// weir echo --address HOST:PORT: a demo upstream that answers with the request as it arrived.
int run_echo(const std::string& address);

// weir inspect FILE ACCOUNT [--json]: what is counted in an account of the shared store.
int inspect_account(const std::string& file, const std::string& account, bool json);

// weir explain FILE 'METHOD TARGET' [-H 'Name: value']... [--from ADDRESS] [--body-size N] [--json]: what the gateway
// would do with a request, and why.
int explain_request(const std::string& file, const explain::RequestWords& words, bool json);

// weir reset FILE ACCOUNT: forgets it.
int reset_account(const std::string& file, const std::string& account);

// The environment as configurations see it.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace weir::app
