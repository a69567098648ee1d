// SPDX-License-Identifier: MIT
//
// Responses with the headers that the live service sent on each of them.

#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "net/http.h"
#include "wire/json_writer.h"

namespace belfry {

HttpResponse empty_response(int status);
HttpResponse json_response(int status, const boost::json::value& body);
HttpResponse json_text_response(int status, std::string body);
HttpResponse error_response(const Error& error);

// 429, and when to come back.
HttpResponse throttled_response(const std::string& message, Ticks retry_after);

HttpResponse malformed_response(const std::string& what, const std::vector<Error>& errors);

// What a list answers: {"value": […], "nextLink": …}; an empty link is null. `write` writes an
// item.
template <typename Item, typename Write>
HttpResponse page_response(const std::vector<Item>& items, const std::string& next_link,
                           Write write) {
  JsonWriter out;
  out.begin_object();
  out.array("value", [&] {
    for (const Item& item : items) {
      write(out, item);
      // One is about as large as another.
      if (&item == &items.front()) out.reserve(out.text().size() * items.size());
    }
  });
  out.name("nextLink");
  next_link.empty() ? out.null() : out.value(next_link);
  out.end_object();
  return json_text_response(200, out.take());
}

// 405 for what has but these methods.
HttpResponse wrong_method_response(const std::string& method, std::string_view allowed);

// The methods of what can only be read.
inline constexpr std::string_view kReadingMethods = "GET, HEAD";

// For what the server refuses before anybody looks at it.
HttpResponse refusal_response(int status, const std::string& what);

// Names the members of the request that nobody asked for, so that a typing error is seen.
void add_ignored(HttpResponse& response, const std::vector<std::string>& ignored);

// x-ms-request-id and its companions; the client's own id where it asked to have it back.
void add_request_ids(HttpResponse& response, const HttpRequest& request);

}  // namespace belfry
