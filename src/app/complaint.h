// SPDX-License-Identifier: MIT
//
// What is wrong with a command line, in a sentence: which word, of which command, and what may have
// been meant.

#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace belfry {

// For CLI::App::failure_message.
std::string complaint(const CLI::App* app, const CLI::Error& error);

}  // namespace belfry
