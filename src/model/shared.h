// SPDX-License-Identifier: MIT
//
// Shared<T> is a value of which copies cost nothing: they share it until one is changed.

#pragma once

#include <memory>
#include <utility>

namespace belfry {

template <typename T>
class Shared {
 public:
  Shared() : value_(none()) {}
  Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT: it is a T

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }  // NOLINT: it is a T

  // To change it: this copy alone, whoever has others.
  T& edit() {
    if (value_.use_count() != 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

  bool operator==(const Shared& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }
  bool operator==(const T& other) const { return *value_ == other; }

 private:
  static const std::shared_ptr<T>& none() {
    static const auto value = std::make_shared<T>();
    return value;
  }

  std::shared_ptr<T> value_;
};

}  // namespace belfry
