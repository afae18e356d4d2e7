// SPDX-License-Identifier: Apache-2.0
//
// What the gateway would do with a request, and why. Texts are for people, words for programs: they stay what they
// are. Neither holds a credential; both may hold whatever bytes a request or a database has, until they are printed.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weir/base/clock.h"
#include "weir/limit/outcome.h"

namespace weir::explain {

struct RequestFacts {
  std::string method{};
  std::string target{};  // without its query
  std::string path{};    // of the target, as it was sent
  std::string host{};
  std::string from{};  // the peer's address, or "unix"
  bool trusted = false;
};

struct RouteFacts {
  std::string service{};
  std::string host{};     // of the service, that the request's is; empty: it serves every host
  std::string path{};     // of the service, that the request's begins with
  std::string read_as{};  // the path of the request as routing reads it
  std::string upstream{};
  std::vector<std::string> addresses{};
  std::string endpoint{};  // the most specific pattern that a limit names; empty: none
};

struct AttributeFacts {
  std::string name{};
  std::string value{};   // empty: absent
  std::string source{};  // a word: key, header, token, query, cookie, connection, proxy, policies; empty: absent
  std::string text{};    // where it came from, or why it is not there
};

// What is counted now, and what the request would be told.
struct CountFacts {
  bool known = true;  // false: it is assumed that nothing was counted yet
  limit::Cost used = 0;
  limit::Cost remaining = 0;
  nanoseconds full_after{};
  bool admits = false;
  std::optional<nanoseconds> retry_after{};  // absent: no wait helps
};

struct LimitFacts {
  std::string name{};
  std::string algorithm{};
  bool applies = false;
  std::string reason{};  // a word (words.h)
  std::string text{};    // the same for people
  bool shadow = false;
  std::string numbers{};       // e.g. "20/s, burst 40"; empty: none are known
  std::string numbers_from{};  // whence: the limit itself, an entry of `by`, a row
  // Of one that applies:
  limit::Cost cost = 0;
  std::string cost_from{};
  std::string account{};  // as `weir inspect` takes it
  std::string key{};      // in Redis; empty: it is counted in memory
  std::vector<std::string> per{};
  bool by_endpoint = false;
  std::string endpoint{};
  std::string method{};
  std::optional<CountFacts> count{};  // absent: nothing is known
  bool binds = false;
  bool counts = false;          // something stays counted once the request is decided
  std::string without_store{};  // a word: open, local, closed, nothing (shadow); empty: the store is there
};

// Where counters, or policies, were looked up.
struct SourceFacts {
  std::string word{};  // counters: redis, gateway, none; policies: database, snapshot, away
  std::string text{};
};

struct AnswerFacts {
  std::string word{};  // forward, refuse, problem, options
  int status = 0;      // of forward 0: the upstream's
  std::string code{};
  std::string detail{};
  std::string text{};  // the answer in a sentence
  std::vector<std::pair<std::string, std::string>> fields{};
  std::string body{};     // the problem document; empty: none
  std::string binding{};  // the limit that binds; empty: none
  nanoseconds delay{};    // the request would wait in line for so long
  bool certain = true;    // false: it depends on what is counted, which is not known
};

struct Explanation {
  RequestFacts request;
  std::optional<RouteFacts> route{};
  std::vector<AttributeFacts> attributes{};
  std::vector<std::string> notes{};
  std::optional<std::string> bypass{};    // by which entry
  std::optional<SourceFacts> policies{};  // absent: there are none, or they were not needed
  std::optional<SourceFacts> counters{};  // absent: none was needed
  std::vector<LimitFacts> limits{};       // all of the configuration
  AnswerFacts answer;
};

std::string to_text(const Explanation& explanation);
std::string to_json(const Explanation& explanation);

}  // namespace weir::explain
