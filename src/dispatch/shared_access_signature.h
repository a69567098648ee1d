// SPDX-License-Identifier: MIT
//
// The token by which Service Bus knows that a sender has the key of a policy without being
// shown it: the resource, a date until which the token is good, and their HMAC.

#pragma once

#include <string>
#include <string_view>

#include "base/instant.h"
#include "model/secret.h"

namespace belfry {

struct SharedAccessKey {
  std::string name;
  Secret key;

  bool operator==(const SharedAccessKey&) const = default;
};

// "SharedAccessSignature sr=…&sig=…&se=…&skn=…". `expires` is cut to whole seconds.
std::string shared_access_signature(std::string_view resource, const SharedAccessKey& key,
                                    Instant expires);

}  // namespace belfry
