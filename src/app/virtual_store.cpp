// SPDX-License-Identifier: MIT

#include "app/virtual_store.h"

#include <fmt/format.h>

#include "store/durable_file.h"
#include "store/sqlite_store.h"

namespace belfry {
namespace {

std::filesystem::path mark_in(const std::filesystem::path& directory) {
  return directory / "virtual-clock";
}

Error refused(std::string message) {
  return {ErrorCode::conflict, std::move(message), "store"};
}

}  // namespace

Status check_clock_of(const std::filesystem::path& directory, bool is_virtual) {
  std::error_code unreadable;  // what opens the store says so
  const bool marked = std::filesystem::exists(mark_in(directory), unreadable);
  const bool stored = std::filesystem::exists(database_path(directory), unreadable);
  if (is_virtual && stored && !marked) {
    return refused(fmt::format(
        "the store in {0} is of the machine's clock: a virtual one would call the targets of its "
        "jobs and remove its history. --store names another directory. If it is a copy to be "
        "tried out: touch {1}",
        directory.native(), mark_in(directory).native()));
  }
  if (!is_virtual && marked) {
    return refused(
        fmt::format("the store in {} was used with --virtual-clock: its jobs have "
                    "their next time by that clock. --store names another directory",
                    directory.native()));
  }
  return Done{};
}

Status mark_virtual(const std::filesystem::path& directory) {
  std::error_code unreadable;
  if (std::filesystem::exists(mark_in(directory), unreadable)) return Done{};
  if (const auto made = make_private_file(mark_in(directory)); !made) return made.error();
  return sync_directory(directory);
}

}  // namespace belfry
