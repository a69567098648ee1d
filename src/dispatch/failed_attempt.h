// SPDX-License-Identifier: MIT
//
// What an error action is told of the attempt that led to it: as headers of a call, as properties
// of a message. All of it comes from the history, so that it is the same after a crash.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/result.h"
#include "model/attempt.h"
#include "model/history.h"
#include "model/secret_mask.h"
#include "net/http.h"

namespace belfry {

inline constexpr std::size_t kFailedReasonBytesMax = 256;

// The last row of the occurrence's main action; none where it is not kept any more. An error: it
// cannot be read now.
using LastFailed = std::function<Result<std::optional<HistoryEntry>>(const Attempt& of)>;

// x-belfry-failed-occurrence: its instant and its tag. x-belfry-failed-status: the number of an
// HTTP status, or what kind of failure it was, as the history names it. x-belfry-failed-reason:
// the history's words without the answer's headers, in visible ASCII. The latter two are left out
// where there is no row.
HttpHeaders failed_attempt_headers(const Attempt& attempt, const std::optional<HistoryEntry>& row,
                                   const SecretMask& mask);

}  // namespace belfry
