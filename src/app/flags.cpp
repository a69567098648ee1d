// SPDX-License-Identifier: MIT

#include "app/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/environment.h"

namespace belfry {

RemoteFlags::RemoteFlags()
    : server(from_environment_or("BELFRY_SERVER", Remote{}.server)),
      token(from_environment_or("BELFRY_TOKEN", "")),
      ca_file(from_environment_or("BELFRY_CA_FILE", "")) {}

void RemoteFlags::add_to(CLI::App& command) {
  command.add_option("--server", server, "Where the server is (BELFRY_SERVER)")
      ->type_name("URL")
      ->capture_default_str();
  command.add_option("--token", token, "Who asks; better in BELFRY_TOKEN, which others cannot see")
      ->type_name("TOKEN");
  command
      .add_option("--ca-file", ca_file, "Authorities (PEM) besides the system's (BELFRY_CA_FILE)")
      ->type_name("FILE");
}

Remote RemoteFlags::remote() const {
  return {server, Secret(token), ca_file};
}

StoreFlags::StoreFlags()
    : directory(from_environment_or("BELFRY_STORE", "belfry-data")),
      key_file(from_environment_or("BELFRY_KEY_FILE", "")) {}

void StoreFlags::add_to(CLI::App& command) {
  command.add_option("--store", directory, "The directory of the embedded database (BELFRY_STORE)")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--key-file", key_file, "Where the keys are, if not in it (BELFRY_KEY_FILE)")
      ->type_name("FILE");
}

CLI::Validator one_of(std::vector<std::string> values) {
  const auto check = [values](const std::string& given) {
    if (std::find(values.begin(), values.end(), given) != values.end()) return std::string();
    return fmt::format("must be one of {}; it is '{}'.", fmt::join(values, ", "), given);
  };
  return CLI::Validator(check, "");
}

CLI::Validator integer_from(std::int64_t min, std::int64_t max) {
  const auto check = [min, max](const std::string& given) {
    std::int64_t number = 0;
    const char* const end = given.data() + given.size();
    const auto [rest, error] = std::from_chars(given.data(), end, number);
    if (error == std::errc{} && rest == end && min <= number && number <= max) return std::string();
    return fmt::format("must be an integer from {} to {}; it is '{}'.", min, max, given);
  };
  return CLI::Validator(check, "");
}

}  // namespace belfry
