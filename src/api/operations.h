// SPDX-License-Identifier: MIT
//
// What a request asks for, by its path, its method and, of a PATCH, its body: the operation that
// the gate is asked about.

#pragma once

#include <optional>
#include <string_view>

#include "access/roles.h"
#include "base/result.h"
#include "net/http.h"
#include "wire/resource_path.h"

namespace belfry {

bool is_read(const HttpRequest& request);  // GET or HEAD

// None where the method is not possible there.
std::optional<Operation> operation_of(Resource resource, const HttpRequest& request);
std::string_view allowed_methods(Resource resource);

// The part of the tree that the resource is in, and the resource's own id.
Scope scope_of(const ResourcePath& path);
std::string id_of(const ResourcePath& path);

// What is answered where it is not there, or where one may not know that it is.
Error missing(const ResourcePath& path, const HttpRequest& request);

}  // namespace belfry
