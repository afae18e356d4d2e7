// SPDX-License-Identifier: Apache-2.0
//
// The command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "weir/app/commands.h"
#include "weir/app/policies_arguments.h"
#include "weir/base/version.h"
#include "weir/explain/printable.h"

namespace {

struct Arguments {
  std::string file;
  std::string account;
  std::string io = "auto";
  std::string address = "127.0.0.1:9000";
  weir::explain::RequestWords request;
  bool json = false;
};

weir::io::SocketCalls socket_calls(const std::string& word) {
  if (word == "epoll") return weir::io::SocketCalls::kSingle;
  return word == "io_uring" ? weir::io::SocketCalls::kBatched : weir::io::SocketCalls::kAuto;
}

int dispatch(const CLI::App& app, const Arguments& arguments) {
  using namespace weir::app;
  if (app.got_subcommand("run")) return run_gateway(arguments.file, socket_calls(arguments.io));
  if (app.got_subcommand("check")) return check_configuration(arguments.file, arguments.json);
  if (app.got_subcommand("schema")) return print_schema();
  if (app.got_subcommand("echo")) return run_echo(arguments.address);
  if (app.got_subcommand("inspect")) return inspect_account(arguments.file, arguments.account, arguments.json);
  if (app.got_subcommand("explain")) return explain_request(arguments.file, arguments.request, arguments.json);
  if (app.got_subcommand("reset")) return reset_account(arguments.file, arguments.account);
  if (app.got_subcommand("version")) {
    std::printf("weir %.*s\n", static_cast<int>(weir::kVersion.size()), weir::kVersion.data());
    return kDone;
  }
  std::fputs(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal).c_str(), stdout);
  return kDone;
}

void add_account_commands(CLI::App& app, Arguments& arguments) {
  const char* const what = "The values of `per`, joined by commas, or the whole key in Redis";
  auto* inspect = app.add_subcommand("inspect", "Show what is counted in an account of the shared store");
  auto* reset = app.add_subcommand("reset", "Forget everything that is counted in an account of the shared store");
  for (auto* command : {inspect, reset}) {
    command->add_option("FILE", arguments.file, "The configuration")->required();
    command->add_option("ACCOUNT", arguments.account, what)->required();
  }
  inspect->add_flag("--json", arguments.json, "Show it as a JSON object");
}

// What is wrong with it; empty: nothing. The library itself would take -1 for the largest number.
std::string whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool right = error == std::errc() && end == text.data() + text.size();
  return right ? "" : "'" + weir::explain::printable(text) + "' is no whole number from 0 on";
}

void add_explain_command(CLI::App& app, Arguments& arguments) {
  auto* explain = app.add_subcommand("explain", "Show what the gateway would do with a request, and why");
  weir::explain::RequestWords& request = arguments.request;
  explain->add_option("FILE", arguments.file, "The configuration")->required();
  explain->add_option("REQUEST", request.start, "'METHOD TARGET', e.g. 'POST /orders?x=1'; a target alone is a GET")
      ->required();
  explain->add_option("-H,--header", request.fields, "A header of the request: 'Name: value'; may be repeated")
      ->allow_extra_args(false)
      ->option_text("FIELD");
  explain->add_option("--from", request.from, "The address that the connection comes from, or 'unix'")
      ->capture_default_str();
  explain->add_option("--body-size", request.body_size, "How many bytes the request's body has")
      ->check(whole_number)
      ->option_text("N");
  explain->add_flag("--json", arguments.json, "Show it as a JSON object");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("weir: a rate-limiting API gateway", "weir");
  Arguments arguments;
  app.require_subcommand(1);
  auto* run = app.add_subcommand("run", "Run the gateway; SIGHUP reloads, SIGTERM drains and ends");
  run->add_option("FILE", arguments.file, "The configuration")->required();
  run->add_option("--io", arguments.io,
                  "Receives and sends: batched by io_uring, one system call each, or (auto) batched where the kernel "
                  "allows it")
      ->check(CLI::IsMember({"auto", "epoll", "io_uring"}))
      ->option_text("auto|epoll|io_uring");
  auto* check = app.add_subcommand("check", "Report every fault of a configuration; exit code 78 when there is one");
  check->add_option("FILE", arguments.file, "The configuration")->required();
  check->add_flag("--json", arguments.json, "Report as a JSON array on standard output");
  app.add_subcommand("schema", "Print the JSON Schema of the configuration, for editors");
  auto* echo = app.add_subcommand("echo", "Run a demo upstream that answers with the request as it arrived");
  echo->add_option("--address", arguments.address, "Where to listen")->capture_default_str();
  add_account_commands(app, arguments);
  add_explain_command(app, arguments);
  weir::app::PoliciesArguments policies;
  weir::app::PoliciesCommand policies_command;
  weir::app::add_policies_commands(app, policies, policies_command);
  app.add_subcommand("version", "Print the version");
  app.add_subcommand("help", "Print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    if (!app.got_subcommand("explain")) return app.exit(error), weir::app::kWrongUsage;
    // What was left over may be a credential, so it is not repeated.
    fmt::print(stderr, "There is more than FILE and REQUEST; a header needs -H before it, and quotes around it\n");
    return weir::app::kWrongUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? weir::app::kDone : weir::app::kWrongUsage;
  }
  return policies_command ? policies_command(policies) : dispatch(app, arguments);
}
