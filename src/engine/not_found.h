// SPDX-License-Identifier: MIT
//
// What is said of a collection or a job that does not exist, in the live service's words.

#pragma once

#include "base/result.h"
#include "model/key.h"

namespace belfry {

Error collection_not_found(const CollectionKey& key);
Error job_not_found(const JobKey& key);
Error parent_missing(const CollectionKey& key);  // of a job that is to be made

}  // namespace belfry
