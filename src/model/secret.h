// SPDX-License-Identifier: MIT
//
// Secret is a text that must not be shown: a password, a key, a token. It can be neither
// printed nor compared with a plain string by accident; who needs the text says reveal().

#pragma once

#include <string>
#include <utility>

namespace belfry {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  bool operator==(const Secret&) const = default;

 private:
  std::string text_;
};

}  // namespace belfry
