// SPDX-License-Identifier: MIT
//
// SecretMask takes a job's secrets out of what its target said. A target that repeats what it was
// asked would else put them into the history, into backups, and before every Reader.
//
// A secret is found as it is, in base64 (alone, or within a longer text, as Basic sends it), and
// however it was escaped for JSON, an address, a form or XML. What is shorter than
// kSecretBytesMin is left alone: it would be found in everything.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace belfry {

class SecretMask {
 public:
  static constexpr std::size_t kSecretBytesMin = 6;
  static constexpr std::string_view kMasked = "***";

  SecretMask() = default;
  explicit SecretMask(const JobDefinition& definition);  // all that its actions send

  void add(std::string_view secret);
  void add_signed(std::string_view token);  // a shared access signature, and its `sig` alone

  bool empty() const { return forms_.empty(); }

  // So many bytes the longest secret takes, however it is escaped: who cuts a text needs as many
  // beyond the cut, or the beginning of a secret would not be known for one.
  std::size_t reach() const;

  // What the first `shown_max` bytes of the text tell, without the secrets that begin there.
  std::string masked(std::string_view text, std::size_t shown_max = std::string_view::npos) const;

  // Of a text that was cut before anybody looked for secrets in it: what it ends in may be the
  // beginning of one.
  std::string masked_after_cut(std::string_view text) const;

 private:
  void add_form(std::string form);
  void add_action(const Action& action);
  void add_http(const HttpAction& action);
  void add_header(std::string_view name, std::string_view value);

  std::vector<std::string> forms_;
};

// Headers whose values are secrets, whatever the job says of them.
bool is_secret_header(std::string_view name);

// The signature in a shared access signature of either kind; empty where there is none.
std::string_view signature_in(std::string_view token);

}  // namespace belfry
