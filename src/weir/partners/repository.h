// SPDX-License-Identifier: Apache-2.0
//
// The records of partners in a SQL database. Every change is one transaction with its entry in the log of changes;
// the order of revisions is that of the commits. A change that was acknowledged is kept. Connections are opened when
// they are needed, and anew after a failure. Blocking; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "weir/base/clock.h"
#include "weir/partners/editor.h"
#include "weir/partners/session.h"
#include "weir/partners/source.h"

namespace weir::partners {

struct WriteOptions {
  std::string by;        // who does it, for the audit; 1 to 256 bytes
  bool dry_run = false;  // everything is checked and told, and nothing is changed
};

// Of one kind, in the order of their names.
struct Page {
  std::vector<Row> rows;
  std::optional<RowId> next;  // goes into RowFilter::after; absent: that was all
  Faults faults;              // rows that cannot be used and were left out
};

// A key to be made. Absent secret: a random one.
struct KeyRequest {
  Key key;  // an empty id becomes a random one; the digest is not looked at
  std::variant<std::monostate, std::string /*clear*/, KeyDigest> secret;
};
struct Rotation {
  std::string id;      // of the key to be replaced
  WallTime expires;    // when it ends, if it does not earlier
  std::string new_id;  // empty: a random one
  std::variant<std::monostate, std::string, KeyDigest> secret;
};
struct NewKey {
  Key key;
  std::string clear;  // told here and never again; empty where only a digest was given
  Applied applied;
};

class Repository final : public Source {
 public:
  struct Settings {
    Session::Open open;
    // The configuration for which the rows are: absent, they are checked by themselves only.
    std::optional<Scopes> scopes{};
  };

  // The clock outlives it.
  Repository(Settings settings, const Clock& clock);

  Result<Reading> read(std::span<const Subject> subjects) override;
  Result<std::vector<Change>> changes_after(std::int64_t revision, std::size_t most) override;
  Result<std::int64_t> revision() override;

  // Another configuration is in force.
  void fit(Scopes scopes) { scopes_ = std::move(scopes); }

  // The version of the schema before. Waits for others that are at it.
  Outcome<std::int64_t> migrate();

  // All or nothing, in this order. Puts need what they name to be there already, or put by an edit before.
  Outcome<Applied> apply(const std::vector<Edit>& edits, const WriteOptions& options);
  // Puts all of these, in any order. `prune`: everything else is removed.
  Outcome<Applied> import(std::vector<Row> rows, bool prune, const WriteOptions& options);
  Outcome<NewKey> create_key(const KeyRequest& request, const WriteOptions& options);
  Outcome<NewKey> rotate_key(const Rotation& rotation, const WriteOptions& options);

  // Absent: there is none. kWrong: it was edited by hand and makes no sense.
  Outcome<std::optional<Row>> get(const RowId& id);
  Outcome<Page> list(RowKind kind, const RowFilter& filter);
  // All rows of all kinds, of one moment.
  Outcome<Page> all();
  Outcome<std::vector<Change>> changes(const ChangeFilter& filter);
  // Everything that is wrong with rows, by themselves and with the configuration.
  Outcome<Faults> check();

 private:
  using Plan = std::function<Outcome<std::vector<Edit>>(Tables&)>;
  template <class T>
  using Question = std::function<Outcome<T>(sql::Connection&)>;

  // Everything that the question asks is of one moment. Asked again when an idle connection turns out to be lost.
  template <class T>
  Outcome<T> ask(const Question<T>& question);
  // Tried twice when the database failed before the commit.
  Outcome<Applied> write(const Plan& plan, const WriteOptions& options);
  Outcome<Applied> try_write(const Plan& plan, const WriteOptions& options, const std::string& change_id);
  Outcome<bool> was_committed(const std::string& change_id);

  Session session_;
  std::optional<Scopes> scopes_;
  const Clock& clock_;
};

}  // namespace weir::partners
