// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "weir/app/policies_arguments.h"
#include "weir/partners/words.h"

namespace weir::app {
namespace {

using partners::RowKind;

// Adds commands with the options that several of them have.
class Grammar {
 public:
  Grammar(PoliciesArguments& arguments, PoliciesCommand& chosen) : arguments_(arguments), chosen_(chosen) {}

  CLI::App* command(CLI::App& parent, const std::string& name, const std::string& what, PoliciesCommand action) {
    CLI::App* app = parent.add_subcommand(name, what);
    app->add_option("FILE", arguments_.file, "The configuration")->required();
    app->callback([this, action = std::move(action)] { chosen_ = action; });
    return app;
  }
  CLI::App* json(CLI::App* app) {
    app->add_flag("--json", arguments_.json, "Print JSON");
    return app;
  }
  CLI::App* writes(CLI::App* app) {
    app->add_flag("--dry-run", arguments_.dry_run, "Check and tell everything, and write nothing");
    app->add_option("--by", arguments_.by, "Who does it, for the audit; default: user@host");
    return json(app);
  }
  void document(CLI::App* app) {
    app->add_option("DOCUMENT", arguments_.document, "A YAML file of rows; - is standard input")->required();
  }

  void rows(CLI::App& policies, RowKind kind) {
    const std::string one(word(kind));
    CLI::App* group = policies.add_subcommand(one + "s", "List, show, put and delete " + one + "s");
    group->require_subcommand(1);
    list(json(command(*group, "list", "Print all, one a line", [kind](const auto& a) { return list_rows(kind, a); })),
         kind);
    names(json(command(*group, "get", "Print one", [kind](const auto& a) { return get_row(kind, a); })), kind);
    CLI::App* put = writes(command(*group, "put", "Create one, or change what is written",
                                   [kind](const auto& a) { return put_row(kind, a); }));
    names(put, kind);
    fields(put, kind);
    names(writes(command(*group, "delete", "Delete one", [kind](const auto& a) { return delete_row(kind, a); })),
          kind);
    if (kind == RowKind::kKey) keys(*group);
  }

 private:
  void text(CLI::App* app, const char* option, std::optional<std::string>& value, const char* what,
            bool required = false) {
    app->add_option(option, value, what)->required(required);
  }

  void list(CLI::App* app, RowKind kind) {
    app->add_option("--prefix", arguments_.prefix, "Only those whose name begins so");
    if (kind == RowKind::kKey || kind == RowKind::kLimit) text(app, "--partner", arguments_.partner, "Only its own");
    if (kind != RowKind::kPlan) text(app, "--plan", arguments_.plan, "Only those with this plan");
  }

  void names(CLI::App* app, RowKind kind) {
    if (kind != RowKind::kLimit) {
      app->add_option(kind == RowKind::kKey ? "ID" : "NAME", arguments_.name, "Which")->required();
      return;
    }
    text(app, "--limit", arguments_.limit, "The limit of the configuration", true);
    text(app, "--partner", arguments_.partner, "Whose, or --plan");
    text(app, "--plan", arguments_.plan, "Of all partners with this plan that have none of their own");
    text(app, "--service", arguments_.service, "Of a limit that counts per service");
    text(app, "--endpoint", arguments_.endpoint, "One of the limit's patterns, such as 'GET /products/{id}'");
  }

  void fields(CLI::App* app, RowKind kind) {
    text(app, "--note", arguments_.note, "For people");
    if (kind == RowKind::kPartner || kind == RowKind::kKey) {
      text(app, "--plan", arguments_.plan, "Its plan; '' for none");
      app->add_option("--enabled", arguments_.enabled, "true or false: requests are refused");
    }
    if (kind == RowKind::kKey) {
      text(app, "--partner", arguments_.partner, "Whose key it is");
      validity(app);
    }
    if (kind != RowKind::kLimit) return;
    text(app, "--rate", arguments_.rate, "As in the configuration: 20/s, unlimited; with concurrency a count");
    app->add_option("--burst", arguments_.burst, "The size of the bucket; 0: the count of the rate");
    text(app, "--algorithm", arguments_.algorithm, "Instead of the limit's own; '' for that");
    text(app, "--mode", arguments_.mode, "enforce, or shadow: counted and reported, never refuses");
  }

  void validity(CLI::App* app) {
    text(app, "--not-before", arguments_.not_before, "Not usable before this moment, such as 2027-01-31T08:00:00Z");
    text(app, "--expires", arguments_.expires, "Not usable from this moment on");
  }

  void secret(CLI::App* app) {
    auto* file = app->add_option("--key-file", arguments_.key_file, "Takes the key from a file; - is standard input");
    app->add_option("--sha256", arguments_.sha256, "Takes the SHA-256 of a key")->excludes(file);
  }

  void keys(CLI::App& group) {
    CLI::App* create = writes(command(group, "create", "Make a key and print it once", create_key));
    text(create, "--partner", arguments_.partner, "Whose key it is", true);
    text(create, "--plan", arguments_.plan, "Instead of the partner's");
    text(create, "--id", arguments_.id, "What it is called; default: a random name");
    text(create, "--note", arguments_.note, "For people");
    create->add_option("--enabled", arguments_.enabled, "true or false");
    validity(create);
    secret(create);
    CLI::App* rotate =
        writes(command(group, "rotate", "Make a key that replaces another, which then expires", rotate_key));
    rotate->add_option("ID", arguments_.name, "The key to be replaced")->required();
    text(rotate, "--id", arguments_.id, "What the new one is called; default: a random name");
    auto* grace = rotate->add_option("--grace", arguments_.grace, "How long both are good")->capture_default_str();
    rotate->add_option("--expires", arguments_.expires, "The moment when the old one ends")->excludes(grace);
    secret(rotate);
  }

  PoliciesArguments& arguments_;
  PoliciesCommand& chosen_;
};

void add_audit(CLI::App& policies, const std::shared_ptr<Grammar>& grammar, PoliciesArguments& arguments) {
  auto* changes = grammar->json(
      grammar->command(policies, "changes", "Print who has changed what, newest first", list_policy_changes));
  changes->add_option("--partner", arguments.partner, "Only what is about this partner");
  changes->add_option("--kind", arguments.kind, "Only rows of this kind")
      ->check(CLI::IsMember({"plan", "partner", "key", "limit"}));
  changes->add_option("--by", arguments.by, "Only what this one did");
  changes->add_option("--after", arguments.after, "Only revisions above this, oldest first");
  arguments.most = 100;
  changes->add_option("--most", arguments.most, "How many")->capture_default_str();
  grammar->json(grammar->command(
      policies, "check", "Report every row that makes no sense; exit code 1 when there is one", check_policies));
}

}  // namespace

void add_policies_commands(CLI::App& app, PoliciesArguments& arguments, PoliciesCommand& chosen) {
  auto* policies = app.add_subcommand("policies", "Partners, plans, keys and limits in the database");
  policies->require_subcommand(1);
  const auto grammar = std::make_shared<Grammar>(arguments, chosen);
  policies->callback([grammar] {});  // lives as long as the commands
  grammar->command(*policies, "migrate", "Create the tables, or bring them up to date", migrate_policies);
  for (const RowKind kind : {RowKind::kPlan, RowKind::kPartner, RowKind::kKey, RowKind::kLimit}) {
    grammar->rows(*policies, kind);
  }
  grammar->command(*policies, "export", "Print everything as YAML", export_policies);
  auto* import =
      grammar->writes(grammar->command(*policies, "import", "Put everything of a YAML file", import_policies));
  grammar->document(import);
  import->add_flag("--prune", arguments.prune, "Delete what the file does not have");
  auto* diff = grammar->json(grammar->command(
      *policies, "diff", "Tell what `import --prune` would change; exit code 1 when there is something",
      diff_policies));
  grammar->document(diff);
  add_audit(*policies, grammar, arguments);
}

}  // namespace weir::app
