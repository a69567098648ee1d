// SPDX-License-Identifier: MIT
//
// Where a request comes from when a proxy hands it on: the proxy adds the address of its client to
// X-Forwarded-For, behind whatever stood there already, which the client may have made up. So the
// last entry of the last such header is the one proxy's word, and nothing else is looked at.

#pragma once

#include <optional>
#include <string_view>

#include "net/egress_guard.h"
#include "net/http.h"

namespace belfry {

// None where there is no such header, or its last entry is no address.
std::optional<IpAddress> forwarded_address(const HttpHeaders& headers);

// An address literal, perhaps with a port: 192.0.2.1, 192.0.2.1:50000, 2001:db8::1, [2001:db8::1],
// [2001:db8::1]:50000. Names, "unknown" and made-up identifiers are none.
std::optional<IpAddress> parse_forwarded_entry(std::string_view entry);

}  // namespace belfry
