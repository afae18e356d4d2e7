// SPDX-License-Identifier: Apache-2.0
//
// One connection to the database of partners, opened when it is first needed and again after it was lost. Whoever
// gets it may rely on the schema. Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <memory>

#include "weir/base/result.h"
#include "weir/partners/refusal.h"
#include "weir/sql/connection.h"

namespace weir::partners {

class Session {
 public:
  using Open = std::function<sql::Result<std::unique_ptr<sql::Connection>>()>;

  explicit Session(Open open) : open_(std::move(open)) {}

  // With the schema of this program; of SQLite it is made where it is older. Until the next call.
  Outcome<sql::Connection*> connection();
  // Whatever the schema.
  Outcome<sql::Connection*> any_connection();
  bool is_open() const { return connection_ != nullptr; }
  void close() { connection_.reset(); }

 private:
  Open open_;
  std::unique_ptr<sql::Connection> connection_;
  bool schema_is_known_ = false;
};

Refusal refusal_of(const sql::Error& error);
weir::Error error_of(const Refusal& refusal);

}  // namespace weir::partners
