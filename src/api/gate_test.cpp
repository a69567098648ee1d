// SPDX-License-Identifier: MIT

#include "api/gate.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

bool admitted(HttpHeaders headers) {
  HttpRequest request;
  request.headers = std::move(headers);
  return Gate{}.admit(request).has_value();
}

// A page in a browser on this machine can send requests here: it must not get in.
TEST(Gate, LocalModeAdmitsThisMachineAndNoPageOfAnotherOrigin) {
  for (const char* host :
       {"localhost", "localhost:7070", "LOCALHOST", "127.0.0.1:7070", "127.1.2.3", "[::1]:7070"}) {
    EXPECT_TRUE(admitted({{"Host", host}})) << host;
  }
  for (const char* host : {"", "evil.test", "localhost.evil.test", "127.0.0.1.evil.test",
                           "10.0.0.1:7070", "[::2]", "127.0.0.1@evil.test", "0x7f.1"}) {
    EXPECT_FALSE(admitted({{"Host", host}})) << host;
  }
  EXPECT_TRUE(admitted({{"Host", "localhost:7070"}, {"Origin", "http://localhost:7070"}}));
  for (const char* origin : {"http://evil.test", "null", "http://localhost",
                             "https://localhost:7070", "http://localhost:8080"}) {
    EXPECT_FALSE(admitted({{"Host", "localhost:7070"}, {"Origin", origin}})) << origin;
  }
}

}  // namespace
}  // namespace belfry
