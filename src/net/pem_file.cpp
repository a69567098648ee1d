// SPDX-License-Identifier: MIT

#include "net/pem_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace belfry {

std::string pem_file_fault(const std::string& path, std::string_view fault) {
  if (::access(path.c_str(), R_OK) == 0) return fmt::format("'{}' {}.", path, fault);
  return fmt::format("'{}' cannot be read: {}.", path, std::strerror(errno));
}

}  // namespace belfry
