// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/key_set.h"

#include <gtest/gtest.h>

#include "weir/jose/testing/signer.h"

namespace weir::jose {
namespace {

using testing::Signer;
using testing::signer_for;
using enum Algorithm;

std::string set_of(const std::vector<std::string>& jwks) {
  std::string text;
  for (const std::string& jwk : jwks) text += (text.empty() ? "" : ",") + jwk;
  return R"({"keys":[)" + text + "]}";
}

KeySet keys_of(const std::vector<std::string>& jwks, KeySet::Origin origin = KeySet::Origin::kFile) {
  return KeySet::read(set_of(jwks), origin).value().keys;
}

// How the set takes a token; "signed" when a key has signed it.
std::string check(const KeySet& keys, const std::string& text) {
  const auto token = parse_token(text);
  if (!token) return "no token";
  const auto signer = keys.signer_of(*token);
  if (signer) return "signed";
  using enum KeySet::Mismatch;
  return signer.error() == kUnknownKey ? "unknown key" : signer.error() == kAlgorithm ? "algorithm" : "signature";
}

TEST(KeySetTest, AKidNamesTheOnlyKeysThatCount) {
  const Signer& rsa = signer_for(kRs256);
  const Signer& ec = signer_for(kEs256);
  const KeySet keys = keys_of({rsa.jwk(R"("kid":"a")"), ec.jwk(R"("kid":"b")")});
  EXPECT_EQ(check(keys, rsa.token(kRs256, "{}", R"("kid":"a")")), "signed");
  EXPECT_EQ(check(keys, rsa.token(kPs512, "{}", R"("kid":"a")")), "signed");
  EXPECT_EQ(check(keys, ec.token(kEs256, "{}", R"("kid":"b")")), "signed");
  EXPECT_EQ(check(keys, ec.token(kEs256, "{}")), "signed");
  EXPECT_EQ(check(keys, ec.token(kEs256, "{}", R"("kid":"a")")), "algorithm");
  EXPECT_EQ(check(keys, rsa.token(kRs256, "{}", R"("kid":"A")")), "unknown key");
  EXPECT_EQ(check(keys, rsa.token(kRs256, "{}", R"("kid":"")")), "unknown key");
  EXPECT_EQ(check(keys, Signer::ec().token(kEs256, "{}", R"("kid":"b")")), "signature");
}

TEST(KeySetTest, SeveralKeysMayHaveTheSameKid) {
  const Signer other = Signer::ec();
  const KeySet keys = keys_of({signer_for(kEs256).jwk(R"("kid":"a")"), other.jwk(R"("kid":"a")")});
  EXPECT_EQ(check(keys, other.token(kEs256, "{}", R"("kid":"a")")), "signed");
}

TEST(KeySetTest, APublicKeyIsNeverASecret) {
  const Signer& rsa = signer_for(kRs256);
  const KeySet keys = keys_of({rsa.jwk()});
  const std::string text = testing::base64url(R"({"alg":"HS256"})") + "." + testing::base64url("{}");
  for (const std::string& secret : {rsa.pem(), rsa.jwk(), set_of({rsa.jwk()}), std::string()}) {
    const std::string forged = text + "." + testing::base64url(Signer::code(kHs256, secret, text));
    EXPECT_EQ(check(keys, forged), "algorithm");
  }
}

TEST(KeySetTest, TheKeySaysWhichAlgorithmsItIsFor) {
  const std::string rsa = signer_for(kRs256).jwk();
  const KeySet only = keys_of({signer_for(kRs256).jwk(R"("alg":"RS512")")});
  EXPECT_EQ(check(only, signer_for(kRs512).token(kRs512, "{}")), "signed");
  EXPECT_EQ(check(only, signer_for(kRs256).token(kRs256, "{}")), "algorithm");
  const KeySet p256 = keys_of({signer_for(kEs256).jwk()});
  EXPECT_EQ(check(p256, signer_for(kEs256).sealed(kEs256, R"({"alg":"ES384"})", "{}")), "algorithm");
  const KeySet secret = keys_of({Signer::secret(48).jwk()});
  EXPECT_EQ(check(secret, Signer::secret(48).token(kHs384, "{}")), "signed");
  EXPECT_EQ(check(secret, Signer::secret(48).token(kHs256, "{}")), "signed");
  EXPECT_EQ(check(secret, Signer::secret(48).token(kHs512, "{}")), "algorithm");
}

TEST(KeySetTest, KeysThatCannotBeUsedAreLeftOutAndNamed) {
  const struct {
    std::string jwk;
    std::string_view why;
  } kRows[] = {
      {Signer::rsa(1024).jwk(R"("kid":"weak")"), "key 'weak': an RSA key of 1024 bits; at least 2048 are needed"},
      {Signer::secret(31).jwk(), "key 2: a secret of 31 bytes; at least 32 are needed"},
      {Signer::secret(48).jwk(R"("alg":"HS512")"), "key 2: its `alg` HS512 does not go with the key"},
      {signer_for(kEs256).jwk(R"("alg":"ES384")"), "key 2: its `alg` ES384 does not go with the key"},
      {signer_for(kRs256).jwk(R"("alg":"RSA-OAEP")"), "key 2: its `alg` is not one by which tokens are signed"},
      {signer_for(kRs256).jwk(R"("alg":"none")"), "key 2: its `alg` is not one by which tokens are signed"},
      {signer_for(kRs256).jwk(R"("alg":7)"), "key 2: its `alg` is not one by which tokens are signed"},
      {signer_for(kRs256).jwk(R"("use":"enc")"), "key 2: `use` or `key_ops` say that it checks no signatures"},
      {signer_for(kRs256).jwk(R"("key_ops":["sign"])"), "key 2: `use` or `key_ops` say that it checks no signatures"},
      {signer_for(kRs256).jwk(R"("kid":5)"), "key 2: `kid` is no text"},
      {Signer::ec("P-521").jwk(), "key 2: an elliptic curve other than P-256 and P-384"},
      {R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"AAAA"})",
       "key 2: its EC numbers are missing, of a curve that is not known, or wrong"},
      {R"({"kty":"RSA","e":"AQAB"})", "key 2: its RSA numbers are missing, of a curve that is not known, or wrong"},
      {R"({"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})",
       "key 2: its OKP numbers are missing, of a curve that is not known, or wrong"},
      {R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHUQ"})",
       "key 2: its OKP numbers are missing, of a curve that is not known, or wrong"},
      {R"({"kty":"dilithium"})", "key 2: the `kty` 'dilithium' is not known"},
      {R"({})", "key 2: no `kty`"},
      {R"("text")", "key 2: no `kty`"},
  };
  for (const auto& row : kRows) {
    const auto reading = KeySet::read(set_of({signer_for(kEdDsa).jwk(), row.jwk}), KeySet::Origin::kFile);
    ASSERT_TRUE(reading) << row.jwk;
    EXPECT_EQ(reading->keys.size(), 1U) << row.jwk;
    ASSERT_EQ(reading->left_out.size(), 1U) << row.jwk;
    EXPECT_EQ(reading->left_out.front(), row.why);
  }
}

TEST(KeySetTest, GoodKeysMaySayThatTheyAreForThis) {
  for (const char* members : {R"("use":"sig")", R"("key_ops":["verify"])", R"("key_ops":["sign","verify"])"}) {
    EXPECT_EQ(keys_of({signer_for(kRs256).jwk(members)}).size(), 1U) << members;
  }
}

TEST(KeySetTest, SecretsComeFromFilesOnly) {
  const std::string text = set_of({signer_for(kHs256).jwk()});
  EXPECT_TRUE(KeySet::read(text, KeySet::Origin::kFile));
  const auto reading = KeySet::read(text, KeySet::Origin::kUrl);
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().message,
            "no key in it can be used (key 1: a secret (kty oct) is taken only from a file)");
}

TEST(KeySetTest, ASetWithoutKeysIsNone) {
  const std::string many = signer_for(kEdDsa).jwk();
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string(R"({"keys":{}})"), set_of({}),
        std::string(R"({"keys":[],"keys":[]})"), std::string("<html>"), set_of({Signer::rsa(1024).jwk()}),
        set_of(std::vector(KeySet::kMostKeys + 1, many)), std::string("-----BEGIN PUBLIC KEY-----\nAAAA\n"),
        std::string("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")}) {
    EXPECT_FALSE(KeySet::read(text, KeySet::Origin::kFile)) << text.substr(0, 80);
  }
}

TEST(KeySetTest, OneJsonWebKeyIsASet) {
  const auto reading = KeySet::read(signer_for(kEs256).jwk(), KeySet::Origin::kFile);
  ASSERT_TRUE(reading);
  EXPECT_EQ(check(reading->keys, signer_for(kEs256).token(kEs256, "{}")), "signed");
}

TEST(KeySetTest, PemMayHoldSeveralKeysAndTheyGoWithAnyKid) {
  const auto reading =
      KeySet::read("Some words.\n" + signer_for(kRs256).pem() + signer_for(kEs256).pem() + signer_for(kEdDsa).pem(),
                   KeySet::Origin::kFile);
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->keys.size(), 3U);
  for (const Algorithm algorithm : {kRs256, kPs256, kEs256, kEdDsa}) {
    EXPECT_EQ(check(reading->keys, signer_for(algorithm).token(algorithm, "{}")), "signed");
    EXPECT_EQ(check(reading->keys, signer_for(algorithm).token(algorithm, "{}", R"("kid":"x")")), "signed");
  }
}

TEST(KeySetTest, AtMostEightKeysAreTriedForATokenWithoutKid) {
  std::vector<std::string> jwks;
  std::vector<Signer> signers;
  for (int i = 0; i <= KeySet::kMostTries; ++i) {
    signers.push_back(Signer::ed25519());
    jwks.push_back(signers.back().jwk(R"("kid":")" + std::to_string(i) + "\""));
  }
  const KeySet keys = keys_of(jwks);
  EXPECT_EQ(check(keys, signers[KeySet::kMostTries - 1].token(kEdDsa, "{}")), "signed");
  EXPECT_EQ(check(keys, signers[KeySet::kMostTries].token(kEdDsa, "{}")), "signature");
  EXPECT_EQ(check(keys, signers[KeySet::kMostTries].token(kEdDsa, "{}", R"("kid":"8")")), "signed");
}

TEST(KeySetTest, AKeyIsTheSameInEverySet) {
  const std::string jwk = signer_for(kEs256).jwk(R"("kid":"a")");
  const KeySet first = keys_of({jwk});
  const KeySet second = keys_of({signer_for(kEdDsa).jwk(), jwk});
  const std::string text = signer_for(kEs256).token(kEs256, "{}", R"("kid":"a")");
  const auto token = parse_token(text);
  const KeySet third = keys_of({signer_for(kEs256).jwk(R"("kid":"b")")});
  ASSERT_TRUE(token);
  const Fingerprint identity = first.signer_of(*token).value()->identity();
  EXPECT_TRUE(second.contains(identity));
  EXPECT_FALSE(third.contains(identity));
}

}  // namespace
}  // namespace weir::jose
