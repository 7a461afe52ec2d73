// Errors of syntax name line and column and show the line.
#include "host/readers/syntax_error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "host/readers/cluster_files.hpp"

namespace espalier::syntax_error_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  const auto read = ReadClusterText("f", text);
  return read ? "no error" : read.error().message;
}

// Returns what is wrong with a JSON text, before the picture; "none" where nothing is.
std::string JsonError(const std::string& text) {
  const auto fault = FindJsonFault(text);
  if (!fault) return "none";
  const std::string error = SyntaxError(text, fault->offset, fault->problem);
  return error.substr(0, error.find('\n'));
}

TEST(SyntaxError, ShowsTheLineAndTheColumn) {
  EXPECT_EQ(SyntaxError("a\n  bcd\ne", 5, "wrong"), "line 2, column 4: wrong\n    bcd\n     ^");
  EXPECT_EQ(SyntaxError("a\r\n\tb\r\n", 4, "wrong"), "line 2, column 2: wrong\n   b\n   ^");
  EXPECT_EQ(SyntaxError("\"é\": x", 6, "wrong"), "line 1, column 6: wrong\n  \"é\": x\n       ^");
  EXPECT_EQ(SyntaxError("", 0, "wrong"), "line 1, column 1: wrong\n  \n  ^");
  EXPECT_EQ(SyntaxError("ab\n\n", 4, "wrong"), "line 1, column 3: wrong\n  ab\n    ^");
}

TEST(SyntaxError, CutsALongLine) {
  const std::string text = std::string(500, 'a') + "!" + std::string(500, 'b');
  EXPECT_EQ(SyntaxError(text, 500, "wrong"),
            fmt::format("line 1, column 501: wrong\n  ...{}!{}...\n  {}^", std::string(60, 'a'),
                        std::string(39, 'b'), std::string(63, ' ')));
}

TEST(SyntaxError, EscapesWhatIsShown) {
  EXPECT_EQ(SyntaxError("\x1b[2J x", 5, "wrong"),
            "line 1, column 6: wrong\n  \\x1b[2J x\n          ^");
}

TEST(JsonFault, IsAtTheTokenThatIsWrong) {
  EXPECT_EQ(
      JsonError("{\n  \"a\": tru,\n  \"b\": 1\n}"),
      "line 2, column 8: tru is not a JSON value; want a text in double quotes, a number, true, "
      "false, null, an object or a list");
  EXPECT_EQ(JsonError("{\"a\": 1\n \"b\": 2}"),
            "line 2, column 2: a comma or } is missing before \"b\"");
  EXPECT_EQ(JsonError("{\"a\": 1,}"), "line 1, column 9: there is a comma too many before }");
  EXPECT_EQ(JsonError("[1,]"), "line 1, column 4: there is a comma too many before ]");
  EXPECT_EQ(JsonError("[1}"), "line 1, column 3: } stands here, but a [ is open; want ]");
  EXPECT_EQ(JsonError("{\"a\" 1}"), "line 1, column 6: a colon is missing before 1");
  EXPECT_EQ(JsonError("{a: 1}"), "line 1, column 2: a is not a key; want a text in double quotes");
  EXPECT_EQ(JsonError("{\"a\": }"), "line 1, column 7: a value is missing before }");
  EXPECT_EQ(JsonError("{\"a\": 01}"), "line 1, column 7: 01 is not a number");
  EXPECT_EQ(JsonError("{\"a\": 1.}"), "line 1, column 7: 1. is not a number");
  EXPECT_EQ(JsonError("[1] 2"), "line 1, column 5: the value ends before 2");
}

TEST(JsonFault, KnowsTexts) {
  EXPECT_EQ(JsonError("{\"a\": \"b\n}"),
            "line 1, column 7: a text begins here and has no closing quote on its line");
  EXPECT_EQ(JsonError("[\"a"), "line 1, column 2: a text begins here and has no closing quote");
  EXPECT_EQ(JsonError("[\"\\x\"]"), "line 1, column 3: \\x is not an escape of JSON");
  EXPECT_EQ(JsonError("[\"\\ud800\"]"), "line 1, column 3: \\u is not an escape of JSON");
  EXPECT_EQ(JsonError("[\"a\tb\"]"),
            "line 1, column 4: a control character stands in a text; want \\u0009");
  EXPECT_EQ(JsonError("[\"a\xff\"]"),
            "line 1, column 4: the byte 0xFF stands here, which is not UTF-8");
  EXPECT_EQ(JsonError(R"(["é\ud83d\ude00\n\"", -1.5e+3, [], {}, true, false, null])"), "none");
}

TEST(JsonFault, OfACutTextIsAtItsEnd) {
  EXPECT_EQ(
      JsonError("{\n\"a\": [\n1\n"),
      "line 3, column 2: the text ends here, but the [ of line 2 is still open: it is cut off, "
      "or a ] is missing");
}

TEST(JsonFault, HasWordsForCommentsAndByteOrderMarks) {
  EXPECT_EQ(JsonError("{\n# a\n}"), "line 2, column 1: a comment stands here; JSON has none");
  EXPECT_EQ(JsonError("[1, // a\n2]"), "line 1, column 5: a comment stands here; JSON has none");
  EXPECT_EQ(JsonError("[\xEF\xBB\xBF]"),
            "line 1, column 2: a byte-order mark stands here, as where two files were joined");
}

// The fast parser and this one agree on what is JSON, whatever byte of a text is changed.
TEST(JsonFault, IsThereWheneverTheParserFindsOne) {
  const std::string text = R"({"a": [1, -2.5e+3, true, null], "b\n": {"c": "é\u00e9"}, "d": []} )";
  const std::string bytes = ",:{}[]\"\\ 1-.eEtux\x01\n\xff\xc3";
  simdjson::dom::parser parser;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : bytes) {
      for (const std::size_t replaced : {0, 1}) {
        std::string changed = text;
        changed.replace(at, replaced, 1, byte);
        const bool sound = parser.parse(changed).error() == simdjson::SUCCESS;
        EXPECT_EQ(JsonError(changed) == "none", sound) << changed;
      }
    }
  }
}

TEST(FileErrors, OfJsonNameThePlaceInTheWholeFile) {
  EXPECT_EQ(
      ErrorOf("{\"kind\": \"Node\",\n \"metadata\": {\"name\": \"a\"}}\n{\"kind\": \"Node\"\n "
              "\"metadata\": {}}\n"),
      "f: it is not valid JSON: line 4, column 2: a comma or } is missing before \"metadata\"\n"
      "   \"metadata\": {}}\n   ^");
}

TEST(FileErrors, OfYamlNameThePlace) {
  EXPECT_EQ(ErrorOf("kind: Node\nmetadata:\n  name: a\n  c: : d\n"),
            "f: it is not valid YAML: line 4, column 6: illegal map value\n    c: : d\n       ^");
  // A byte-order mark and the ends of lines of other systems change nothing.
  EXPECT_EQ(ErrorOf("\xEF\xBB\xBFkind: Node\r\nmetadata:\r\n  name: a\r\n  c: : d\r\n"),
            "f: it is not valid YAML: line 4, column 6: illegal map value\n    c: : d\n       ^");
  EXPECT_EQ(ErrorOf("kind: Node\r\nmetadata:\r\n  name: a\r\n"), "no error");
}

TEST(FileErrors, OfYamlNameOpenBracketsAndWrongIndentation) {
  EXPECT_THAT(ErrorOf("kind: Node\nmetadata: {name: a\nspec: {}\n"),
              HasSubstr("line 3, column 5: nothing closes a { before this"));
  EXPECT_THAT(ErrorOf("kind: Node\nspec:\n  a: [1, 2\nstatus: x\n"),
              HasSubstr("nothing closes a [ before this"));
  EXPECT_THAT(ErrorOf("kind: Node\nmetadata:\n   name: a\n  labels: {}\n"),
              HasSubstr("line 4, column 3: the indentation fits none of the lines above"));
}

TEST(FileErrors, OfYamlNameTheTabAndTheOpenQuote) {
  EXPECT_THAT(ErrorOf("kind: Node\nmetadata:\n\tname: a\n"),
              StartsWith("f: it is not valid YAML: line 3, column 1: a tab indents this line; YAML "
                         "wants spaces\n"));
  EXPECT_THAT(ErrorOf("kind: Node\nmetadata:\n  name: \"a\n  labels: {a: b}\nspec: {}\n"),
              StartsWith("f: it is not valid YAML: line 3, column 9: a quoted text begins here and "
                         "never ends\n"));
}

TEST(FileErrors, NameByteOrderMarksInTheMiddleAndOtherEncodings) {
  EXPECT_THAT(
      ErrorOf("kind: Node\nmetadata: {name: a}\n---\n\xEF\xBB\xBFkind: Node\n"),
      StartsWith("f: it is not valid YAML: line 4, column 1: a byte-order mark stands here, "
                 "as where two files were joined"));
  EXPECT_THAT(ErrorOf(std::string("\xFF\xFE{\0}\0", 6)),
              AllOf(StartsWith("f: it is UTF-16"), HasSubstr("; want UTF-8")));
}

// A text that is cut off is read once more, from its beginning, to say where.
TEST(JsonFault, OfALongTextIsFoundInTime) {
  EXPECT_EQ(JsonError("[null\n,nullx]"),
            "line 2, column 2: nullx is not a JSON value; want a text in double quotes, a number, "
            "true, false, null, an object or a list");
  EXPECT_EQ(JsonError("[null, true]"), "none");
  EXPECT_EQ(JsonError("[null, tru"),
            "line 1, column 8: tru is not a JSON value; want a text in double quotes, a number, "
            "true, false, null, an object or a list");
  std::string cut = "[";
  for (int i = 0; i < 1'000'000; ++i) cut += "null,";
  EXPECT_THAT(JsonError(cut), HasSubstr("the text ends here"));
}

}  // namespace
}  // namespace espalier::syntax_error_test
