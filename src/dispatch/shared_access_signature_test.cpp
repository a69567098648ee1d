// SPDX-License-Identifier: MIT

#include "dispatch/shared_access_signature.h"

#include <gtest/gtest.h>

#include "model/secret_mask.h"

namespace belfry {
namespace {

// The expected tokens were computed with Python's hmac, hashlib, base64 and urllib.
TEST(SharedAccessSignature, IsWhatAnIndependentComputationGives) {
  EXPECT_EQ(shared_access_signature("https://contoso.servicebus.windows.net/orders",
                                    {"RootManageSharedAccessKey", Secret("bXkga2V5IGlzIHRleHQ=")},
                                    Instant{Seconds{1'893'456'000}}),
            "SharedAccessSignature sr=https%3A%2F%2Fcontoso.servicebus.windows.net%2Forders&s"
            "ig=j8LMXsgpy%2Bfv1SmpP9wPW6aF766TzJjBorAUjZodm5I%3D&se=1893456000&skn=RootManage"
            "SharedAccessKey");
  EXPECT_EQ(shared_access_signature("sb://127.0.0.1:5671/a b/\xC3\xA4", {"name&=+", Secret("k")},
                                    Instant{Seconds{1} + Ticks{9'999'999}}),
            "SharedAccessSignature sr=sb%3A%2F%2F127.0.0.1%3A5671%2Fa%20b%2F%C3%A4&sig=BZx17Y"
            "wQHCFJV64N5z%2Fk6tUuqBaYV4b2Pt9NIMz7P9U%3D&se=1&skn=name%26%3D%2B");
}

TEST(SharedAccessSignature, FindsTheSignatureInATokenOfEitherKind) {
  EXPECT_EQ(signature_in("?sig=abc%3D&sv=1"), "abc%3D");
  EXPECT_EQ(signature_in("sig=abc"), "abc");
  EXPECT_EQ(signature_in("sv=1&sig=abc&se=2"), "abc");
  EXPECT_EQ(signature_in("SharedAccessSignature sr=x&sig=a%2Bb&se=1&skn=n"), "a%2Bb");
  EXPECT_EQ(signature_in("TOKEN"), "");
  EXPECT_EQ(signature_in("sv=1&design=x"), "");
}

}  // namespace
}  // namespace belfry
