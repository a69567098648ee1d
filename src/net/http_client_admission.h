// SPDX-License-Identifier: MIT
//
// HttpAdmission counts the calls that were taken and are not finished, and says whether there
// is room for one more: in all, at its origin, for its owner, and for its owner at its origin.
// An origin that hangs and an owner who asks for too much are refused when they have their
// part, and what is left is left to the others. So is a tenant, in all and at an origin: what
// stands before the first slash of its owners' names.
//
// The first calls of an origin take a slot each, which is a connection that they may open;
// those after them wait for the same connections. So the sum of slots bounds the open sockets.
//
// Pure; whoever has several threads locks around it.

#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "net/http_client_call.h"

namespace belfry {

class HttpAdmission {
 public:
  // What was taken for one origin. It lives with the origin's pool.
  struct Origin {
    std::size_t calls = 0;
    std::unordered_map<std::string, std::size_t> calls_of_owner;
    std::unordered_map<std::string, std::size_t> calls_of_tenant;
  };

  explicit HttpAdmission(const HttpClientLimits& limits) : limits_(limits) {}

  bool has_room(const Origin& origin, const std::string& owner) const;
  void take(Origin& origin, const std::string& owner);
  void release(Origin& origin, const std::string& owner);
  bool none() const { return all_.calls == 0; }

 private:
  struct Use {
    std::size_t calls = 0;
    std::size_t slots = 0;
  };

  // Whether the next call beside so many others at the same origin opens a connection.
  bool opens_connection(std::size_t calls) const {
    return calls < limits_.connections_per_origin_max;
  }
  void add(Use& use, std::size_t calls_at_origin) const;
  void remove(Use& use, std::size_t calls_left_at_origin) const;

  const HttpClientLimits limits_;
  Use all_;
  std::unordered_map<std::string, Use> owners_;
  std::unordered_map<std::string, std::size_t> calls_of_tenant_;
};

}  // namespace belfry
