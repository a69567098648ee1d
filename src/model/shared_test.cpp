// SPDX-License-Identifier: MIT

#include "model/shared.h"

#include <gtest/gtest.h>

#include <string>

namespace belfry {
namespace {

TEST(Shared, IsCopiedWithoutCopyingTheValue) {
  const Shared<std::string> one(std::string("long"));
  const Shared<std::string> other = one;
  EXPECT_EQ(&*one, &*other);
  EXPECT_EQ(one, other);
}

TEST(Shared, IsChangedInOneCopyAlone) {
  Shared<std::string> one(std::string("as it was"));
  const Shared<std::string> other = one;
  one.edit() = "changed";
  EXPECT_EQ(one, std::string("changed"));
  EXPECT_EQ(other, std::string("as it was"));
}

TEST(Shared, OfNothingIsNotChangedForOthers) {
  Shared<std::string> one;
  one.edit() = "changed";
  EXPECT_EQ(*Shared<std::string>(), "");
}

}  // namespace
}  // namespace belfry
