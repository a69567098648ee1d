// SPDX-License-Identifier: MIT

#include "net/resolver.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/instant.h"
#include "net/resolver_cache.h"

namespace belfry {
namespace {

constexpr Millis kPatience{20'000};

// A name server for one test: "slow…" gets no answer, "none…" does not exist, everything else
// is at 127.0.0.9, for `ttl` seconds.
class NameServer {
 public:
  explicit NameServer(std::uint8_t ttl) : ttl_(ttl), socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, generic, sizeof address), 0);
    socklen_t size = sizeof address;
    ::getsockname(socket_, generic, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }

  ~NameServer() {
    ::shutdown(socket_, SHUT_RDWR);  // wakes the thread
    thread_.join();
    ::close(socket_);
  }

  Resolver::Options options() const { return {.servers = "127.0.0.1:" + std::to_string(port_)}; }
  int questions() const { return questions_; }

 private:
  static constexpr std::size_t kHeaderBytes = 12;

  void serve() {
    while (true) {
      std::array<char, 1500> bytes;
      sockaddr_in from{};
      socklen_t size = sizeof from;
      auto* generic = reinterpret_cast<sockaddr*>(&from);
      const ssize_t count = ::recvfrom(socket_, bytes.data(), bytes.size(), 0, generic, &size);
      if (count <= static_cast<ssize_t>(kHeaderBytes)) return;
      const std::string answer = answer_to({bytes.data(), static_cast<std::size_t>(count)});
      if (!answer.empty()) ::sendto(socket_, answer.data(), answer.size(), 0, generic, size);
    }
  }

  std::string answer_to(const std::string& question) {
    const std::size_t name_end = question.find('\0', kHeaderBytes);
    std::string answer = question.substr(0, name_end + 5);  // with its type and class
    const std::string name = answer.substr(kHeaderBytes + 1);
    const bool ipv4 = answer[name_end + 2] == 1;
    if (ipv4) ++questions_;
    if (name.starts_with("slow")) return {};
    const bool known = !name.starts_with("none");
    answer[2] = '\x81';
    answer[3] = known ? '\x80' : '\x83';
    answer[7] = known && ipv4 ? 1 : 0;
    answer[9] = answer[11] = 0;
    if (answer[7] == 0) return answer;
    answer += std::string("\xC0\x0C\0\1\0\1\0\0\0", 9) + static_cast<char>(ttl_) +
              std::string("\0\4\x7F\0\0\x09", 6);
    return answer;
  }

  const std::uint8_t ttl_;
  int socket_;
  std::uint16_t port_ = 0;
  std::atomic<int> questions_ = 0;
  std::thread thread_;
};

std::future<Resolution> begin(Resolver& resolver, const std::string& host) {
  const auto promise = std::make_shared<std::promise<Resolution>>();
  resolver.resolve(host, [promise](Resolution found) { promise->set_value(std::move(found)); });
  return promise->get_future();
}

Resolution await(std::future<Resolution> found) {
  if (found.wait_for(kPatience) == std::future_status::ready) return found.get();
  ADD_FAILURE() << "no answer came";
  return {};
}

TEST(Resolver, FindsTheAddressOfAName) {
  const NameServer server(60);
  Resolver resolver(server.options());
  const Resolution found = await(begin(resolver, "target.test"));
  ASSERT_EQ(found.addresses.size(), 1u);
  EXPECT_EQ(found.addresses[0].text(), "127.0.0.9");
}

TEST(Resolver, AsksOnceForWhatItKnows) {
  const NameServer server(60);
  Resolver resolver(server.options());
  for (int i = 0; i < 3; ++i) await(begin(resolver, "target.test"));
  EXPECT_EQ(server.questions(), 1);
}

TEST(Resolver, SaysThatANameDoesNotExist) {
  const NameServer server(60);
  Resolver resolver(server.options());
  const Resolution found = await(begin(resolver, "none.test"));
  EXPECT_TRUE(found.addresses.empty());
  EXPECT_EQ(found.failure, "Domain name not found");
}

TEST(Resolver, LetsASlowNameDelayNoOther) {
  const NameServer server(60);
  Resolver resolver(server.options());
  std::vector<std::future<Resolution>> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(begin(resolver, "slow" + std::to_string(i) + ".test"));
  }
  EXPECT_EQ(await(begin(resolver, "target.test")).addresses.size(), 1u);
  EXPECT_EQ(slow[0].wait_for(Millis{0}), std::future_status::timeout);
}

// What is known already costs nobody a lookup.
TEST(Resolver, LooksUpABoundedNumberOfNamesAtOnce) {
  const NameServer server(60);
  Resolver::Options options = server.options();
  options.lookups_max = 2;
  Resolver resolver(options);
  EXPECT_EQ(await(begin(resolver, "known.test")).addresses.size(), 1u);
  const auto first = begin(resolver, "slow1.test");
  const auto second = begin(resolver, "slow2.test");
  EXPECT_EQ(await(begin(resolver, "target.test")).failure, "2 names are being looked up already");
  EXPECT_EQ(await(begin(resolver, "known.test")).addresses.size(), 1u);
}

TEST(Resolver, EndsWhileItIsAsked) {
  const NameServer server(60);
  auto resolver = std::make_unique<Resolver>(server.options());
  const auto slow = begin(*resolver, "slow.test");
  resolver.reset();
  EXPECT_EQ(slow.wait_for(Millis{0}), std::future_status::ready) << "the promise was dropped";
}

TEST(ResolverCache, KeepsAnAnswerForItsTime) {
  ResolverCache cache;
  const ResolverCache::Time start{};
  const Resolution found{{*IpAddress::parse("1.1.1.1")}, {}};
  cache.keep("a", found, Seconds{10}, start);
  EXPECT_NE(cache.find("a", start + Seconds{9}), nullptr);
  EXPECT_EQ(cache.find("a", start + Seconds{10}), nullptr);
  EXPECT_EQ(cache.find("b", start), nullptr);
}

TEST(ResolverCache, BoundsHowLong) {
  ResolverCache cache;
  const ResolverCache::Time start{};
  const Resolution found{{*IpAddress::parse("1.1.1.1")}, {}};
  cache.keep("never", found, Seconds{0}, start);
  cache.keep("ever", found, Seconds{86400}, start);
  cache.keep("failed", {{}, "no"}, Seconds{86400}, start);
  EXPECT_EQ(cache.find("never", start + ResolverCache::kTtlMin), nullptr);
  EXPECT_EQ(cache.find("failed", start + ResolverCache::kTtlMin), nullptr);
  EXPECT_NE(cache.find("ever", start + ResolverCache::kTtlMax - Seconds{1}), nullptr);
  EXPECT_EQ(cache.find("ever", start + ResolverCache::kTtlMax), nullptr);
}

TEST(ResolverCache, IsBounded) {
  ResolverCache cache;
  for (std::size_t i = 0; i <= 3 * ResolverCache::kNamesMax; ++i) {
    cache.keep(std::to_string(i), {}, Seconds{10}, {});
  }
  EXPECT_LE(cache.size(), ResolverCache::kNamesMax);
}

}  // namespace
}  // namespace belfry
