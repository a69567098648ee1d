// SPDX-License-Identifier: MIT

#include "model/xml_text.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

TEST(XmlText, WritesSpecialCharactersSoThatTheyAreReadAgain) {
  const std::string_view text = "a < b && c > d\r\n\"'\t\xC3\xA4]]>";
  EXPECT_EQ(xml_escaped(text), "a &lt; b &amp;&amp; c &gt; d&#xD;\n\"'\t\xC3\xA4]]&gt;");
  EXPECT_EQ(xml_escaped_size(text), xml_escaped(text).size());
  EXPECT_EQ(xml_escaped(""), "");
}

TEST(XmlText, KnowsWhatXmlCannotHold) {
  EXPECT_TRUE(is_xml_text("plain\ttext\r\n\xEF\xBF\xBD \x7F"));
  EXPECT_FALSE(is_xml_text(std::string_view("\0", 1)));
  EXPECT_FALSE(is_xml_text("\x01"));
  EXPECT_FALSE(is_xml_text("a\x1B[0m"));
  EXPECT_FALSE(is_xml_text("\xEF\xBF\xBE"));
  EXPECT_FALSE(is_xml_text("\xEF\xBF\xBF"));
}

}  // namespace
}  // namespace belfry
