// SPDX-License-Identifier: MIT
//
// A running server, as the commands that talk to one see it: one request, one answer.

#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "base/result.h"
#include "model/secret.h"

namespace belfry {

inline constexpr std::size_t kRemoteAnswerBytesMax = 64 * 1024 * 1024;

struct Remote {
  std::string server = "http://127.0.0.1:7070";
  Secret token;         // empty: the server is in local mode
  std::string ca_file;  // empty: the system's authorities alone
};

struct RemoteRequest {
  std::string method = "GET";
  std::string target;  // path and query
  std::string body = {};
};

struct RemoteAnswer {
  boost::json::value body;  // null for nothing
  std::string ignored;      // the members of what was sent that the server does not know
};

// An error is the server's own sentence, or why it was not reached. One whose target is `server`
// is about how the server was named.
Result<RemoteAnswer> ask(const Remote& remote, const RemoteRequest& request);

}  // namespace belfry
