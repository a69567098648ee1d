// SPDX-License-Identifier: MIT

#include "wire/http_action_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/secret_mask.h"
#include "model/url.h"
#include "wire/authentication_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::string_view kMethods[] = {"GET",   "PUT",  "POST",   "DELETE",
                                         "PATCH", "HEAD", "OPTIONS"};

// They belong to the connection, not to the request, or are ours to compute.
constexpr std::string_view kReservedHeaders[] = {"Connection",
                                                 "Content-Length",
                                                 "Expect",
                                                 "Host",
                                                 "HTTP2-Settings",
                                                 "Keep-Alive",
                                                 "Proxy-Connection",
                                                 "Proxy-Authenticate",
                                                 "Proxy-Authorization",
                                                 "TE",
                                                 "Trailer",
                                                 "Transfer-Encoding",
                                                 "Upgrade"};

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

template <typename Names>
bool is_among(const Names& names, std::string_view name) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](std::string_view other) { return equal_ignoring_case(name, other); });
}

bool is_reserved(std::string_view name) {
  return is_among(kReservedHeaders, name);
}

std::string what_is_wrong_with_header(std::string_view name, const json::value& value) {
  if (!is_token(name)) return "is not a header name.";
  if (is_reserved(name)) return "cannot be set: it belongs to the connection.";
  // Not shown: it may be secret.
  if (!value.is_string()) return "must be a string.";
  if (!is_header_value(value.get_string())) return "must not hold control characters.";
  return {};
}

// One that reads as sealed was secret when it was shown, and stays so.
bool is_secret(const HttpAction& action, std::string_view name, std::string_view value) {
  return value == kSealed || is_secret_header(name) || is_among(action.named_secret, name);
}

std::vector<std::string> read_named_secret(ObjectReader& request, Reading& reading) {
  std::vector<std::string> out;
  const json::value* value = request.find("secretHeaders");
  if (value == nullptr) return out;
  const std::string path = request.path_of("secretHeaders");
  for (const Element& element : elements_of(*value, path, kHeadersMax, reading)) {
    const auto* name = element.value->if_string();
    if (name == nullptr || !is_token(*name)) {
      reading.fail(element.path(), "is not a header name.");
    } else {
      out.emplace_back(*name);
    }
  }
  return out;
}

void read_headers(ObjectReader& request, HttpAction& out, Reading& reading) {
  out.named_secret = read_named_secret(request, reading);
  const json::value* value = request.find("headers");
  if (value == nullptr) return;
  const auto* object = value->if_object();
  if (object == nullptr) {
    return request.fail("headers", fmt::format("must be an object; it is {}.", shown(*value)));
  }
  if (object->size() > kHeadersMax) {
    return request.fail("headers", fmt::format("has {} headers; at most {} are allowed.",
                                               object->size(), kHeadersMax));
  }
  std::size_t bytes = 0;
  for (const auto& [name, header] : *object) {
    const std::string fault = what_is_wrong_with_header(name, header);
    if (!fault.empty()) {
      reading.fail(fmt::format("{}.{}", request.path_of("headers"), std::string_view(name)), fault);
      continue;
    }
    const std::string_view text = header.get_string();
    bytes += name.size() + text.size();
    if (is_secret(out, name, text)) {
      out.secret_headers.emplace_back(std::string(name), Secret(std::string(text)));
    } else {
      out.headers.emplace_back(std::string(name), std::string(text));
    }
  }
  if (bytes > kHeadersBytesMax) {
    request.fail("headers", fmt::format("are {} characters in total; at most {} are allowed.",
                                        bytes, kHeadersBytesMax));
  }
}

std::string read_uri(ObjectReader& request) {
  const std::string uri = required_text(request, "uri", kUrlBytesMax);
  if (uri.empty() || parse_url(uri)) return uri;
  // One with an @ may have a password before it, which is not shown.
  const bool shown = uri.find('@') == std::string::npos;
  request.fail(
      "uri", fmt::format("must be an absolute http or https address without "
                         "credentials in it{}.",
                         shown ? fmt::format("; it is '{}'", uri.substr(0, kShownValueMax)) : ""));
  return uri;
}

std::string read_method(ObjectReader& request) {
  const std::string method = required_text(request, "method", 16);
  const bool known = std::any_of(std::begin(kMethods), std::end(kMethods), [&](auto candidate) {
    return equal_ignoring_case(method, candidate);
  });
  if (!method.empty() && !known) {
    request.fail("method",
                 fmt::format("must be one of {}; it is '{}'.", fmt::join(kMethods, ", "), method));
  }
  return method;
}

void write_headers(JsonWriter& out, const HttpAction& action) {
  if (!action.headers.empty() || !action.secret_headers.empty()) {
    out.object("headers", [&] {
      for (const auto& [name, value] : action.headers) out.member(name, value);
      for (const auto& [name, value] : action.secret_headers) out.member(name, kSealed);
    });
  }
  if (action.named_secret.empty()) return;
  out.array("secretHeaders", [&] {
    for (const std::string& name : action.named_secret) out.value(name);
  });
}

}  // namespace

bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

bool is_free_header_name(std::string_view name) {
  return is_token(name) && !is_reserved(name);
}

HttpAction read_http_action(ObjectReader request, bool declared_https, Reading& reading) {
  HttpAction out;
  out.declared_https = declared_https;
  out.uri = read_uri(request);
  out.method = read_method(request);
  read_headers(request, out, reading);
  out.body = request.text("body", reading.body_bytes_max, kBodyMaxDecides);
  if (auto authentication = request.object("authentication")) {
    out.authentication = read_authentication(std::move(*authentication));
  }
  return out;
}

void write_http_action(JsonWriter& out, const HttpAction& action, Secrets secrets) {
  out.begin_object();
  out.member("uri", action.uri);
  out.member("method", action.method);
  write_headers(out, action);
  if (action.body) out.member("body", *action.body);
  if (action.authentication) {
    out.name("authentication");
    write_authentication(out, *action.authentication, secrets);
  }
  out.end_object();
}

}  // namespace belfry
