// SPDX-License-Identifier: MIT
//
// `belfry job …`: look at the jobs of a running server and change them, from a terminal.

#pragma once

#include <optional>
#include <string>

#include "app/remote.h"

namespace CLI {
class App;
}

namespace belfry {

class JobCommands {
 public:
  void add_to(CLI::App& app);

  // The exit code; none when it was another command.
  std::optional<int> run() const;

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
  RemoteRequest request_for(Verb verb) const;
  void print(Verb verb, const boost::json::value& answer) const;
  std::string target(std::string_view below = "", std::string_view query = "") const;

  std::string server_ = "http://127.0.0.1:7070";
  std::string token_;
  std::string ca_file_;
  std::string subscription_ = "me";
  std::string group_ = "home";
  std::string collection_ = "first";
  std::string job_;
  std::string file_ = "-";
  std::string output_ = "table";
  std::size_t count_ = 20;
  std::optional<Verb> chosen_;
};

}  // namespace belfry
