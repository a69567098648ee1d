// SPDX-License-Identifier: MIT
//
// The query of a request: api-version, and for lists $top, $skip, $filter and $skiptoken.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/history.h"
#include "model/job.h"
#include "model/scope.h"
#include "wire/api_version.h"

namespace belfry {

inline constexpr std::size_t kTopMax = 100;
inline constexpr std::size_t kSkipMax = 1'000'000;
inline constexpr std::size_t kParametersMax = 32;

struct Query {
  std::optional<std::string> api_version;
  std::optional<std::size_t> top;
  std::optional<std::size_t> skip;
  std::optional<std::string> filter;
  std::optional<std::string> skip_token;
};

// `text` is what follows the '?'. Parameters we do not know are passed over.
Result<Query> parse_query(std::string_view text);

// The provider's metadata is answered for any version; everything else for ours.
Result<ApiVersion> known_api_version(const Query& query);

// `state eq Disabled` and `status eq 'Failed'`: one field, one value, in any case. History
// may be filtered by `state` too, which then means its status.
Result<JobState> parse_state_filter(std::string_view filter);
Result<HistoryStatus> parse_status_filter(std::string_view filter);

// `scope eq '/subscriptions/S'`.
Result<Scope> parse_scope_filter(std::string_view filter);

}  // namespace belfry
