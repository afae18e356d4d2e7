// SPDX-License-Identifier: Apache-2.0
#include "weir/base/sha256.h"
#include "weir/config/http_types.h"
#include "weir/config/language.h"
#include "weir/config/network_types.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

using Secret = std::variant<std::string, Sha256>;

constexpr std::size_t kLongestKey = 256;       // bytes of a header field that names a caller
constexpr std::size_t kLongestIdentity = 256;  // bytes of a partner or a plan

void note_api_key(Reader& reader, const Fields& fields, ApiKeyCaller& caller) {
  check_identity_field(reader, fields, "header", caller.header);
  reader.scope.attributes.insert({"partner", "plan", "key"});
}

void note_header(Reader& reader, const Fields& fields, HeaderCaller& caller) {
  check_identity_field(reader, fields, "name", caller.header);
  if (fields.good("from")) {
    check_trusted(reader, caller.from, fields.has("from") ? fields.place("from") : fields.map().place);
  }
  if (!fields.has("attribute") || !fields.good("attribute")) {
    reader.scope.attributes_complete = false;
    return;
  }
  if (Scope::is_always_present(caller.attribute) || caller.attribute == "key") {
    reader.report.error(fields.place("attribute"),
                        fmt::format("the attribute '{}' comes from the gateway itself", caller.attribute));
  }
  reader.scope.attributes.insert(caller.attribute);
  if (caller.attribute == "plan") reader.scope.plans_complete = false;
}

Type<ApiKeyCaller> api_key_caller() {
  Object<ApiKeyCaller> object("an api_key caller");
  object.required("header", &ApiKeyCaller::header, identity_header_name(), "The header field that has the key.")
      .check(note_api_key);
  return object;
}

Type<HeaderCaller> header_caller() {
  Object<HeaderCaller> object("a header caller");
  object.required("name", &HeaderCaller::header, identity_header_name(), "The header field.")
      .required("attribute", &HeaderCaller::attribute, attribute(), "The attribute that its value becomes.")
      .key("from", &HeaderCaller::from, trusted_from(), "Whose field is believed; `anyone` must be said.")
      .check(note_header);
  return object;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Parsed<Sha256> parse_sha256(std::string_view text) {
  Sha256 digest{};
  bool valid = text.size() == 2 * digest.size();
  for (std::size_t i = 0; valid && i < digest.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    digest[i] = static_cast<std::uint8_t>((high & 15) << 4 | (low & 15));
  }
  if (!valid) return fault("a SHA-256 has 64 hexadecimal digits", "printf %s KEY | sha256sum");
  return digest;
}

Type<Sha256> sha256() {
  Json schema{{"type", Json::array({"string", "number"})}, {"pattern", "^[0-9A-Fa-f]{64}$"}};
  return scalar<Sha256>("a SHA-256 in hexadecimal digits", std::move(schema), parse_sha256);
}

// The value of a header field: visible ASCII.
Parsed<std::string> parse_clear_key(std::string_view text) {
  const bool visible = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  if (text.empty() || text.size() > kLongestKey || !visible) {
    return fault(fmt::format("a key has 1 to {} visible ASCII characters", kLongestKey));
  }
  return std::string(text);
}

Sha256 digest_of(const Secret& secret) {
  if (const auto* digest = std::get_if<Sha256>(&secret)) return *digest;
  return weir::sha256(std::get<std::string>(secret));
}

// The message does not repeat the key.
void check_key(Reader& reader, const Fields& fields, ApiKey& key) {
  if (key.plan) reader.scope.plans.insert(*key.plan);
  if (!fields.good("plan")) reader.scope.plans_complete = false;
  const std::string_view name = fields.has("key") ? "key" : "key_sha256";
  if (!fields.has(name) || !fields.good(name)) return;
  const Sha256 digest = digest_of(key.key);
  const Place place = fields.place(name);
  const auto first = reader.scope.api_keys.seen(std::string(digest.begin(), digest.end()), place);
  if (first) reader.report.error(place, fmt::format("the same key as in line {}", *first));
}

// `bypass` entries as written.
struct BypassText {
  std::optional<HeaderBypass> header;
  std::optional<TrustedFrom> from;
  std::vector<IpNetwork> address;
};

Type<std::optional<HeaderBypass>> header_and_value() {
  Type<std::optional<HeaderBypass>> type;
  const auto name = identity_header_name();
  const auto value = text(kLongestIdentity);
  type.schema = {
      {"type", "object"}, {"minProperties", 1}, {"maxProperties", 1}, {"additionalProperties", value.schema}};
  type.read = [name, value](Reader& reader, const Node& node, std::optional<HeaderBypass>& out) {
    for (const Node::Entry& entry : node.entries) reader.report.hide(entry.value->place.line, entry.value->text);
    if (node.kind != Node::Kind::kMap || node.entries.size() != 1) {
      return report_mismatch(reader, node, "one header field and its value, for example {X-User-Role: ADMIN}");
    }
    const auto& [key, text] = node.entries.front();
    out.emplace();
    const bool good = name.read(reader, *key, out->header);
    return value.read(reader, *text, out->value) && good;
  };
  return type;
}

void check_bypass(Reader& reader, const Fields& fields, BypassText& bypass) {
  if (fields.has("header") && fields.good("from")) {
    const Place place = fields.has("from") ? fields.place("from") : fields.map().place;
    check_trusted(reader, bypass.from.value_or(TrustedFrom::kTrustedProxies), place);
  }
  if (fields.has("address") && fields.has("from")) {
    reader.report.error(fields.place("from"), "'from' has no meaning beside 'address'");
  }
}

bool to_bypass(Reader&, const Node&, BypassText&& text, Bypass& out) {
  if (text.header) {
    text.header->from = text.from.value_or(TrustedFrom::kTrustedProxies);
    out = *std::move(text.header);
  } else {
    out = AddressBypass{std::move(text.address)};
  }
  return true;
}

}  // namespace

void check_identity_field(Reader& reader, const Fields& fields, std::string_view key, const std::string& header) {
  if (!fields.has(key) || !fields.good(key)) return;
  const Place place = fields.place(key);
  const auto first = reader.scope.identity_fields.seen(lower_case(header), place);
  if (first)
    reader.report.error(place, fmt::format("the field '{}' has a caller already, in line {}", header, *first));
}

Type<TrustedFrom> trusted_from() {
  return choice<TrustedFrom>("from",
                             {{"trusted_proxies", TrustedFrom::kTrustedProxies}, {"anyone", TrustedFrom::kAnyone}});
}

void check_trusted(Reader& reader, TrustedFrom from, const Place& place) {
  if (from == TrustedFrom::kAnyone || reader.scope.trusted_proxies) return;
  reader.report.error(place, "the field is believed only from trusted proxies, but there are no trusted_proxies",
                      "add `trusted_proxies`, or say `from: anyone` if every client may claim it");
}

Type<std::vector<Caller>> callers_section() {
  Object<Caller> caller("a caller");
  caller.alternative("api_key", api_key_caller(), "An API key; yields partner and plan.")
      .alternative("header", header_caller(), "A header field that a proxy or the client sets; yields one attribute.")
      .alternative("jwt", jwt_caller(), "A signed token (JWT); its claims become attributes.")
      .exactly_one({"api_key", "header", "jwt"});
  auto list = list_of<Caller>(caller);
  list.read = [read = std::move(list.read)](Reader& reader, const Node& node, std::vector<Caller>& out) {
    const bool good = read(reader, node, out);
    if (!good) reader.scope.attributes_complete = false;
    return good;
  };
  return list;
}

Type<std::vector<ApiKey>> keys_section() {
  Object<ApiKey> key("a key");
  key.key("key", &ApiKey::key, as<Secret>(secret(text("a key", "^[\\x21-\\x7E]{1,256}$", parse_clear_key))),
          "The key in clear text.")
      .key("key_sha256", &ApiKey::key, as<Secret>(sha256()),
           "The SHA-256 of the key, so that the file holds no secret.")
      .exactly_one({"key", "key_sha256"})
      .required("partner", &ApiKey::partner, text(kLongestIdentity), "Whose key it is.")
      .key("plan", &ApiKey::plan, as<std::optional<std::string>>(text(kLongestIdentity)), "For `by` in limits.")
      .check(check_key);
  return list_of<ApiKey>(key);
}

Type<std::vector<Bypass>> bypass_section() {
  Object<BypassText> bypass("a bypass");
  bypass.key("header", &BypassText::header, header_and_value(), "A header field and the value that it must have.")
      .key("from", &BypassText::from, as<std::optional<TrustedFrom>>(trusted_from()),
           "Whose field is believed; `anyone` must be said.")
      .key("address", &BypassText::address, list_of(network(), 1), "Networks of clients.")
      .exactly_one({"header", "address"})
      .check(check_bypass);
  return list_of(turned<Bypass>(Type<BypassText>(bypass), to_bypass));
}

}  // namespace weir::config
