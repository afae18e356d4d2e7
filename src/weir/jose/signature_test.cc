// SPDX-License-Identifier: Apache-2.0
//
// Signatures that others made: RFC 7515 appendix A and RFC 8037 appendix A; and what is not quite a signature.
#include "weir/jose/signature.h"

#include <gtest/gtest.h>

#include "weir/jose/key_set.h"
#include "weir/jose/testing/signer.h"

namespace weir::jose {
namespace {

using testing::Signer;

struct Vector {
  Algorithm algorithm;
  std::string_view jwk, header, payload, signature;
};

constexpr std::string_view kJoe =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

constexpr Vector kVectors[] = {
    {Algorithm::kHs256,
     R"({"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"})",
     "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9", kJoe, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
    {Algorithm::kRs256,
     R"({"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2)"
     R"(mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexM)"
     R"(dbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco)"
     R"(9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"})",
     "eyJhbGciOiJSUzI1NiJ9", kJoe,
     "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7"
     "t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi1"
     "2jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGl"
     "UPQGe77Rw"},
    {Algorithm::kEs256,
     R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
     R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})",
     "eyJhbGciOiJFUzI1NiJ9", kJoe,
     "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"},
    {Algorithm::kEdDsa, R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})",
     "eyJhbGciOiJFZERTQSJ9", "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
     "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"},
};

Token token_of(Algorithm algorithm, std::string_view text, std::string signature) {
  Token token;
  token.algorithm = algorithm;
  token.signed_part = text;
  token.signature = std::move(signature);
  return token;
}

Key key_of(std::string_view jwk) { return Key::from_jwk(read_object(jwk).get()).value(); }

TEST(SignatureTest, TheExamplesOfTheStandardsAreRight) {
  for (const Vector& vector : kVectors) {
    const std::string text = std::string(vector.header) + "." + std::string(vector.payload);
    const std::string signature = *decode_base64url(vector.signature);
    const Key key = key_of(vector.jwk);
    EXPECT_TRUE(key.has_signed(token_of(vector.algorithm, text, signature))) << name_of(vector.algorithm);
    EXPECT_FALSE(key.has_signed(token_of(vector.algorithm, text + "x", signature))) << name_of(vector.algorithm);
  }
}

TEST(SignatureTest, EveryAlgorithmTakesItsOwnSignatureAndNoOther) {
  const std::string text = "header.payload";
  for (int i = 0; i < static_cast<int>(Algorithm::kCount); ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    const Signer& signer = testing::signer_for(algorithm);
    const Key key = key_of(signer.jwk());
    const std::string good = signer.signature(algorithm, text);
    EXPECT_TRUE(key.has_signed(token_of(algorithm, text, good))) << name_of(algorithm);
    for (int j = 0; j < static_cast<int>(Algorithm::kCount); ++j) {
      if (i == j) continue;
      EXPECT_FALSE(key.has_signed(token_of(static_cast<Algorithm>(j), text, good))) << i << " as " << j;
    }
  }
  const Signer large = Signer::ed448();
  const std::string good = large.signature(Algorithm::kEdDsa, text);
  EXPECT_TRUE(key_of(large.jwk()).has_signed(token_of(Algorithm::kEdDsa, text, good)));
}

TEST(SignatureTest, ASignatureIsNeitherShorterNorLongerNorChanged) {
  const std::string text = "header.payload";
  for (int i = 0; i < static_cast<int>(Algorithm::kCount); ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    const Signer& signer = testing::signer_for(algorithm);
    const Key key = key_of(signer.jwk());
    const std::string good = signer.signature(algorithm, text);
    std::string turned = good;
    turned[turned.size() / 2] = static_cast<char>(turned[turned.size() / 2] ^ 1);
    const std::string half = good.substr(0, good.size() / 2);
    for (const std::string& bad : {std::string(), good.substr(1), good.substr(0, good.size() - 1), good + '\0',
                                   '\0' + good, half, good + good, turned, std::string(good.size(), '\0')}) {
      EXPECT_FALSE(key.has_signed(token_of(algorithm, text, bad))) << name_of(algorithm) << " " << bad.size();
    }
  }
}

// r and s have fixed lengths: neither what DER would drop nor what it would take.
TEST(SignatureTest, TheNumbersOfAnEcdsaSignatureAreOfTheExactLength) {
  const std::string text = "header.payload";
  const Signer& signer = testing::signer_for(Algorithm::kEs256);
  const Key key = key_of(signer.jwk());
  const std::string good = signer.signature(Algorithm::kEs256, text);
  const std::string r = good.substr(0, 32);
  const std::string s = good.substr(32);
  for (const std::string& bad : {s + r, '\0' + r + '\0' + s, r + '\0' + s, r + r, s + s, std::string(32, '\0') + s,
                                 r + std::string(32, '\0')}) {
    EXPECT_FALSE(key.has_signed(token_of(Algorithm::kEs256, text, bad))) << bad.size();
  }
}

}  // namespace
}  // namespace weir::jose
