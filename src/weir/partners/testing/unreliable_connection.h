// SPDX-License-Identifier: Apache-2.0
//
// For tests: a real connection that is lost at a moment of the test's choice. Thread safety: none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weir/sql/connection.h"

namespace weir::partners::testing {

// What becomes of connections, one after another.
struct Weather {
  enum class Storm {
    kNone,
    kBeforeCommit,    // the server never gets it
    kAfterCommit,     // the server has done it, and its answer is lost
    kFirstStatement,  // an idle connection was closed by the server
  };

  std::vector<Storm> storms;  // of the connections in their order; the others have none
  std::size_t opened = 0;
  bool away = false;  // nothing can be opened
  bool away_after_storm = false;
};

class UnreliableConnection final : public sql::Connection {
 public:
  UnreliableConnection(std::unique_ptr<sql::Connection> real, Weather& weather, Weather::Storm storm)
      : real_(std::move(real)), weather_(weather), storm_(storm) {}

  sql::Result<void> execute(const std::string& statement) override {
    if (lost_) return gone();
    if (storm_ == Weather::Storm::kFirstStatement && statement.starts_with("BEGIN")) return lose();
    if (storm_ == Weather::Storm::kFirstStatement && statement.starts_with("START")) return lose();
    if (statement != "COMMIT" || storm_ == Weather::Storm::kNone) return real_->execute(statement);
    if (storm_ == Weather::Storm::kAfterCommit) (void)real_->execute(statement);
    return lose();
  }
  sql::Result<sql::Answer> query(const std::string& statement, std::span<const sql::Value> values) override {
    if (lost_) return gone();
    return real_->query(statement, values);
  }
  sql::Dialect dialect() const override { return real_->dialect(); }
  bool lost() const override { return lost_ || real_->lost(); }

 private:
  static std::unexpected<sql::Error> gone() {
    return std::unexpected(sql::Error{sql::ErrorKind::kUnavailable, "the storm took it"});
  }
  std::unexpected<sql::Error> lose() {
    lost_ = true;
    weather_.away = weather_.away_after_storm;
    real_.reset();
    real_ = std::make_unique<Wreck>(dialect_);
    return gone();
  }

  // What is left of it.
  class Wreck final : public sql::Connection {
   public:
    explicit Wreck(sql::Dialect dialect) : dialect_(dialect) {}
    sql::Result<void> execute(const std::string&) override { return gone(); }
    sql::Result<sql::Answer> query(const std::string&, std::span<const sql::Value>) override { return gone(); }
    sql::Dialect dialect() const override { return dialect_; }
    bool lost() const override { return true; }

   private:
    sql::Dialect dialect_;
  };

  std::unique_ptr<sql::Connection> real_;
  sql::Dialect dialect_ = real_->dialect();
  Weather& weather_;
  Weather::Storm storm_;
  bool lost_ = false;
};

// Connections under this weather, which outlives them.
inline std::function<sql::Result<std::unique_ptr<sql::Connection>>()> unreliable_opener(sql::Settings settings,
                                                                                        Weather& weather) {
  return [settings = std::move(settings), &weather]() -> sql::Result<std::unique_ptr<sql::Connection>> {
    if (weather.away) return std::unexpected(sql::Error{sql::ErrorKind::kUnavailable, "the server is away"});
    auto real = sql::open(settings);
    if (!real) return real;
    const std::size_t index = weather.opened++;
    const auto storm = index < weather.storms.size() ? weather.storms[index] : Weather::Storm::kNone;
    return std::make_unique<UnreliableConnection>(*std::move(real), weather, storm);
  };
}

}  // namespace weir::partners::testing
