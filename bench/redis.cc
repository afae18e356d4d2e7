// SPDX-License-Identifier: Apache-2.0
//
// What a decision costs a Redis server: weir's, beside what others have. Two limits per account, 10^4 accounts in
// turn, one connection. Cost is the processor time of the server's own thread (INFO cpu), which neither this program
// nor what else the machine does changes much. Prints one JSON object a line; every reply is looked at, and an
// unexpected one ends the program.
//
//   bench_redis UNIX_SOCKET DEPTH     what a decision costs while so many commands are on their way, each contender
//   once bench_redis UNIX_SOCKET memory    what an account takes
#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/redis/command.h"
#include "weir/redis/script.h"
#include "weir/store/redis/acquisition.h"
#include "weir/store/redis/redis_store.h"

namespace {

using weir::limit::Limit;
using weir::redis::Command;
using weir::redis::Script;
using weir::store::Acquisition;

constexpr int kAccounts = 10'000;
constexpr int kAccountsInMemory = 100'000;
constexpr std::size_t kWarmUpDepth = 64;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;

// As the blog posts write it: a hash for each limit, the tokens and when they were counted. ARGV: rate per second and
// capacity of each, milliseconds to keep both.
constexpr std::string_view kTwoHashes = R"lua(
local call = redis.call
local clock = call('TIME')
local now = clock[1] + clock[2] / 1000000
local allowed, left = 1, {}
for i = 1, 2 do
  local rate, capacity = tonumber(ARGV[i * 2 - 1]), tonumber(ARGV[i * 2])
  local bucket = call('HMGET', KEYS[i], 'tokens', 'ts')
  local tokens = tonumber(bucket[1]) or capacity
  local since = now - (tonumber(bucket[2]) or now)
  if since > 0 then tokens = math.min(capacity, tokens + since * rate) end
  if tokens < 1 then allowed = 0 end
  left[i] = tokens
end
if allowed == 1 then
  for i = 1, 2 do
    left[i] = left[i] - 1
    call('HSET', KEYS[i], 'tokens', left[i], 'ts', now)
    call('PEXPIRE', KEYS[i], ARGV[5])
  end
end
return {allowed, left[1], left[2]}
)lua";
constexpr std::string_view kEmpty = "return 1";

struct Freed {
  void operator()(redisContext* context) const { ::redisFree(context); }
  void operator()(redisReply* reply) const { ::freeReplyObject(reply); }
};
using Context = std::unique_ptr<redisContext, Freed>;
using ReplyPtr = std::unique_ptr<redisReply, Freed>;

[[noreturn]] void fail(std::string_view why) {
  fmt::print(stderr, "bench_redis: {}\n", why);
  std::exit(1);
}

void send(redisContext* context) {
  int done = 0;
  while (done == 0) {
    if (::redisBufferWrite(context, &done) != REDIS_OK) fail(context->errstr);
  }
}

// Polls: where a sleeping client is on another CPU, waking it can cost the server more than the whole command.
ReplyPtr receive(redisContext* context) {
  void* reply = nullptr;
  while (::redisGetReplyFromReader(context, &reply) == REDIS_OK && reply == nullptr) {
    if (::redisBufferRead(context) != REDIS_OK) fail(context->errstr);
  }
  if (reply == nullptr) fail(context->errstr);
  ReplyPtr owned(static_cast<redisReply*>(reply));
  if (owned->type == REDIS_REPLY_ERROR) fail(owned->str);
  return owned;
}

ReplyPtr run(redisContext* context, const Command& command) {
  ::redisAppendFormattedCommand(context, command.bytes().data(), command.bytes().size());
  send(context);
  return receive(context);
}

std::string load(redisContext* context, std::string_view text) {
  const ReplyPtr reply = run(context, {"SCRIPT", "LOAD", text});
  return {reply->str, reply->len};
}

double told(redisContext* context, std::string_view section, std::string_view name) {
  const ReplyPtr info = run(context, {"INFO", section});
  const std::string_view text(info->str, info->len);
  const std::size_t at = text.find(fmt::format("\n{}:", name));
  if (at == text.npos) fail(fmt::format("the server does not tell {}", name));
  return std::strtod(text.data() + at + name.size() + 2, nullptr);
}

double server_seconds(redisContext* context) {
  return told(context, "cpu", "used_cpu_sys_main_thread") + told(context, "cpu", "used_cpu_user_main_thread");
}

using Expected = std::function<bool(const redisReply&)>;

struct Contender {
  std::string name;
  std::vector<std::string> commands;  // of each account
  Expected expected;
  std::size_t decisions = 1;  // per command
  std::size_t replies = 1;    // per command
};

// Asks `count` times, the accounts in turn, `depth` on their way. The server has one half of them to answer while the
// other is replaced, so that it need not sleep.
void ask(redisContext* context, const Contender& contender, std::size_t count, std::size_t depth,
         const Expected& expected) {
  const std::size_t half = (depth + 1) / 2;
  std::size_t sent = 0;
  for (std::size_t answered = 0; answered < count;) {
    for (; sent < std::min(count, answered + depth); ++sent) {
      const std::string& command = contender.commands[sent % contender.commands.size()];
      ::redisAppendFormattedCommand(context, command.data(), command.size());
    }
    send(context);
    const std::size_t awaited = std::min(half, sent - answered);
    for (std::size_t i = 0; i < awaited * contender.replies; ++i) {
      if (!expected(*receive(context))) fail(fmt::format("an unexpected reply to {}", contender.name));
    }
    answered += awaited;
  }
}

// Every account is there and the tables of keys have grown before anything is measured.
void fill(redisContext* context, const Contender& contender) {
  run(context, {"FLUSHALL"});
  ask(context, contender, 2 * contender.commands.size(), kWarmUpDepth, [](const redisReply&) { return true; });
}

void measure_cost(redisContext* context, const Contender& contender, std::size_t depth) {
  const std::size_t count = depth == 1 ? kAccounts / 2 : 3 * kAccounts;
  fill(context, contender);
  const double before = server_seconds(context);
  const auto began = std::chrono::steady_clock::now();
  ask(context, contender, count, depth, contender.expected);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  const double cost = server_seconds(context) - before;
  const auto decisions = static_cast<double>(count * contender.decisions);
  fmt::print(R"({{"contender": "{}", "depth": {}, "us": {:.3f}, "per_second": {:.0f}}})"
             "\n",
             contender.name, depth, cost / decisions * 1e6, decisions / wall.count());
  std::fflush(stdout);
}

void measure_memory(redisContext* context, const Contender& contender, std::size_t keys_per_account) {
  run(context, {"FLUSHALL"});
  const double before = told(context, "memory", "used_memory");
  fill(context, contender);
  const double used = told(context, "memory", "used_memory") - before;
  const std::size_t accounts = contender.commands.size();
  const ReplyPtr keys = run(context, {"DBSIZE"});
  if (static_cast<std::size_t>(keys->integer) != accounts * keys_per_account) fail("accounts have expired already");
  fmt::print(R"({{"contender": "{}", "bytes_per_account": {:.0f}}})"
             "\n",
             contender.name, used / static_cast<double>(accounts));
  std::fflush(stdout);
}

// A token bucket: so many in each period, all of them at once if need be.
struct Rate {
  std::int64_t count;
  std::int64_t period;
};

struct TwoRates {
  Rate global;
  Rate endpoint;
};

constexpr TwoRates kPlenty{{1'000'000, kMinute}, {500'000, kMinute}};  // never reached
constexpr TwoRates kReached{{2, kMinute}, {1, kMinute}};
constexpr TwoRates kUsual{{20, kSecond}, {600, kMinute}};

Limit bucket(Rate rate) {
  return weir::limit::TokenBucket::create({.count = rate.count, .period = rate.period, .capacity = rate.count})
      .value();
}

std::string name_of(int account) { return fmt::format("weir:{{partner-{:06},ORDERS}}", account); }

// `now` is in microseconds since 1970, 0 for the server's clock.
struct Question {
  std::int64_t now = 0;
  std::uint32_t wanted = 1;
  std::uint32_t granted = 1;
};

Contender weirs(std::string name, Question question, TwoRates rates, int accounts = kAccounts) {
  const weir::store::RedisKind kind(
      weir::store::Layout{.kind = "partner,service",
                          .slots = {{.identity = "global", .variants = {bucket(rates.global)}},
                                    {.identity = "endpoint", .variants = {bucket(rates.endpoint)}}}});
  const Script& script = *weir::store::RedisStore::scripts().front();
  const std::vector<weir::store::Charge> charges{{.slot = 0}, {.slot = 1}};
  const auto granted = [expected = question.granted](const redisReply& reply) {
    std::uint32_t told = 0;
    if (reply.type != REDIS_REPLY_STRING || reply.len < sizeof told) return false;
    std::memcpy(&told, reply.str, sizeof told);
    return told == expected;
  };
  Contender contender{std::move(name), {}, granted, question.wanted};
  for (int account = 0; account < accounts; ++account) {
    const std::string account_name = name_of(account);
    const Acquisition acquisition(kind, account_name, charges, {});
    contender.commands.emplace_back(
        acquisition.command({"EVALSHA", script.sha1()}, {.now = question.wanted}, question.now).bytes());
  }
  return contender;
}

Contender two_hashes(const std::string& sha1, TwoRates rates, int accounts = kAccounts) {
  const auto per_second = [](Rate rate) {
    return fmt::format("{}", static_cast<double>(rate.count) / (static_cast<double>(rate.period) / kSecond));
  };
  const auto allowed = [](const redisReply& reply) {
    return reply.type == REDIS_REPLY_ARRAY && reply.elements == 3 && reply.element[0]->integer == 1;
  };
  const auto kept = fmt::format("{}", 2 * std::max(rates.global.period, rates.endpoint.period) / 1'000'000);
  Contender contender{"two hashes (HMGET, HSET, PEXPIRE)", {}, allowed};
  for (int account = 0; account < accounts; ++account) {
    const std::string name = name_of(account);
    contender.commands.emplace_back(Command{"EVALSHA", sha1, "2", name, name + ":endpoint", per_second(rates.global),
                                            std::to_string(rates.global.count), per_second(rates.endpoint),
                                            std::to_string(rates.endpoint.count), kept}
                                        .bytes());
  }
  return contender;
}

Contender two_counters() {
  const auto counted = [](const redisReply& reply) { return reply.type == REDIS_REPLY_INTEGER && reply.integer > 0; };
  Contender contender{"two INCR and EXPIRE, which decide nothing", {}, counted, 1, 4};
  for (int account = 0; account < kAccounts; ++account) {
    const std::string name = name_of(account);
    std::string commands;
    for (const std::string& key : {name, name + ":endpoint"}) {
      commands += Command{"INCR", key}.bytes();
      commands += Command{"EXPIRE", key, "60"}.bytes();
    }
    contender.commands.push_back(commands);
  }
  return contender;
}

// What a call with the same arguments costs that does nothing.
Contender empty(const std::string& sha1) {
  Contender contender = weirs("an empty script", {}, kPlenty);
  contender.expected = [](const redisReply& reply) { return reply.integer == 1; };
  const std::string_view replaced = weir::store::RedisStore::scripts().front()->sha1();
  for (std::string& command : contender.commands) command.replace(command.find(replaced), replaced.size(), sha1);
  return contender;
}

std::int64_t micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void compare_costs(redisContext* context, std::size_t depth) {
  const std::string two = load(context, kTwoHashes);
  const std::string none = load(context, kEmpty);
  const std::vector<Contender> contenders{
      empty(none),
      weirs("weir, the store's clock", {}, kPlenty),
      weirs("weir, the gateway's clock", {.now = micros_now()}, kPlenty),
      two_hashes(two, kPlenty),
      two_counters(),
      weirs("weir, 64 equal charges at once", {.wanted = 64, .granted = 64}, kPlenty),
      weirs("weir, refused", {.granted = 0}, kReached),
  };
  for (const Contender& contender : contenders) measure_cost(context, contender, depth);
}

void compare_memory(redisContext* context) {
  measure_memory(context, weirs("weir, the store's clock", {}, kUsual, kAccountsInMemory), 1);
  measure_memory(context, two_hashes(load(context, kTwoHashes), kUsual, kAccountsInMemory), 2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[2] : "";
  const auto depth = static_cast<std::size_t>(std::strtoul(what.data(), nullptr, 10));
  if (depth == 0 && what != "memory") fail("usage: bench_redis UNIX_SOCKET DEPTH|memory");
  const Context context(::redisConnectUnixNonBlock(argv[1]));
  if (!context || context->err != 0) fail("cannot connect");
  for (const Script* script : weir::store::RedisStore::scripts()) load(context.get(), script->text());
  if (depth > 0) {
    compare_costs(context.get(), depth);
  } else {
    compare_memory(context.get());
  }
  return 0;
}
