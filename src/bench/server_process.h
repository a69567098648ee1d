// SPDX-License-Identifier: MIT
//
// ServerProcess is `belfry serve`, on a free port and with a store of its own: what is measured
// is exactly what users run. It ends with its owner.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace belfry {

// A new directory below `parent`; it goes away with its owner.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& parent);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr const char* kThisBinary = "/proc/self/exe";

class ServerProcess {
 public:
  // Returns when the server accepts connections.
  ServerProcess(const std::filesystem::path& binary, const std::filesystem::path& store);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t port() const { return port_; }
  pid_t id() const { return id_; }

 private:
  pid_t id_ = -1;
  int greeting_ = -1;  // open as long as the server may still write its greeting
  std::uint16_t port_ = 0;
};

// Processor seconds that each thread of a process has used, by the thread's name.
std::map<std::string, double> thread_seconds(pid_t process);

// Resident memory of a process, in bytes.
double resident_bytes(pid_t process);

}  // namespace belfry
