// SPDX-License-Identifier: Apache-2.0
//
// One client connection: a coroutine that reads a head, has it judged, answers or forwards, and starts over. All work
// between two suspensions is plain functions; what a connection keeps while it is idle is little.
// Thread safety: the worker's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "weir/gateway/client_input.h"
#include "weir/gateway/client_output.h"
#include "weir/gateway/exchange.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/message_body.h"
#include "weir/gateway/pipeline.h"
#include "weir/gateway/request_record.h"
#include "weir/io/stream.h"
#include "weir/io/task.h"

namespace weir::gateway {

class Worker;

class Session final : public io::Retired, private decide::Lines::Waiter {
 public:
  // `introduced`: a trusted peer begins with a PROXY header.
  Session(Worker& worker, io::Descriptor socket, const io::SocketAddress& peer, bool introduced);

  io::Detached run();
  // The process is about to end: an idle connection stays for a second more, a busy one ends with its answer.
  void begin_drain();
  // Ends now, whatever it is doing.
  void cut();
  // The line has moved up.
  void wake_in_line();
  bool busy() const { return exchange_ != nullptr; }
  void close() { stream_.close(); }
  io::Observer& observer() { return wake_; }

  std::size_t index = 0;  // in the worker's list

 private:
  enum class Next : std::uint8_t { kWait, kGo, kEnd };

  Next read_proxy_header();
  Next read_head();
  void adopt_generation();
  http::RequestParser& parser();
  void reject(const http::Rejection& why);

  Exchange::State handle_request();
  Exchange::State judge_request();
  Exchange::State judge_again();
  Exchange::State begin_look_up(const partners::Subject& subject);
  Exchange::State answer_verdict(const http::RequestHead& head, const Verdict& verdict);
  void prepare(const http::RequestHead& head, const Verdict& verdict, bool keep_request_id);
  Exchange::State begin_decision(const http::RequestHead& head, const Verdict& verdict, bool keep_request_id);
  Exchange::State decided();
  Exchange::State wait_or_start();
  Exchange::State stand_in_line();
  Exchange::State start_exchange();
  void moved_up() override;
  Exchange::State continue_exchange();
  Exchange::State check_client(Exchange::State state);
  bool client_left();
  bool body_is_too_slow();
  void arm_exchange();
  void renew_leases();
  void settle(Exchange::State state);
  void refuse(const Verdict& verdict, nanoseconds duration);
  void answer_fault(const Problem& problem, bool keep_alive);
  void record(const RequestRecord::Ending& ending);
  bool rest_can_be_drained() const;

  void send(std::string_view bytes);
  void arm_write();
  Next flush();
  Next drain_body();
  Next linger();
  AnswerContext context(bool keep_alive) const;
  bool timed_out() const { return !timer_.is_set(); }
  void release_exchange();

  Worker& worker_;
  io::Waiter wake_;
  io::Stream stream_;
  io::Timer timer_;
  ClientInput input_;
  ClientOutput output_;
  MessageBody body_;
  ClientSide side_;
  std::optional<IpAddress> address_;

  std::shared_ptr<WorkerGeneration> generation_;
  identity::Peer peer_;
  std::unique_ptr<http::RequestParser> parser_;  // only while a head comes in pieces
  std::unique_ptr<Exchange> exchange_;           // only while a request is under way
  partners::Subject wanted_;                     // while it is looked up
  LookedUp looked_up_{false};
  Verdict verdict_;  // of a request that waits for its decision, or that it refused

  Instant began_{};  // of the current request
  Instant exchange_deadline_{};
  Instant renewal_ = Instant::max();      // of the leases that the request holds
  std::atomic<std::uint64_t> ticket_{0};  // while it stands in line
  std::atomic<bool> wake_is_posted_{false};
  Instant gone_deadline_ = Instant::max();
  Instant pace_began_{};  // of the window in which the body's rate is measured
  std::uint64_t pace_bytes_ = 0;
  Exchange::Awaits awaits_{};
  std::uint64_t progress_ = 0;  // of what it waits for
  std::uint64_t received_ = 0;  // bytes of the current body
  std::uint64_t drained_ = 0;
  std::uint32_t requests_ = 0;
  route::ServiceIndex service_ = Verdict::kNoService;
  std::uint8_t minor_version_ = 1;
  bool introduced_;          // by a PROXY header that is still to be read
  bool deciding_ = false;    // the shared store has been asked
  bool looking_up_ = false;  // the request is to be judged again when `wanted_` is known
  bool head_only_ = false;
  bool head_begun_ = false;    // its deadline runs
  bool body_held_up_ = false;  // not by the client, when last looked at
  bool keep_alive_ = true;
  bool lingering_ = false;
  bool resets_ = false;  // ends with a reset
  bool cut_ = false;     // ends at once
};

}  // namespace weir::gateway
