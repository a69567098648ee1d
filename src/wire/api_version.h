// SPDX-License-Identifier: MIT
//
// The versions of the API that clients may ask for. They have the same paths; the older two
// know the SKU `Premium` instead of the numbered ones.

#pragma once

#include <optional>
#include <string_view>

namespace belfry {

enum class ApiVersion { v2014_08_01_preview, v2016_01_01, v2016_03_01 };

inline constexpr std::pair<std::string_view, ApiVersion> kApiVersions[] = {
    {"2016-03-01", ApiVersion::v2016_03_01},
    {"2016-01-01", ApiVersion::v2016_01_01},
    {"2014-08-01-preview", ApiVersion::v2014_08_01_preview},
};

}  // namespace belfry
