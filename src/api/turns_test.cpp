// SPDX-License-Identifier: MIT
//
// Who takes turns with whom at the workers: credentials, and without one the machines that ask.

#include <gtest/gtest.h>

#include <latch>

#include "api/api.h"
#include "store/memory_store.h"

namespace belfry {
namespace {

class IdleDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt&, const Job&, Instant) override { return false; }
};

class TurnsTest : public testing::Test {
 protected:
  // The one worker is held until everybody has asked.
  TurnsTest() {
    workers_.post([this] {
      held_.count_down();
      released_.wait();
    });
    held_.wait();
  }

  void ask(const std::string& who, const std::string& credential, const std::string& address) {
    HttpRequest request;
    request.method = "GET";
    request.target = "/nowhere";
    request.remote_address = address;
    request.headers.emplace_back("Host", "localhost");
    if (!credential.empty()) request.headers.emplace_back("Authorization", credential);
    api_.handle(request, [this, who](const HttpResponse&) { order_ += who; });
  }

  // In which order they were answered.
  std::string order() {
    released_.count_down();
    workers_.finish();
    return order_;
  }

  MemoryStore store_;
  IdleDispatcher dispatcher_;
  VirtualClock clock_{kFirstInstant};
  Engine engine_{store_, dispatcher_, Random{1}, {}};
  std::latch held_{1};
  std::latch released_{1};
  std::string order_;
  WorkerPool workers_{1, {}};
  Api api_{store_, engine_, clock_, workers_, {}};
};

TEST_F(TurnsTest, AreTakenByCredentialsWhereverTheyCallFrom) {
  for (const char* address : {"1.1.1.1", "2.2.2.2", "3.3.3.3"}) ask("a", "Bearer a", address);
  ask("b", "Bearer b", "1.1.1.1");
  EXPECT_EQ(order(), "abaa");
}

TEST_F(TurnsTest, AreTakenByMachinesWithoutACredential) {
  for (int i = 0; i < 3; ++i) ask("a", "", "1.1.1.1");
  ask("b", "", "2.2.2.2");
  EXPECT_EQ(order(), "abaa");
}

}  // namespace
}  // namespace belfry
