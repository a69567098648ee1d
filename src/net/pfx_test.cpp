// SPDX-License-Identifier: MIT

#include "net/pfx.h"

#include <gtest/gtest.h>

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

// It would keep a thread busy for as long as its maker likes.
TEST(Pfx, DoesNotHashForever) {
  const auto pfx = Pfx::open(kPfxOfManyIterations, "x");
  ASSERT_FALSE(pfx);
  EXPECT_EQ(pfx.error().message, "takes more than 100000 iterations to open.");
}

}  // namespace
}  // namespace belfry
