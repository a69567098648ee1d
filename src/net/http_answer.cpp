// SPDX-License-Identifier: MIT
#include "net/http_answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "base/ascii.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

struct Reason {
  int status;
  std::string_view phrase;
};

constexpr Reason kReasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

// Empty for a status that is not in the table: clients go by the number.
std::string_view reason_of(int status) {
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.phrase;
  }
  return {};
}

bool is_framing(std::string_view name) {
  return equal_ignoring_case(name, "content-length") ||
         equal_ignoring_case(name, "transfer-encoding") || equal_ignoring_case(name, "connection");
}

void append_number(std::size_t number, std::string& out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

}  // namespace

bool may_be_sent(const HttpResponse& response) {
  if (response.status < 200 || response.status > 599) return false;
  return std::all_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return is_token(header.first) && is_field_value(header.second) && !is_framing(header.first);
  });
}

bool status_has_body(int status) {
  return status != 204 && status != 304;
}

void render_answer_head(const HttpResponse& response, std::string_view connection,
                        std::string& out) {
  out += "HTTP/1.1 ";
  append_number(static_cast<std::size_t>(response.status), out);
  out += ' ';
  out += reason_of(response.status);
  out += "\r\n";
  for (const auto& [name, value] : response.headers) append_header(name, value, out);
  if (!connection.empty()) append_header("Connection", connection, out);
  if (status_has_body(response.status)) {
    out += "Content-Length: ";
    append_number(response.body.size(), out);
    out += "\r\n";
  }
  out += "\r\n";
}

}  // namespace belfry
