// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/client.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "weir/base/log.h"

namespace weir::redis {
namespace {

using std::chrono::milliseconds;

constexpr int kMostRedirections = 8;
constexpr nanoseconds kBetweenLooks = milliseconds(100);
constexpr nanoseconds kLookTime = milliseconds(500);
constexpr nanoseconds kBetweenComplaints = std::chrono::seconds(5);
constexpr nanoseconds kTryAgain = milliseconds(2);

// CRC-16/XMODEM, as the cluster's specification has it.
constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr std::array<std::uint16_t, 256> kCrcTable = make_crc_table();

// Suspends until an instant.
class Pause final : private io::Observer {
 public:
  Pause(io::EventLoop& loop, Instant until) : timer_(loop.timers(), *this) { timer_.set(until); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

 private:
  void notify() override { waiting_.resume(); }

  io::Timer timer_;
  std::coroutine_handle<> waiting_;
};

std::optional<std::uint16_t> number(std::string_view text) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The last words of "MOVED 3999 10.0.0.1:6381" and "ASK 3999 :6381", which names the node that said it.
std::optional<Address> target_of(std::string_view error, const Address& from) {
  const std::size_t space = error.rfind(' ');
  const std::size_t colon = error.rfind(':');
  if (space == error.npos || colon == error.npos || colon < space) return std::nullopt;
  const auto port = number(error.substr(colon + 1));
  if (!port) return std::nullopt;
  const std::string_view host = error.substr(space + 1, colon - space - 1);
  return Address{host.empty() ? from.host : std::string(host), *port, {}};
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != key.npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  unsigned crc = 0;
  for (const char c : key) crc = (crc << 8 ^ kCrcTable[(crc >> 8 ^ static_cast<unsigned char>(c)) & 0xFF]) & 0xFFFF;
  return static_cast<std::uint16_t>(crc % 16'384);
}

Client::Client(io::EventLoop& loop, const ClientSettings& settings, Counters& counters)
    : loop_(loop), settings_(settings), counters_(counters) {}

Client::~Client() { shut(); }

void Client::start() {
  node_at(settings_.seeds.front()).start();
  if (settings_.cluster != ClientSettings::Cluster::kOff) look_around();
}

Client::OneWrite::~OneWrite() {
  client_.gathering_ = false;
  for (auto& [text, node] : client_.nodes_) node->flush();
}

void Client::shut() {
  if (shut_) return;
  // Whoever waits may still have something to say before it ends.
  for (auto& [text, node] : nodes_) node->fail_waiting();
  shut_ = true;
  for (auto& [text, node] : nodes_) node->shut();
}

void Client::complain(const ReplyView& answer) {
  counters_.errors.add();
  if (complained_ != Instant::min() && loop_.now() - complained_ < kBetweenComplaints) return;
  complained_ = loop_.now();
  log_warn("Redis answers: {}", answer.is_error() ? answer.text()
                                : answer.is_nil() ? "nothing"
                                                  : "something unexpected");
}

std::vector<Address> Client::servers() const {
  std::vector<Address> masters;
  const Node* last = nullptr;
  for (const Node* node : by_slot_) {
    if (node == nullptr || std::exchange(last, node) == node) continue;
    if (std::ranges::find(masters, node->address()) == masters.end()) masters.push_back(node->address());
  }
  return masters.empty() ? settings_.seeds : masters;
}

Node& Client::node_at(const Address& address) {
  auto& known = nodes_[address.text()];
  if (!known) {
    known = std::make_unique<Node>(loop_, settings_.node, address, counters_, gathering_);
    settings_.node.resolve(address);  // a name takes time, and a command has little
  }
  return *known;
}

// Without knowledge any seed will do: it says who it is.
Node& Client::node_for(std::uint16_t slot) {
  if (!by_slot_.empty() && by_slot_[slot] != nullptr) return *by_slot_[slot];
  for (std::size_t i = 0; i < settings_.seeds.size(); ++i) {
    Node& seed = node_at(settings_.seeds[(next_seed_ + i) % settings_.seeds.size()]);
    if (!seed.is_open()) return seed;
  }
  return node_at(settings_.seeds[next_seed_++ % settings_.seeds.size()]);
}

io::Task<Answer> Client::ask(std::string_view key, const Command& command, Instant deadline) {
  const std::uint16_t slot = slot_of(key);
  Target target{&node_for(slot)};
  for (int redirections = 0; redirections <= kMostRedirections && !shut_;) {
    Call call(loop_, *target.node, command, deadline, target.kind);
    Answer answer;
    answer.end = co_await call;
    answer.reply = call.take_reply();
    if (!answer.answered()) {
      look_around();
      co_return answer;
    }
    if (!answer.reply.view().is_error()) co_return answer;
    switch (follow(answer.reply.view(), slot, target)) {
      case Next::kDone:
        co_return answer;
      case Next::kRedirected:
        ++redirections;
        break;
      case Next::kLater: {
        if (loop_.now() + kTryAgain >= deadline) co_return answer;
        const Address address = target.node->address();  // nodes come and go meanwhile
        co_await Pause(loop_, loop_.now() + kTryAgain);
        target.node = &node_at(address);
      }
    }
  }
  co_return Answer{};
}

Client::Next Client::follow(const ReplyView& error, std::uint16_t slot, Target& target) {
  const bool moved = error.is_error("MOVED");
  if (moved || error.is_error("ASK")) {
    const auto address = target_of(error.text(), target.node->address());
    if (!address) return Next::kDone;
    (moved ? counters_.moved : counters_.asked).add();
    target = {&node_at(*address), moved ? Call::Kind::kCommand : Call::Kind::kAsking};
    if (moved) {
      is_cluster_ = true;
      is_single_ = false;
      by_slot_.resize(kSlots);
      by_slot_[slot] = target.node;
      look_around();
    }
    return Next::kRedirected;
  }
  if (error.is_error("TRYAGAIN")) {
    counters_.tried_again.add();
    return Next::kLater;
  }
  if (error.is_error("CLUSTERDOWN") || error.is_error("MASTERDOWN")) look_around();
  if (error.is_error("READONLY")) {  // it was a master; who is one now is behind its name, or in the topology
    is_cluster_ ? look_around() : target.node->reconnect("it is a replica by now");
  }
  return Next::kDone;
}

void Client::look_around() {
  if (learning_ || shut_ || is_single_ || settings_.cluster == ClientSettings::Cluster::kOff) return;
  if (learnt_ != Instant::min() && (loop_.now() - learnt_ < kBetweenLooks)) return;
  learning_ = true;
  learnt_ = loop_.now();
  learn();
}

// Asks those that can be asked until one of them tells.
io::Detached Client::learn() {
  std::vector<Address> candidates = settings_.seeds;
  for (const auto& [text, node] : nodes_) {
    if (!node->is_open()) candidates.insert(candidates.begin(), node->address());
  }
  // One that is cut off from the others may tell what is no longer true: it must not be asked first every time.
  std::ranges::rotate(candidates,
                      candidates.begin() + static_cast<std::ptrdiff_t>(next_witness_++ % candidates.size()));
  const Command command{"CLUSTER", "SLOTS"};
  bool told = false;
  for (std::size_t i = 0; i < candidates.size() && !told && !shut_; ++i) {
    Node& node = node_at(candidates[i]);
    if (node.is_open()) continue;
    Call call(loop_, node, command, loop_.now() + kLookTime, Call::Kind::kAside);
    if (co_await call != Call::End::kAnswered) continue;
    counters_.topologies.add();
    const ReplyView reply = call.reply().view();
    is_single_ = settings_.cluster == ClientSettings::Cluster::kAuto && !is_cluster_ && reply.is_error("ERR");
    told = is_single_ || (reply.is_list() && adopt(reply, node));
  }
  learning_ = false;
}

// CLUSTER SLOTS: a list of (first, last, master, replicas...), a node is (host, port, id, ...).
bool Client::adopt(const ReplyView& slots, const Node& from) {
  if (slots.size() == 0) return false;
  is_cluster_ = true;
  std::vector<Node*> fresh(kSlots, nullptr);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const ReplyView range = slots[i];
    const ReplyView master = range[2];
    const std::string_view host = master[0].text();
    const Address address{host.empty() || host == "?" ? from.address().host : std::string(host),
                          static_cast<std::uint16_t>(master[1].integer()),
                          {}};
    Node& node = node_at(address);
    for (std::int64_t slot = range[0].integer(); slot <= range[1].integer() && slot >= 0 && slot < kSlots; ++slot) {
      fresh[static_cast<std::size_t>(slot)] = &node;
    }
  }
  by_slot_ = std::move(fresh);
  std::erase_if(nodes_, [&](const auto& known) {
    const Node* const node = known.second.get();
    const auto is_it = [&](const Address& seed) { return seed == node->address(); };
    return node != &from && node->is_idle() && std::ranges::find(by_slot_, node) == by_slot_.end() &&
           std::ranges::none_of(settings_.seeds, is_it);
  });
  return true;
}

}  // namespace weir::redis
