// SPDX-License-Identifier: Apache-2.0
//
// Callers that are known by a signed token, and how often credentials may be wrong.
#include <cerrno>
#include <cstring>
#include <fstream>

#include "weir/config/http_types.h"
#include "weir/config/language.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"
#include "weir/jose/key_set.h"

namespace weir::config {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::string_view kHttps = "https://";
constexpr std::size_t kLargestKeyFile = 1 << 20;
constexpr std::int64_t kMostGuesses = 1'000'000;

Type<jose::Algorithms> algorithms() {
  std::vector<Word<jose::Algorithm>> words;
  for (int i = 0; i < static_cast<int>(jose::Algorithm::kCount); ++i) {
    const auto algorithm = static_cast<jose::Algorithm>(i);
    words.push_back({std::string(name_of(algorithm)), algorithm});
  }
  auto list = list_of(choice<jose::Algorithm>("algorithm", std::move(words)), 1);
  return turned<jose::Algorithms>(
      std::move(list), [](Reader&, const Node&, std::vector<jose::Algorithm>&& named, jose::Algorithms& out) {
        out = {};
        for (const jose::Algorithm one : named) out.add(one);
        return true;
      });
}

// The names of attributes, each with the claim that it is.
Type<std::vector<ClaimAttribute>> claim_attributes() {
  const auto value = claim();
  return {.read =
              [value](Reader& reader, const Node& node, std::vector<ClaimAttribute>& out) {
                if (node.kind != Node::Kind::kMap)
                  return report_mismatch(reader, node, "a map from attributes to claims");
                bool good = true;
                for (const auto& [key, claim] : node.entries) {
                  const auto name = parse_attribute(key->text);
                  good &= name ? true : report_fault(reader, key->place, name.error());
                  good &= value.read(reader, *claim, out.emplace_back(key->text, std::string()).claim);
                }
                return good;
              },
          .schema = {{"type", "object"},
                     {"additionalProperties", value.schema},
                     {"propertyNames", {{"pattern", "^[0-9A-Za-z._-]{1,64}$"}}}}};
}

std::expected<std::string, std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestKeyFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.gcount() == 0 && errno != 0) {
    return std::unexpected(fmt::format("the file '{}' cannot be read: {}", path, std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestKeyFile) return std::unexpected(fmt::format("the file '{}' is larger than 1 MiB", path));
  return text;
}

void read_keys(Reader& reader, const Fields& fields, JwtCaller& caller) {
  const Place place = fields.place("keys");
  const std::string path = (reader.folder / caller.keys).string();
  const auto text = read_file(path);
  if (!text) return reader.report.error(place, text.error());
  auto reading = jose::KeySet::read(*text, jose::KeySet::Origin::kFile);
  if (!reading) return reader.report.error(place, fmt::format("the keys in '{}': {}", path, reading.error().message));
  for (const std::string& one : reading->left_out) {
    reader.report.warning(place, fmt::format("the keys in '{}': left out is {}", path, one));
  }
  if (fields.good("algorithms") && !reading->keys.has_key_for(caller.algorithms)) {
    reader.report.error(fields.place("algorithms"),
                        fmt::format("no key in '{}' is for these algorithms, so every token would be refused", path));
  }
  caller.file_keys = std::make_shared<const jose::KeySet>(std::move(reading->keys));
  for (const std::string_view key : {"refresh", "ca"}) {
    if (fields.has(key))
      reader.report.error(fields.place(key), fmt::format("'{}' has no meaning for keys in a file", key));
  }
}

bool is_usable(std::string_view url) {
  const std::string_view rest = url.substr(kHttps.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  return !authority.empty() && !authority.contains('@') && url.find_first_of("#\\ ") == url.npos;
}

void check_url(Reader& reader, const Fields& fields, JwtCaller& caller) {
  if (!is_usable(caller.keys)) {
    reader.report.error(fields.place("keys"),
                        fmt::format("'{}' is not https://name/path, without user and without '#'", caller.keys));
  }
  if (caller.ca.empty()) return;
  caller.ca = (reader.folder / caller.ca).string();
  const auto text = read_file(caller.ca);
  if (!text || text->empty()) {
    reader.report.error(fields.place("ca"), text ? fmt::format("the file '{}' is empty", caller.ca) : text.error());
  }
}

void check_key_source(Reader& reader, const Fields& fields, JwtCaller& caller) {
  const std::string lower = lower_case(caller.keys.substr(0, kHttps.size()));
  if (lower == kHttps) {
    caller.keys.replace(0, kHttps.size(), kHttps);
    check_url(reader, fields, caller);
  } else if (lower.starts_with("http://")) {
    reader.report.error(fields.place("keys"),
                        "keys are not fetched over http: whoever is in between could put in others",
                        "use https://, or a file");
  } else if (caller.keys.contains("://")) {
    reader.report.error(fields.place("keys"), fmt::format("'{}' is neither a file nor https://", caller.keys));
  } else {
    read_keys(reader, fields, caller);
  }
}

// Several issuers may put their tokens in one field: what a token says of its issuer picks whose keys it must stand.
void check_issuer(Reader& reader, const Fields& fields, JwtCaller& caller) {
  if (!fields.good("header") || !fields.good("issuer")) return;
  auto& issuers = reader.scope.token_issuers[lower_case(caller.header)];
  const Place place = fields.place(fields.has("issuer") ? "issuer" : "header");
  if (issuers.empty()) {
    check_identity_field(reader, fields, "header", caller.header);
    if (!fields.has("header")) (void)reader.scope.identity_fields.seen(lower_case(caller.header), place);
  } else if (issuers.contains("") || caller.issuer.empty()) {
    reader.report.error(
        place,
        fmt::format("several jwt callers read the field '{}', so each of them needs an `issuer`", caller.header));
  } else if (issuers.contains(caller.issuer)) {
    reader.report.error(place, fmt::format("another jwt caller has the issuer '{}' in the field '{}' already",
                                           caller.issuer, caller.header));
  }
  issuers.insert(caller.issuer);
}

void note_attributes(Reader& reader, const Fields& fields, const JwtCaller& caller) {
  for (const ClaimAttribute& one : caller.attributes) {
    if (Scope::is_always_present(one.attribute) || one.attribute == "key") {
      reader.report.error(fields.place("attributes"),
                          fmt::format("the attribute '{}' comes from the gateway itself", one.attribute));
    }
    reader.scope.attributes.insert(one.attribute);
    if (one.attribute == "plan") reader.scope.plans_complete = false;
  }
}

void check_jwt(Reader& reader, const Fields& fields, JwtCaller& caller) {
  reader.scope.tokens = true;
  if (fields.readable("keys")) check_key_source(reader, fields, caller);
  check_issuer(reader, fields, caller);
  if (fields.good("attributes")) note_attributes(reader, fields, caller);
  if (!fields.has("issuer")) {
    reader.report.warning(fields.map().place, "without `issuer` a token of anybody counts whom these keys belong to");
  }
  if (!fields.has("audience")) {
    reader.report.warning(fields.map().place, "without `audience` a token counts that was made for somebody else");
  }
}

// `guessing` as written.
struct GuessingText {
  std::optional<Rate> rate = Rate{Guessing{}.count, Guessing{}.period};
  std::int64_t burst = 0;  // 0: the count
};

bool to_guessing(Reader& reader, const Node& node, GuessingText&& text, std::optional<Guessing>& out) {
  const Place place = Fields(node).place("rate");
  if (!text.rate) return report_fault(reader, place, {"the rate 'unlimited' is `guessing: off`", {}, {}});
  out = Guessing{text.rate->count, text.rate->period, text.burst == 0 ? text.rate->count : text.burst};
  if (out->count < 1 || out->count > kMostGuesses || out->period > days(1) || out->period == nanoseconds(0)) {
    return report_fault(reader, place, {fmt::format("the rate is 1 to {} in a day at most", kMostGuesses), {}, {}});
  }
  const auto why = bucket_fault(*text.rate, out->burst);
  return !why || report_fault(reader, place, {*why, {}, {}});
}

}  // namespace

Type<JwtCaller> jwt_caller() {
  Object<JwtCaller> object("a jwt caller");
  object
      .key("header", &JwtCaller::header, identity_header_name(),
           "The header field that has the token; in Authorization after `Bearer`.")
      .key("issuer", &JwtCaller::issuer, text(), "What `iss` must be. Default: not looked at.")
      .key("audience", &JwtCaller::audience, text(), "What `aud` must be or have in it. Default: not looked at.")
      .required("keys", &JwtCaller::keys, text(),
                "The keys of the issuer: a file (a JSON Web Key Set, or public keys in PEM) relative to the "
                "configuration file, or the https:// URL of a JSON Web Key Set.")
      .key("attributes", &JwtCaller::attributes, claim_attributes(),
           "Attributes, and the claims that they are; names with dots between them are a path.")
      .key("algorithms", &JwtCaller::algorithms, algorithms(), "Only these. Default: those that the keys are for.")
      .key("leeway", &JwtCaller::leeway, duration(nanoseconds(0), hours(1)),
           "How far the issuer's clock may be from ours.")
      .key("typ", &JwtCaller::type, text(256), "What `typ` must be. Default: absent, JWT or at+jwt.")
      .key("refresh", &JwtCaller::refresh, duration(seconds(1), days(7)), "Of a URL: how often it is fetched.")
      .key("ca", &JwtCaller::ca, text(),
           "Of a URL: a file with the certificates that are trusted, relative to the configuration file. Default: "
           "those of the system.")
      .key("cache", &JwtCaller::cache, number<std::uint32_t>(1, 10'000'000),
           "How many good tokens each worker remembers.")
      .check(check_jwt);
  return object;
}

Type<std::optional<Guessing>> guessing_section() {
  Object<GuessingText> guessing("guessing");
  guessing.key("rate", &GuessingText::rate, rate(), "How many wrong keys and tokens of one address are looked at.")
      .key("burst", &GuessingText::burst, no_default(number<std::int64_t>(1, kMostGuesses)),
           "How many at once. Default: the count.");
  return word_or<std::optional<Guessing>>("off", std::nullopt,
                                          turned<std::optional<Guessing>>(Type<GuessingText>(guessing), to_guessing));
}

}  // namespace weir::config
