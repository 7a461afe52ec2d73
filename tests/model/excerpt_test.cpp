#include "host/model/excerpt.hpp"

#include <string>

#include <gtest/gtest.h>

namespace espalier::excerpt_test {
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

TEST(Excerpt, EscapesWhatNobodySeesAndWhatTurnsTextAround) {
  EXPECT_EQ(EscapeControls("a\u202eb"), "a\\xe2\\x80\\xaeb");  // right to left from here on
  EXPECT_EQ(EscapeControls("a\u2028b"), "a\\xe2\\x80\\xa8b");  // a line ends
  EXPECT_EQ(EscapeControls("a\u200bb"), "a\\xe2\\x80\\x8bb");  // no width
  EXPECT_EQ(EscapeControls("\ufeffa"), "\\xef\\xbb\\xbfa");    // order of bytes
  for (const char* text : {"\u00ad", "\u034f", "\u061c", "\u115f", "\u180e", "\u200d", "\u200f",
                           "\u2029", "\u202a", "\u2060", "\u2066", "\u2069", "\u3164", "\ufe0f",
                           "\uffa0", "\ufff9", "\U000e0001", "\U000e0041", "\U000e0100"}) {
    EXPECT_EQ(EscapeControls(text).find_first_not_of("\\x0123456789abcdef"), std::string::npos);
    EXPECT_EQ(EscapeControls(text).front(), '\\');
  }
  for (const char* text : {"\u00ac", "\u00ae", "\u200a", "\u2010", "\u2027", "\u202f", "\u205f",
                           "\u2070", "\ufe10", "\ufffd", "\U0001f600"}) {
    EXPECT_EQ(EscapeControls(text), text);  // their neighbours
  }
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
}  // namespace espalier::excerpt_test
