// SPDX-License-Identifier: Apache-2.0
//
// Which requests the admin API serves: a method, a path with names in it, the parameters of the query that it knows,
// and who answers. What does not fit is answered here. Thread safety: filled by one thread, then the loop's.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/io/task.h"
#include "weir/partners/json.h"
#include "weir/server/server.h"

namespace weir::admin {

// A request to the API, taken apart.
struct Question {
  std::vector<std::string> names;                 // what stands for the names in the path, decoded
  std::map<std::string, std::string> parameters;  // of the query, decoded
  partners::Json body;                            // null: there is none
  std::string text;                               // a document, as it was sent
  std::string by;                                 // who asks, for the audit
  std::optional<std::int64_t> expected;           // If-Match: a revision; If-None-Match: * is 0

  // Empty: absent.
  const std::string& parameter(const std::string& name) const;
  // Of a parameter that is a whole number.
  struct Numbers {
    std::int64_t usual = 0;  // where it is not there
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  // Absent: it is none of these.
  std::optional<std::int64_t> number(const std::string& name, const Numbers& numbers) const;
  bool is_set(const std::string& name) const { return parameter(name) == "true"; }
};

class Operations {
 public:
  using Answering = std::function<io::Task<server::Answer>(const Question&)>;

  enum class Body : std::uint8_t {
    kNone,
    kObject,  // one JSON object, of at most kLargestObject bytes
    kText,    // a document of any size
  };
  static constexpr std::size_t kLargestObject = 16384;

  struct Operation {
    std::string method;
    std::string path;                     // "/v1/partners/{name}"
    std::vector<std::string> parameters;  // further ones are a fault
    Body body = Body::kNone;
    Answering answer;
    bool conditional = false;  // it may be told which revision is expected
  };
  void add(Operation operation) { operations_.push_back(std::move(operation)); }

  // The question lives as long as the task.
  io::Task<server::Answer> answer(const server::Request& request) const;

 private:
  std::vector<Operation> operations_;
};

// "acme%2Cinc" is "acme,inc"; absent: a `%` without two hexadecimal digits behind it, or a zero byte.
std::optional<std::string> decode(std::string_view text);

}  // namespace weir::admin
