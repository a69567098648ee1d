// SPDX-License-Identifier: MIT
//
// Everything the server knows to answer is described. That it answers as described is
// tests/e2e/openapi.py's to show.

#include "api/openapi.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <map>
#include <set>

#include "api/operations.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr const char* kMethods[] = {"GET", "PUT", "PATCH", "POST", "DELETE"};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  return text;
}

// The same path with a name for each parameter.
std::string example_of(std::string_view path) {
  std::string out;
  for (bool inside = false; const char c : path) {
    if (c == '{') out += 'x';
    inside = c == '{' || (inside && c != '}');
    if (!inside && c != '}') out += c;
  }
  return out;
}

std::set<std::string> described_methods(const json::object& item) {
  std::set<std::string> methods;
  for (const char* method : kMethods) {
    if (item.contains(lower(method))) methods.insert(method);
  }
  return methods;
}

std::set<std::string> known_methods(Resource resource) {
  std::set<std::string> methods;
  for (const char* method : kMethods) {
    HttpRequest request;
    request.method = method;
    if (operation_of(resource, request)) methods.insert(method);
  }
  return methods;
}

TEST(OpenApi, DescribesEveryResourceWithItsMethods) {
  const json::value document = json::parse(openapi_text());
  std::map<Resource, std::set<std::string>> described;
  for (const auto& [path, item] : document.as_object().at("paths").as_object()) {
    if (const auto parsed = parse_resource_path(example_of(path))) {
      described[parsed->resource] = described_methods(item.as_object());
    }
  }
  for (int i = 0; i <= static_cast<int>(Resource::audit); ++i) {
    const auto resource = static_cast<Resource>(i);
    EXPECT_EQ(described[resource], known_methods(resource)) << "resource " << i;
  }
}

TEST(OpenApi, HasTheVersionOfTheServer) {
  const json::value document = json::parse(openapi_text());
  const auto& version = document.as_object().at("info").as_object().at("version").as_string();
  EXPECT_EQ(version.find('@'), json::string::npos) << version;
}

}  // namespace
}  // namespace belfry
