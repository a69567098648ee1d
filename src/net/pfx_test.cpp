// SPDX-License-Identifier: MIT

#include "net/pfx.h"

#include <gtest/gtest.h>

#include "net/pfx_bounds.h"
#include "net/pfx_crafted.h"
#include "net/pfx_samples.h"

namespace belfry {
namespace {

void expect_known(const Result<Pfx>& pfx) {
  ASSERT_TRUE(pfx) << pfx.error().message;
  const CertificateFacts facts = pfx->facts();
  EXPECT_EQ(facts.thumbprint, kPfxThumbprint);
  EXPECT_EQ(format_instant(facts.expiration), kPfxExpiration);
  EXPECT_EQ(facts.subject_name, kPfxSubject);
}

TEST(Pfx, TellsWhatTheCertificateSaysOfItself) {
  expect_known(Pfx::open(kModernPfx, kPfxPassword));
}

TEST(Pfx, OpensWhatWindowsWroteForTwentyYears) {
  expect_known(Pfx::open(kOldPfx, kPfxPassword));
}

TEST(Pfx, OpensOneWithoutAPassword) {
  expect_known(Pfx::open(kPfxWithoutPassword, ""));
}

TEST(Pfx, MayHaveLineBreaks) {
  std::string wrapped;
  for (const char c : std::string(kModernPfx)) {
    wrapped.push_back(c);
    if (wrapped.size() % 66 == 64) wrapped += "\r\n";
  }
  expect_known(Pfx::open(wrapped, kPfxPassword));
}

TEST(Pfx, SaysWhyItDoesNotOpen) {
  const auto why = [](std::string_view base64, const std::string& password) {
    const auto pfx = Pfx::open(base64, password);
    return pfx ? std::string("it opened") : pfx.error().message;
  };
  EXPECT_EQ(why("", ""), "is not base64.");
  EXPECT_EQ(why("no base64!", ""), "is not base64.");
  EXPECT_EQ(why("aGVsbG8=", ""), "is not a PFX (PKCS #12) file.");
  EXPECT_EQ(why(std::string(kModernPfx).substr(0, 400), kPfxPassword),
            "is not a PFX (PKCS #12) file.");
  EXPECT_EQ(why(kModernPfx, "wrong"), "cannot be opened with this password.");
  EXPECT_EQ(why(kModernPfx, ""), "cannot be opened with this password.");
  EXPECT_EQ(why(kPfxWithoutKey, kPfxPassword), "holds no private key.");
}

// The same, whatever file it came in.
TEST(Pfx, IsReadFromTheTextThatIsKept) {
  const auto modern = Pfx::open(kModernPfx, kPfxPassword);
  const auto old = Pfx::open(kOldPfx, kPfxPassword);
  ASSERT_TRUE(modern && old);
  EXPECT_EQ(modern->kept(), old->kept());
  EXPECT_LT(modern->kept().size(), sizeof kOldPfx);
  EXPECT_TRUE(is_kept_pfx(modern->kept()));
  EXPECT_FALSE(signs_slowly(modern->kept()));
  expect_known(Pfx::read(modern->kept()));
  for (const std::string& other : {std::string(kModernPfx), std::string("opened:"),
                                   std::string("opened:AAAA"), modern->kept() + "AAAA"}) {
    EXPECT_FALSE(Pfx::read(other)) << other;
  }
  EXPECT_FALSE(is_kept_pfx(kModernPfx));
}

TEST(Pfx, WhyOneDidNotOpenIsKeptToo) {
  const auto pfx = Pfx::open(kOldKeytoolPfx, kPfxPassword);
  ASSERT_FALSE(pfx);
  const std::string kept = kept_refusal(pfx.error());
  EXPECT_TRUE(is_kept_pfx(kept) && is_refused_pfx(kept));
  const auto read = Pfx::read(kept);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, pfx.error().message);
}

std::string objection(const CraftedPfx& file, int mac_iterations = 0,
                      const EVP_MD* digest = EVP_sha256()) {
  const auto pfx = Pfx::open(file.base64(mac_iterations, digest), "x");
  return pfx ? "" : pfx.error().message;
}

class PfxBounds : public testing::Test {
 protected:
  PfxBounds() { file_.certificates(own_); }

  std::string objection_to_encryption(X509_ALGOR* how) {
    CraftedPfx file;
    return objection(file.certificates(own_).shrouded_key(own_.key.get(), how));
  }

  // A file with this key, and a certificate for it.
  static std::string objection_to_key(EVP_PKEY* key) {
    Identity own = make_identity({});
    X509_set_pubkey(own.certificate.get(), key);
    CraftedPfx file;
    return objection(file.certificates(own).key(key));
  }

  const Identity own_ = make_identity({});
  CraftedPfx file_;
};

constexpr char kTooManyIterations[] =
    "takes more than 50000 iterations to open, all in all: export it anew, as `openssl pkcs12 "
    "-export` does.";

std::string not_understood(const std::string& name) {
  return "is encrypted with '" + name +
         "', which is not one of the ways that are understood: export it anew, as `openssl pkcs12 "
         "-export` does.";
}

TEST_F(PfxBounds, WhatKeytoolWritesOpens) {
  const auto pfx = Pfx::open(kKeytoolPfx, kPfxPassword);
  ASSERT_TRUE(pfx) << pfx.error().message;
  EXPECT_EQ(pfx->facts().thumbprint, kKeytoolThumbprint);
}

TEST_F(PfxBounds, WhatKeytoolWroteBeforeTakesTooMuch) {
  const auto pfx = Pfx::open(kOldKeytoolPfx, kPfxPassword);
  ASSERT_FALSE(pfx);
  EXPECT_EQ(pfx.error().message, kTooManyIterations);
}

// It would keep a thread busy for as long as its maker likes.
TEST_F(PfxBounds, IterationsAreBounded) {
  const auto pfx = Pfx::open(kPfxOfManyIterations, "x");
  ASSERT_FALSE(pfx);
  EXPECT_EQ(pfx.error().message, kTooManyIterations);
  EXPECT_EQ(objection_to_encryption(by_pbkdf2(2'000'000'000)), kTooManyIterations);
}

// Each of them alone would be let through.
TEST_F(PfxBounds, IterationsAreAddedUpOverTheWholeFile) {
  file_.key(own_.key.get()).encrypted_safe(own_, 25'000);
  EXPECT_EQ(objection(file_, 25'000), "");
  EXPECT_EQ(objection(file_, 25'001), kTooManyIterations);
  EXPECT_EQ(objection(file_.encrypted_safe(own_, 25'001)), kTooManyIterations);
}

// Of a key the encryption may be seen only when a safe was opened.
TEST_F(PfxBounds, IterationsOfTheKeyCount) {
  file_.encrypted_safe(own_, 25'000).shrouded_key(own_.key.get(), by_pbkdf2(25'001));
  EXPECT_EQ(objection(file_), kTooManyIterations);
}

TEST_F(PfxBounds, ScryptIsRefusedByName) {
  EXPECT_EQ(objection_to_encryption(by_scrypt(16'384)), not_understood("scrypt"));
}

TEST_F(PfxBounds, OtherDerivationsHashesAndCiphersAreRefusedByName) {
  EXPECT_EQ(objection_to_encryption(by_simple(NID_pbeWithMD5AndDES_CBC, 1)),
            not_understood("pbeWithMD5AndDES-CBC"));
  EXPECT_EQ(objection_to_encryption(by_pbkdf2(1, NID_hmacWithSHA512_256)),
            not_understood("hmacWithSHA512-256"));
  EXPECT_EQ(objection_to_encryption(by_pbkdf2(1, NID_hmacWithSHA256, EVP_camellia_256_cbc())),
            not_understood("camellia-256-cbc"));
  file_.key(own_.key.get());
  EXPECT_EQ(objection(file_, 1, EVP_sha3_256()), not_understood("sha3-256"));
}

TEST_F(PfxBounds, SafesBagsAndCertificatesAreBounded) {
  file_.key(own_.key.get());
  for (int safes = 2; safes < kPfxSafesMax; ++safes) file_.encrypted_safe(own_, 1);
  EXPECT_EQ(objection(file_), "");
  EXPECT_EQ(objection(file_.encrypted_safe(own_, 1)), "holds more than 8 safes.");
  CraftedPfx of_certificates;
  of_certificates.key(own_.key.get()).certificates(own_, kPfxCertificatesMax);
  EXPECT_EQ(objection(of_certificates), "");
  EXPECT_EQ(objection(of_certificates.certificates(own_)), "holds more than 8 certificates.");
  CraftedPfx of_bags;
  for (int keys = 0; keys < 4; ++keys) of_bags.key(own_.key.get());
  EXPECT_EQ(objection(of_bags.certificates(own_, kPfxBagsMax)), "holds more than 32 bags.");
}

TEST_F(PfxBounds, AFileHasABoundedSize) {
  const auto pfx = Pfx::open(base64_of(std::string(kPfxBytesMax + 1, 'x')), "");
  ASSERT_FALSE(pfx);
  EXPECT_EQ(pfx.error().message, "is longer than 12288 bytes.");
}

TEST_F(PfxBounds, KeysAreOfThreeKinds) {
  const KeyPtr p384(EVP_EC_gen("P-384"));
  EXPECT_EQ(objection_to_key(p384.get()), "");
  const KeyPtr p521(EVP_EC_gen("P-521"));
  EXPECT_EQ(objection_to_key(p521.get()),
            "holds a key of a kind that is not understood, 'secp521r1': it must be RSA, P-256 or "
            "P-384.");
  const KeyPtr ed25519(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  EXPECT_EQ(objection_to_key(ed25519.get()),
            "holds a key of a kind that is not understood, 'ED25519': it must be RSA, P-256 or "
            "P-384.");
}

// What a signature costs grows with the third power of it.
TEST_F(PfxBounds, RsaKeysHaveABoundedSize) {
  EXPECT_EQ(objection_to_key(rsa_of_size(kPfxRsaBitsMax).get()), "");
  EXPECT_EQ(objection_to_key(rsa_of_size(8192).get()),
            "holds an RSA key of 8192 bits; at most 4096 are allowed.");
}

// With such a part every signature takes many times as long.
TEST_F(PfxBounds, PartsOfAnRsaKeyAreAsLongAsTheyShouldBe) {
  for (const char* part :
       {OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D, OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1}) {
    EXPECT_EQ(objection_to_key(rsa_of_size(2048, {{part, 2049}}).get()),
              "holds an RSA key whose parts are not as long as they should be.")
        << part;
  }
}

TEST_F(PfxBounds, WhetherAKeySignsSlowlyIsKnownBeforeItIsRead) {
  for (const auto& [bits, slow] : {std::pair(2048, false), std::pair(3072, true)}) {
    const KeyPtr key = rsa_of_size(bits);
    Identity own = make_identity({});
    X509_set_pubkey(own.certificate.get(), key.get());
    CraftedPfx file;
    const auto pfx = Pfx::open(file.certificates(own).key(key.get()).base64(), "x");
    ASSERT_TRUE(pfx) << pfx.error().message;
    EXPECT_EQ(signs_slowly(pfx->kept()), slow) << bits;
  }
}

}  // namespace
}  // namespace belfry
