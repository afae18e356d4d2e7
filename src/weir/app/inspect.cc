// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "weir/accounts/account_report.h"
#include "weir/app/commands.h"
#include "weir/app/store_session.h"

namespace weir::app {

int inspect_account(const std::string& file, const std::string& account, bool json) {
  auto question = ask_about(file, account);
  if (!question) return question.error();
  StoreSession& session = *question->session;
  const store::AccountInspector::Subject subject{question->account, question->layouts};
  const auto findings = session.wait(session.inspector().inspect(subject, session.call_now()));
  if (!findings) {
    print_failure(*question->config.redis, findings.error());
    return kFailed;
  }
  const accounts::AccountReport report =
      accounts::make_report(question->config, question->account.name(), question->kinds, *findings);
  std::fputs((json ? to_json(report) : to_text(report)).c_str(), stdout);
  return kDone;
}

}  // namespace weir::app
