// SPDX-License-Identifier: MIT
//
// Result<T> is a T, or the Error that says why there is none. What can go wrong in a correct
// program travels as a value; what means our own code is wrong is an ASSERT. Member names are
// a subset of std::expected's, which this compiler does not have yet.

#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace belfry {

// A closed list. Only `wire` knows which HTTP status and which code string each one becomes.
enum class ErrorCode {
  invalid,    // the input breaks a rule; `target` names the member
  too_large,  // the request is larger than a named limit
  missing_api_version,
  invalid_api_version,
  no_such_route,  // the path names nothing we serve
  wrong_method,   // the path is served, but not with this method
  collection_not_found,
  job_not_found,
  parent_missing,  // the collection a job would live in does not exist
  conflict,        // the thing's state or a quota does not allow it
  changed,         // somebody else's write came first: read again
  unauthenticated,
  forbidden,
  busy,         // a queue is full; try again later
  unavailable,  // the store cannot answer now; nothing was changed
  unknown,      // the store lost the answer: it may have happened
  internal,
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // a sentence for the person who made the request
  std::string target;   // the JSON path or parameter at fault; empty where there is none
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return get(); }
  const T& value() const& { return const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(get()); }
  T& operator*() & { return get(); }
  const T& operator*() const& { return const_cast<Result*>(this)->get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &const_cast<Result*>(this)->get(); }

  const Error& error() const {
    ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  T& get() {
    ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

struct Done {};  // the value of a Result that has nothing to tell but success
using Status = Result<Done>;

}  // namespace belfry

#define BELFRY_CONCAT_(a, b) a##b
#define BELFRY_CONCAT(a, b) BELFRY_CONCAT_(a, b)

// TRY_ASSIGN(auto job, parse(text)): takes the value, or returns the error to our caller.
#define TRY_ASSIGN(target, expression) \
  TRY_ASSIGN_(BELFRY_CONCAT(try_result_, __LINE__), target, expression)
#define TRY_ASSIGN_(result, target, expression) \
  auto result = (expression);                   \
  if (!result) return result.error();           \
  target = *std::move(result)
