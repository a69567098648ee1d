// SPDX-License-Identifier: MIT

#include "net/resolver.h"

#include <ares.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/thread_name.h"
#include "net/resolver_cache.h"

namespace belfry {
namespace {

constexpr int kTryMs = 2'000;  // for the first round of servers; c-ares doubles it
constexpr int kTries = 3;
constexpr Seconds kChannelAgeMax{60};  // then the system's settings are read again
constexpr int kPollMsMax = 1'000;

IpAddress address_of(const ares_addrinfo_node& node) {
  IpAddress address;
  if (node.ai_family == AF_INET) {
    const auto* found = reinterpret_cast<const sockaddr_in*>(node.ai_addr);
    std::memcpy(address.bytes.data(), &found->sin_addr, 4);
  } else {
    const auto* found = reinterpret_cast<const sockaddr_in6*>(node.ai_addr);
    address.family = IpAddress::Family::v6;
    std::memcpy(address.bytes.data(), &found->sin6_addr, 16);
  }
  return address;
}

struct Found {
  Resolution resolution;
  Seconds ttl{0};
};

Found found_in(int status, const ares_addrinfo* info) {
  Found found;
  int ttl = static_cast<int>(ResolverCache::kTtlMax.count());
  for (auto* node = info != nullptr ? info->nodes : nullptr; node != nullptr;
       node = node->ai_next) {
    if (node->ai_family != AF_INET && node->ai_family != AF_INET6) continue;
    found.resolution.addresses.push_back(address_of(*node));
    ttl = std::min(ttl, node->ai_ttl);
  }
  found.ttl = Seconds{ttl};
  if (found.resolution.addresses.empty()) {
    found.resolution.failure = ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status);
  }
  return found;
}

}  // namespace

// Everything but post() and the end belongs to the thread itself: c-ares is not to be called
// from two at once.
class Resolver::Thread {
 public:
  explicit Thread(Options options)
      : options_(std::move(options)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    ASSERT(wake_ >= 0);
    ares_library_init(ARES_LIB_INIT_ALL);
    thread_ = std::thread([this] { run(); });
  }

  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake();
    thread_.join();
    ::close(wake_);
    ares_library_cleanup();
  }

  void post(const std::string& host, ResolveDone done) {
    {
      const std::lock_guard lock(mutex_);
      asked_.emplace_back(host, std::move(done));
    }
    wake();
  }

 private:
  using Asked = std::vector<std::pair<std::string, ResolveDone>>;
  using Now = ResolverCache::Time;

  struct Lookup {
    Thread* owner;
    std::string host;
  };

  void wake() {
    const std::uint64_t one = 1;
    const ssize_t written = ::write(wake_, &one, sizeof one);
    static_cast<void>(written);  // it fails only when the thread is to wake up already
  }

  void run() {
    name_thread("resolver");
    while (true) {
      Asked asked;
      {
        const std::lock_guard lock(mutex_);
        if (ending_) break;
        asked.swap(asked_);
      }
      for (auto& [host, done] : asked) begin(host, std::move(done));
      wait();
    }
    waiting_.clear();  // whoever still waits is not told
    drop_channel();
  }

  void begin(const std::string& host, ResolveDone done) {
    const Now now = std::chrono::steady_clock::now();
    if (const Resolution* kept = cache_.find(host, now)) return done(*kept);
    if (waiting_.size() >= options_.lookups_max) {
      return done({{}, fmt::format("{} names are being looked up already", waiting_.size())});
    }
    auto& waiting = waiting_[host];
    waiting.push_back(std::move(done));
    if (waiting.size() > 1) return;  // somebody has asked already
    if (!refresh_channel(now)) return end(host, {{{}, "name resolution cannot be set up"}, {}});
    look_up(host);
  }

  void look_up(const std::string& host) {
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ++under_way_;
    ares_getaddrinfo(channel_, host.c_str(), nullptr, &hints, &Thread::on_answer,
                     new Lookup{this, host});
  }

  static void on_answer(void* argument, int status, int, ares_addrinfo* info) {
    const std::unique_ptr<Lookup> lookup(static_cast<Lookup*>(argument));
    const Found found = found_in(status, info);
    ares_freeaddrinfo(info);
    --lookup->owner->under_way_;
    lookup->owner->end(lookup->host, found);
  }

  void end(const std::string& host, const Found& found) {
    const auto entry = waiting_.find(host);
    if (entry == waiting_.end()) return;  // the resolver is ending
    const std::vector<ResolveDone> waiting = std::move(entry->second);
    waiting_.erase(entry);
    cache_.keep(host, found.resolution, found.ttl, std::chrono::steady_clock::now());
    for (const ResolveDone& done : waiting) done(found.resolution);
  }

  // c-ares reads resolv.conf and hosts only when a channel is made.
  bool refresh_channel(Now now) {
    if (channel_ != nullptr && (under_way_ > 0 || now < channel_until_)) return true;
    drop_channel();
    ares_options wanted{};
    wanted.timeout = kTryMs;
    wanted.tries = kTries;
    wanted.sock_state_cb = &Thread::on_socket;
    wanted.sock_state_cb_data = this;
    const int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
    if (ares_init_options(&channel_, &wanted, mask) != ARES_SUCCESS) {
      channel_ = nullptr;
      return false;
    }
    channel_until_ = now + kChannelAgeMax;
    return options_.servers.empty() ||
           ares_set_servers_ports_csv(channel_, options_.servers.c_str()) == ARES_SUCCESS;
  }

  void drop_channel() {
    if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
    sockets_.clear();
  }

  static void on_socket(void* self, ares_socket_t socket, int readable, int writable) {
    auto& sockets = static_cast<Thread*>(self)->sockets_;
    if (readable == 0 && writable == 0) {
      sockets.erase(socket);
    } else {
      sockets[socket] = static_cast<short>((readable ? POLLIN : 0) | (writable ? POLLOUT : 0));
    }
  }

  void wait() {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}};
    for (const auto& [socket, events] : sockets_) polled.push_back({socket, events, 0});
    ::poll(polled.data(), polled.size(), patience_ms());
    std::uint64_t ignored = 0;
    const ssize_t drained = ::read(wake_, &ignored, sizeof ignored);
    static_cast<void>(drained);
    if (channel_ != nullptr) process(polled);
  }

  int patience_ms() {
    if (under_way_ == 0) return -1;
    timeval at_most{kPollMsMax / 1000, 0};
    timeval buffer{};
    const timeval* patience = ares_timeout(channel_, &at_most, &buffer);
    return static_cast<int>(patience->tv_sec * 1000 + (patience->tv_usec + 999) / 1000);
  }

  void process(const std::vector<pollfd>& polled) {
    for (std::size_t i = 1; i < polled.size(); ++i) {
      const bool readable = (polled[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0;
      const bool writable = (polled[i].revents & POLLOUT) != 0;
      if (!readable && !writable) continue;
      ares_process_fd(channel_, readable ? polled[i].fd : ARES_SOCKET_BAD,
                      writable ? polled[i].fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // time-outs
  }

  const Options options_;
  const int wake_;
  std::mutex mutex_;
  Asked asked_;
  bool ending_ = false;

  ares_channel channel_ = nullptr;
  Now channel_until_;
  std::size_t under_way_ = 0;
  std::map<ares_socket_t, short> sockets_;
  std::unordered_map<std::string, std::vector<ResolveDone>> waiting_;
  ResolverCache cache_;
  std::thread thread_;
};

Resolver::Resolver(Options options) : thread_(std::make_unique<Thread>(std::move(options))) {}

Resolver::~Resolver() = default;

void Resolver::resolve(const std::string& host, ResolveDone done) {
  thread_->post(host, std::move(done));
}

}  // namespace belfry
