// SPDX-License-Identifier: MIT

#include "api/operations.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

std::optional<Operation> patch(Resource resource, const std::string& body) {
  HttpRequest request;
  request.method = "PATCH";
  request.body = body;
  return operation_of(resource, request);
}

// Whoever may enable and disable may not slip another change in with it.
TEST(Operations, APatchOfTheStateAloneIsLessThanAWrite) {
  for (const char* body :
       {R"({"properties":{"state":"Disabled"}})", R"({"Properties":{"STATE":"enabled"}})",
        R"({"properties":{"state":7}})"}) {
    EXPECT_EQ(patch(Resource::job, body), Operation::set_job_state) << body;
    EXPECT_EQ(patch(Resource::collection, body), Operation::set_collection_state) << body;
  }
  for (const char* body :
       {"", "{", "[]", "{}", R"({"properties":{}})", R"({"properties":7})",
        R"({"state":"Disabled"})", R"({"properties":{"state":"Disabled"},"tags":{}})",
        R"({"properties":{"state":"Disabled","action":{}}})",
        R"({"properties":{"state":"Disabled"},"properties":{"action":{}}})",
        R"({"properties":{"state":"Disabled","State":"Enabled"}})"}) {
    EXPECT_EQ(patch(Resource::job, body), Operation::write_job) << body;
    EXPECT_EQ(patch(Resource::collection, body), Operation::write_collection) << body;
  }
}

}  // namespace
}  // namespace belfry
