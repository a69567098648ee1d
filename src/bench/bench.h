// SPDX-License-Identifier: MIT
//
// `belfry bench`: how fast is Belfry on this machine? It starts the server that users run, with a
// store of its own on the disk that is to be measured, and calls it and is called by it over
// loopback; every write is durable and every execution recorded, as in earnest.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace belfry {

inline constexpr std::int64_t kBenchJobsMax = 1'000'000;

struct BenchOptions {
  bool json = false;  // a JSON line per measurement instead of a table
  std::string only;   // measurements whose name contains this; empty: all
  std::filesystem::path store_parent = "/var/tmp";
  std::uint16_t server_port = 0;  // of a server that runs on this machine; 0: one is started
  std::string token;              // for that server

  std::int64_t backlog = 50'000;   // jobs that are due together, to be worked off
  std::int64_t spread = 10'000;    // jobs that are due one after the other,
  int spread_seconds = 20;         // over so long
  std::int64_t herd = 10'000;      // jobs that are due in one instant
  std::int64_t requests = 20'000;  // to the API, per measurement

  // About a tenth of everything: for a first look.
  void make_quick();
};

// Prints as it goes. The exit code: 1 when a measurement could not be made.
int run_bench(const BenchOptions& options);

}  // namespace belfry
