#include "host/model/excerpt.hpp"

#include <string>

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Excerpt, LeavesPrintableTextAsItIs) {
  for (const char* text : {"", "team-a/trainer-0", "\"quoted\" \\n", "Zürich", "日本", "😀"}) {
    EXPECT_EQ(EscapeControls(text), text);
    EXPECT_EQ(Excerpt(text), text);
  }
}

TEST(Excerpt, EscapesWhatSteersATerminalOrForgesALine) {
  EXPECT_EQ(EscapeControls("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(EscapeControls("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(EscapeControls(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(EscapeControls("\xc2\x9b"
                           "2J"),
            "\\xc2\\x9b2J");                          // the one-character form of ESC [
  EXPECT_EQ(EscapeControls("\xc2\xa0"), "\xc2\xa0");  // the first character behind C1
}

TEST(Excerpt, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(EscapeControls("\xff"), "\\xff");
  EXPECT_EQ(EscapeControls("\x80"), "\\x80");             // no first byte
  EXPECT_EQ(EscapeControls("a\xe6\x97"), "a\\xe6\\x97");  // cut short
  EXPECT_EQ(EscapeControls("\xc3("), "\\xc3(");           // no continuation
  EXPECT_EQ(EscapeControls("\xc0\x8a"), "\\xc0\\x8a");    // a newline in two bytes
  EXPECT_EQ(EscapeControls("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(EscapeControls("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(EscapeControls("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // behind the last code
}

TEST(Excerpt, ChangesNothingWhenAppliedTwice) {
  const std::string once = EscapeControls("\x1b\n\xff\\");
  EXPECT_EQ(EscapeControls(once), once);
}

TEST(Excerpt, CutsBetweenCharactersWithinTheLimit) {
  const std::string fits(kMaxExcerptBytes, 'x');
  EXPECT_EQ(Excerpt(fits), fits);
  EXPECT_EQ(Excerpt(fits + "x"), std::string(kMaxExcerptBytes - 3, 'x') + "...");
  EXPECT_EQ(Excerpt("abcdef", 5), "ab...");
  EXPECT_EQ(Excerpt("日本日本", 8), "日...");
  EXPECT_EQ(Excerpt("ab\x1b\x1b\x1b", 9), "ab\\x1b...");
  EXPECT_EQ(Excerpt("a\x1b\x1b", 9), "a\\x1b\\x1b");
  EXPECT_EQ(Excerpt("\x1b\x1b", 3), "...");
}

TEST(Excerpt, ReadsNoMoreOfALongTextThanItShows) {
  const std::string text(std::size_t{64} << 20, '\x01');
  EXPECT_LE(Excerpt(text).size(), kMaxExcerptBytes);
}

}  // namespace
}  // namespace espalier
