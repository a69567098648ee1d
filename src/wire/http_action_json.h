// SPDX-License-Identifier: MIT
//
// The `request` of an HTTP action.

#pragma once

#include <boost/json/object.hpp>

#include "model/action.h"
#include "wire/action_json.h"
#include "wire/json.h"

namespace belfry {

HttpAction read_http_action(ObjectReader request, bool declared_https, Reading& reading);
boost::json::object write_http_action(const HttpAction& action, Secrets secrets);

}  // namespace belfry
