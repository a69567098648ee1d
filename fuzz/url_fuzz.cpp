// SPDX-License-Identifier: MIT
//
// Any text as an address that a job calls, as the name that completes an operator's address, and
// as an IP address, also as proxies write one: none, or one that means the same wherever it is read
// again. Nothing in it can end a line of a request.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "dispatch/endpoint_template.h"
#include "model/url.h"
#include "net/egress_guard.h"
#include "net/forwarded_address.h"
#include "net/http_proxy.h"

namespace belfry {
namespace {

bool can_stand_in_a_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7F; });
}

std::string written(const Url& url) {
  return (url.https ? "https://" : "http://") + url.authority + url.target;
}

void check_url(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return;
  ASSERT(!url->host.empty() && url->port != 0);
  ASSERT(url->target.starts_with('/') || url->target.starts_with('?'));
  ASSERT(can_stand_in_a_line(url->host + url->authority + url->target));
  ASSERT(url->target.find('#') == std::string::npos);
  ASSERT(url->authority.find('@') == std::string::npos);
  // It may have grown by a slash.
  if (const std::string again = written(*url); again.size() <= kUrlBytesMax) {
    ASSERT(parse_url(again) == url);
  }
}

void check_endpoint(std::string_view name) {
  for (const std::string_view pattern : {"https://{a}.queue.test", "http://127.0.0.1:1/{a}/"}) {
    const auto url = endpoint_of(pattern, "{a}", name);
    if (!url) continue;
    ASSERT(url->target.find('?') == std::string::npos && !url->target.ends_with('/'));
    ASSERT(can_stand_in_a_line(url->host + url->authority + url->target));
  }
}

void check_address(std::string_view text) {
  if (const auto address = IpAddress::parse(text)) {
    ASSERT(IpAddress::parse(address->text()) == address);
  }
  if (const auto range = IpRange::parse(text)) ASSERT(range->contains(range->first));
}

void check_forwarded(std::string_view text) {
  const auto address = parse_forwarded_entry(text);
  ASSERT(forwarded_address({{"X-Forwarded-For", "made up, " + std::string(text)}}).has_value() ||
         !address);
  if (!address) return;
  ASSERT(parse_forwarded_entry(address->text()) == address);
  const bool v6 = address->family == IpAddress::Family::v6;
  const std::string bare = v6 ? '[' + address->text() + ']' : address->text();
  ASSERT(parse_forwarded_entry(bare + ":65535") == address);
}

void check_proxy(std::string_view text) {
  const auto proxy = HttpProxy::parse(text);
  const std::string shown = without_proxy_password(text);
  if (!proxy) return;
  ASSERT(!proxy->host.empty() && proxy->port != 0);
  ASSERT(can_stand_in_a_line(proxy->host));
  ASSERT(proxy->authorization.find_first_of("\r\n") == std::string::npos);
  ASSERT(!shown.empty());
}

}  // namespace

void check(std::string_view text) {
  check_url(text);
  check_endpoint(text);
  check_address(text);
  check_forwarded(text);
  check_proxy(text);
}

}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
