// SPDX-License-Identifier: Apache-2.0
//
// Who is asking, from the request alone: API keys, signed tokens, identity fields from trusted proxies, the client's
// address (X-Forwarded-For read from the right over trusted proxies), and whether the caller is not limited at all.
// Where several callers of the configuration yield the same attribute, the first one counts. Two API keys in one
// request are too many, wherever they stand.
// Thread safety: an Identifier is immutable; a Peer, a Caller and a Memory belong to one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/http/message.h"
#include "weir/identity/api_keys.h"
#include "weir/identity/attributes.h"
#include "weir/identity/client_address.h"
#include "weir/identity/gate.h"
#include "weir/identity/key_directory.h"
#include "weir/identity/memory.h"
#include "weir/identity/refusal.h"
#include "weir/identity/sources.h"
#include "weir/identity/token_callers.h"

namespace weir::identity {

// The other end of a client connection; made once per connection and configuration.
struct Peer {
  std::optional<IpAddress> address;  // absent: Unix socket
  bool trusted = false;              // is in trusted_proxies (a Unix socket is not)
  std::string text;                  // canonical address for X-Forwarded-For, or "unix"
  std::string group;  // the value of kAddress: cut to ipv6_prefix, e.g. "2001:db8:1:2::/64" or "192.0.2.1"
};

// The caller of one request. Reused from request to request.
struct Caller {
  Attributes attributes;
  bool bypass = false;
  std::string address_text;  // room for kAddress when it is not the peer's
  std::string query_text;    // room for decoded values of the query
  std::string wait_text;     // room for Retry-After
};

// A request, when it came, and what may be asked about it.
struct Arrival {
  const http::RequestHead& request;
  const Peer& peer;
  WallTime now;
  Memory& memory;                // made by the same Identifier
  Gate* gate = nullptr;          // null: nobody is held off
  KeyDirectory* keys = nullptr;  // null: all keys are in the configuration
};

enum class Identified : std::uint8_t {
  kYes,
  kUnauthorized,  // 401: an unknown key, a bad token, or nobody where somebody is required
  kBadRequest,    // 400: the identity is given twice or is longer than 256 bytes
  kHeldOff,       // 429: too many credentials of this address were wrong
  kUnavailable,   // 503: there are no keys yet to check the token with, or whose key it is cannot be found out
  kNotYet,        // the key has to be looked up first; `why` says nothing
};

class Identifier {
 public:
  // `open`: whoever fetches the keys of callers that have a URL.
  explicit Identifier(const config::Config& config, OpenKeys open = {});
  Identifier(const Identifier&) = delete;
  Identifier& operator=(const Identifier&) = delete;

  // An empty one for a worker. `counters` outlive it.
  Memory make_memory(Counters& counters) const;

  Peer peer(const std::optional<IpAddress>& address) const;

  // Fills `caller` (kService, kEndpoint and kMethod are left to the caller of this function). The values may be views
  // into the request, the peer, the memory (until the next request), `caller` and this object. When it does not
  // succeed, `why` says so for the problem document; its texts are views into this object and `caller`.
  Identified identify(const Arrival& arrival, Caller& caller, Refusal& why) const;

  // True when a field with this name decides who the caller is or what a request costs, so that a client may not
  // have it removed by naming it in Connection. Does not cover X-Forwarded-For, which the gateway always rewrites.
  bool is_identity_field(std::string_view name) const;
  // True when a field is believed only from trusted proxies, so that from anybody else it is a forgery, which must
  // not reach an upstream. Does not cover the fields that every gateway knows, such as X-Real-IP.
  bool is_claim(const http::RequestHead& request, const http::Field& field) const;

  const AttributeNames& names() const { return names_; }

 private:
  struct Context : Arrival {
    Caller& caller;
    Suspect suspect() const { return {peer.address ? gate : nullptr, caller.attributes.get(kAddress)}; }
  };
  struct FieldCaller {
    enum class Kind : std::uint8_t { kValue, kKey, kToken };
    FieldName field;
    Kind kind;
    AttributeId attribute;  // of kValue
    bool from_anyone;
    std::size_t token_field;  // of kToken, in tokens_
  };
  struct Source {
    config::PerAttribute::Source kind;
    FieldName name;
    AttributeId attribute;
  };
  struct FieldBypass {
    FieldName field;
    std::string value;
    bool from_anyone;
  };

  void add_caller(const config::Caller& caller);
  void add_sources();
  void add_bypass(const config::Bypass& bypass);
  void add_identity_fields(const config::Config& config);
  Fault collect(const Context& context) const;
  IpAddress locate(const Context& context) const;
  Fault apply_callers(const Context& context) const;
  Fault apply_key(std::string_view key, const Context& context) const;
  Fault apply_kept_key(std::string_view key, const Context& context) const;
  Fault apply_value(const FieldCaller& caller, const Context& context, bool& has_key) const;
  Fault apply_sources(const Context& context) const;
  Single find_source(const Source& source, const Context& context) const;
  Fault apply_bypass(const Context& context, const std::optional<IpAddress>& client) const;

  AttributeNames names_;
  Refusals refusals_;
  ApiKeys keys_;
  TokenCallers tokens_;
  std::vector<IpNetwork> trusted_;
  AddressField address_field_;
  int ipv6_prefix_;
  bool required_;
  std::vector<FieldCaller> callers_;
  std::vector<Source> sources_;
  std::vector<FieldBypass> field_bypasses_;
  std::vector<IpNetwork> bypass_networks_;
  std::vector<FieldName> identity_fields_;
  std::vector<FieldName> claims_;
};

}  // namespace weir::identity
