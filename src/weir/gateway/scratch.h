// SPDX-License-Identifier: Apache-2.0
//
// Memory that all connections of a worker share between two suspensions: receive buffers, parsers, and the lists that
// a decision fills. Small and used all the time, so it stays in the processor's caches.
// Thread safety: the worker's thread.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "weir/base/text.h"
#include "weir/gateway/partner_view.h"
#include "weir/http/parser.h"
#include "weir/identity/identifier.h"
#include "weir/io/buffer.h"
#include "weir/policy/policy.h"
#include "weir/route/router.h"

namespace weir::gateway {

struct Scratch {
  static constexpr std::size_t kReceive = 65536;

  std::span<char> client_in() { return {client_bytes.data(), kReceive}; }
  std::span<char> upstream_in() { return {upstream_bytes.data(), kReceive}; }

  std::array<char, kReceive + io::Buffer::kSlack> client_bytes{};
  std::array<char, kReceive + io::Buffer::kSlack> upstream_bytes{};
  Text out;  // an answer on its way to a client
  http::ResponseParser response_parser;
  route::Route route;
  identity::Caller caller;
  PartnerFindings partner;
  policy::CallerRows rows;
  std::optional<partners::Subject> wanted;  // after Verdict::Kind::kLookUp
  policy::Charges charges;
};

}  // namespace weir::gateway
