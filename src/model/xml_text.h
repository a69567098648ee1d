// SPDX-License-Identifier: MIT
//
// Text inside XML 1.0: which characters it can hold, and how the special ones are written.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace belfry {

// XML cannot hold most control characters, nor U+FFFE and U+FFFF, in any spelling. `text` is
// UTF-8.
bool is_xml_text(std::string_view text);

// What an element's content looks like that is this text when it is read again. A carriage
// return is written by its number: a parser would read it as a line feed.
std::string xml_escaped(std::string_view text);

// How long xml_escaped() of it is.
std::size_t xml_escaped_size(std::string_view text);

}  // namespace belfry
