// SPDX-License-Identifier: MIT
//
// `belfry job …`: look at the jobs of a running server and change them, from a terminal.

#pragma once

#include <optional>
#include <string>

#include "app/cli_command.h"
#include "app/environment.h"
#include "app/flags.h"

namespace belfry {

class JobCommands : public CliCommand {
 public:
  void add_to(CLI::App& app) override;
  std::optional<int> run() const override;

 private:
  enum class Verb {
    list,
    get,
    create,
    update,
    remove,
    run,
    enable,
    disable,
    history,
    preflight,
  };

  CLI::App* add_verb(CLI::App& jobs, Verb verb, const char* name, const char* help);
  int perform(Verb verb) const;
  int switch_in_store(Verb verb) const;
  int list(Verb verb) const;
  Status find_job() const;
  RemoteRequest request_for(Verb verb) const;
  void print(Verb verb, const boost::json::value& answer) const;
  void tell_next_ring(const boost::json::value& answer) const;
  std::string collection_path() const;
  std::string target(std::string_view below = "", std::string_view query = "") const;

  RemoteFlags remote_flags_;
  std::string subscription_ = from_environment_or("BELFRY_SUBSCRIPTION", "me");
  std::string group_ = from_environment_or("BELFRY_GROUP", "home");
  std::string collection_ = from_environment_or("BELFRY_COLLECTION", "first");
  std::string job_;
  std::string store_;  // empty: a server is asked
  std::string key_file_;
  std::string file_ = "-";
  std::string output_ = "table";
  std::size_t count_ = 20;
  std::optional<Verb> chosen_;
};

}  // namespace belfry
