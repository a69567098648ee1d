// SPDX-License-Identifier: MIT
//
// The bare ceiling: what this machine can do at all. A loop that POSTs over raw epoll to a
// sink on keep-alive connections and records each answer as a history row and a job row in
// SQLite (WAL, synchronous=FULL), group commit. No JSON, no parsing worth the name, no
// policy: whatever Belfry does has to be measured against this, in the same run.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kConnections = 64;
constexpr int kBatchMax = 1000;

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) die("connect");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

class Recorder {
 public:
  explicit Recorder(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) die("sqlite3_open");
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE job(id INTEGER PRIMARY KEY, due INTEGER, runs INTEGER);"
        "CREATE TABLE history(id INTEGER PRIMARY KEY, job INTEGER, seq INTEGER, message TEXT);"
        "CREATE UNIQUE INDEX place ON history(job, seq);");
    sqlite3_prepare_v2(db_, "INSERT INTO job VALUES(?1, ?2, 1)", -1, &job_, nullptr);
    sqlite3_prepare_v2(db_, "INSERT INTO history(job, seq, message) VALUES(?1, 1, ?2)", -1,
                       &history_, nullptr);
  }

  void record(const std::vector<int>& jobs) {
    run("BEGIN");
    for (const int job : jobs) {
      sqlite3_bind_int(job_, 1, job);
      sqlite3_bind_int(job_, 2, job);
      sqlite3_step(job_);
      sqlite3_reset(job_);
      sqlite3_bind_int(history_, 1, job);
      sqlite3_bind_text(history_, 2, message_.data(), static_cast<int>(message_.size()),
                        SQLITE_STATIC);
      sqlite3_step(history_);
      sqlite3_reset(history_);
    }
    run("COMMIT");
  }

 private:
  void run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) die(sqlite3_errmsg(db_));
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* job_ = nullptr;
  sqlite3_stmt* history_ = nullptr;
  const std::string message_ = std::string(300, 'm');
};

class Ceiling {
 public:
  Ceiling(int port, int jobs, const std::string& path) : jobs_(jobs), recorder_(path) {
    poll_ = epoll_create1(0);
    for (int i = 0; i < kConnections; ++i) {
      fds_.push_back(connect_to(port));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.fd = fds_.back();
      epoll_ctl(poll_, EPOLL_CTL_ADD, fds_.back(), &event);
    }
  }

  void run() {
    for (const int fd : fds_) post(fd);
    std::vector<int> answered;
    while (recorded_ < jobs_) {
      epoll_event events[kConnections];
      const int count = epoll_wait(poll_, events, kConnections, -1);
      for (int i = 0; i < count; ++i) take(events[i].data.fd, answered);
      const bool last = received_ == jobs_;
      if (answered.size() < kBatchMax && !last && count == kConnections) continue;
      recorder_.record(answered);
      recorded_ += static_cast<int>(answered.size());
      answered.clear();
    }
  }

 private:
  void post(int fd) {
    if (sent_ == jobs_) return;
    ++sent_;
    static const std::string request =
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}";
    if (write(fd, request.data(), request.size()) < 0) die("write");
  }

  void take(int fd, std::vector<int>& answered) {
    char bytes[4096];
    if (read(fd, bytes, sizeof(bytes)) <= 0) die("read");
    answered.push_back(++received_);
    post(fd);
  }

  int jobs_;
  Recorder recorder_;
  int poll_ = -1;
  std::vector<int> fds_;
  int sent_ = 0;
  int received_ = 0;
  int recorded_ = 0;
};

}  // namespace

// ceiling PORT JOBS: the sink listens on PORT and answers each POST in one piece.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int jobs = std::atoi(argv[2]);
  char directory[] = "/var/tmp/belfry-ceiling-XXXXXX";
  if (mkdtemp(directory) == nullptr) die("mkdtemp");
  Ceiling ceiling(std::atoi(argv[1]), jobs, std::string(directory) + "/db");
  const auto began = SteadyClock::now();
  ceiling.run();
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - began).count();
  std::filesystem::remove_all(directory);
  fmt::print("{:.0f}\n", jobs / seconds);
}
