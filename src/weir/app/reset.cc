// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "weir/app/commands.h"
#include "weir/app/store_session.h"

namespace weir::app {

int reset_account(const std::string& file, const std::string& account) {
  auto question = ask_about(file, account);
  if (!question) return question.error();
  StoreSession& session = *question->session;
  const store::AccountInspector::Subject subject{question->account, question->layouts};
  const auto forgotten = session.wait(session.inspector().forget(subject));
  if (!forgotten) {
    print_failure(*question->config.redis, forgotten.error());
    return kFailed;
  }
  const char* name = question->account.name().c_str();
  if (!forgotten->account && forgotten->lists == 0) {
    std::printf("%s: was not there\n", name);
  } else if (forgotten->lists == 0) {
    std::printf("%s: deleted\n", name);
  } else {
    std::printf("%s: deleted, with %zu %s\n", name, forgotten->lists, forgotten->lists == 1 ? "list" : "lists");
  }
  if (!forgotten->told) std::puts("gateways could not be told: refusals that they remember hold for a minute still");
  return kDone;
}

}  // namespace weir::app
