// SPDX-License-Identifier: MIT

#include "api/next_link.h"

#include <fmt/format.h>

#include "model/key.h"
#include "model/url.h"

namespace belfry {
namespace {

std::string_view scheme_of(ClientScheme scheme, const HttpRequest& request) {
  if (scheme == ClientScheme::http) return "http";
  if (scheme == ClientScheme::https) return "https";
  return folded(header_of(request.headers, "X-Forwarded-Proto")) == "http" ? "http" : "https";
}

}  // namespace

std::string next_link(ClientScheme scheme, const HttpRequest& request, const Query& query,
                      const std::string& token) {
  const std::string_view target = request.target;
  std::string link =
      fmt::format("{}://{}{}?", scheme_of(scheme, request), header_of(request.headers, "Host"),
                  target.substr(0, target.find('?')));
  if (query.api_version) link += fmt::format("api-version={}&", *query.api_version);
  if (query.filter) link += fmt::format("$filter={}&", percent_encoded(*query.filter));
  return link + "$skiptoken=" + percent_encoded(token);
}

}  // namespace belfry
