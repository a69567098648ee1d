// SPDX-License-Identifier: MIT

#include "app/variables.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace belfry {
namespace {

std::vector<std::string> told_of(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  std::vector<std::string> told;
  tell_of_unknown_variables(environment.data(),
                            [&](const std::string& name, const std::string& guess) {
                              told.push_back(name + " > " + guess);
                            });
  return told;
}

TEST(Variables, OneWithATypingErrorIsNamedWithTheNearest) {
  EXPECT_EQ(told_of({"BELFRY_LISEN=127.0.0.1:1", "BELFRY_ALOW_TARGETS=", "PATH=/bin"}),
            (std::vector<std::string>{"BELFRY_LISEN > BELFRY_LISTEN",
                                      "BELFRY_ALOW_TARGETS > BELFRY_ALLOW_TARGETS"}));
  EXPECT_EQ(told_of({"BELFRY_SOMETHING_ELSE_ENTIRELY=1"}),
            (std::vector<std::string>{"BELFRY_SOMETHING_ELSE_ENTIRELY > "}));
}

TEST(Variables, ThoseOfSettingsAndOfCommandsAreKnown) {
  EXPECT_TRUE(told_of({"BELFRY_STORE=x", "BELFRY_TOKEN=x", "BELFRY_CA_FILE=x", "BELFRY_CONFIG=x",
                       "BELFRY_GROUP=x", "NOT_BELFRY_LISEN=x"})
                  .empty());
}

}  // namespace
}  // namespace belfry
