#include "host/readers/yaml_to_json.hpp"

#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/json_documents.hpp"
#include "host/readers/long_scalars.hpp"

namespace espalier::yaml_to_json_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string One(std::string_view yaml) {
  const auto documents = YamlToJson(yaml);
  if (!documents) return "error: " + documents.error().message;
  return documents->size() == 1 ? documents->front() : "not one document";
}

TEST(YamlToJson, PlainScalarsHaveTheTypesOfYaml11) {
  EXPECT_EQ(One("[yes, On, TRUE, no, off, n, ~, null, '', text]"),
            R"([true,true,true,false,false,false,null,null,"","text"])");
  EXPECT_EQ(One("[1, -2, +3, 0x1F, 017, 0o17, 0b11, 1_000, 18446744073709551615]"),
            "[1,-2,3,31,15,15,3,1000,18446744073709551615]");
  EXPECT_EQ(One("[1.5, 0.5, .5, 5., -1e3, 1e+2, 08, 99999999999999999999]"),
            "[1.5,0.5,0.5,5,-1000,100,8,1e+20]");
  EXPECT_EQ(
      One("[.inf, .nan, 1.2.3, 10.0.0.1, 2026-11-20T14:46:14Z, 16Gi, 500m, -, 1e999]"),
      R"([".inf",".nan","1.2.3","10.0.0.1","2026-11-20T14:46:14Z","16Gi","500m","-","1e999"])");
}

TEST(YamlToJson, QuotedScalarsAreStrings) {
  EXPECT_EQ(One(R"(["true", '1', !!str 2, "a\"b\\c\n"])"), R"(["true","1","2","a\"b\\c\u000a"])");
}

TEST(YamlToJson, MapsAndSequences) {
  EXPECT_EQ(One("a:\n- b: 1\n  c: {}\n- []\n1: x\ntrue: z\n"),
            R"({"a":[{"b":1,"c":{}},[]],"1":"x","true":"z"})");
}

TEST(YamlToJson, Documents) {
  const auto documents = YamlToJson("---\na: 1\n---\n# nothing\n---\nb: 2\n...\n");
  ASSERT_TRUE(documents.has_value());
  EXPECT_THAT(*documents, ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_THAT(*YamlToJson(""), IsEmpty());
}

TEST(YamlToJson, AliasesRepeatTheirAnchor) {
  EXPECT_EQ(One("a: &x {b: [1]}\nc: *x\nd: &y 5\ne: *y\n"),
            R"({"a":{"b":[1]},"c":{"b":[1]},"d":5,"e":5})");
}

TEST(YamlToJson, MergeKeysAddWhatAMappingHasNot) {
  EXPECT_EQ(One("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n"),
            R"({"a":{"b":1,"c":2},"d":{"c":3,"b":1}})");
  EXPECT_EQ(One("a: &x {b: 1, c: 2}\nd:\n  c: 3\n  <<: *x\n"),
            R"({"a":{"b":1,"c":2},"d":{"c":3,"b":1}})");
  // Of several, the earlier one; a merged mapping has what it merges itself.
  EXPECT_EQ(One("- &x {b: 1}\n- &y {<<: *x, c: [2]}\n- <<: [{c: 3, \"d\\n\": 4}, *y]\n"),
            R"([{"b":1},{"c":[2],"b":1},{"c":3,"d\u000a":4,"b":1}])");
  EXPECT_EQ(One("a:\n  <<: {b: 1}\n  <<: {b: 2, c: 2}\n"), R"({"a":{"b":1,"c":2}})");
  EXPECT_EQ(One("<<: {}\na: &x {}\nb: {<<: *x}\n"), R"({"a":{},"b":{}})");
  // Quoted it is a key like any other.
  EXPECT_EQ(One("\"<<\": 1\n"), R"({"<<":1})");
}

TEST(YamlToJson, Errors) {
  EXPECT_THAT(One("a: [1, 2\nb: 3"), HasSubstr("line 2"));
  EXPECT_THAT(One("a: &x [*x]"), HasSubstr("line 1, column 8: an alias refers to the value"));
  EXPECT_THAT(One("{? [a] : b}"), HasSubstr("a key is not a plain text"));
  EXPECT_THAT(One("c:\n  <<: 1\n"),
              HasSubstr("line 2, column 3: a merge key (<<) has a value that"));
  EXPECT_THAT(One("<<:\n"), HasSubstr("a merge key (<<) has a value that is neither a mapping"));
  EXPECT_THAT(One("<<: [{a: 1}, 2]\n"), HasSubstr("nor a list of mappings"));
  EXPECT_THAT(One("a: *gone"), HasSubstr("error: "));
  EXPECT_THAT(One("a: 1\nb: \xff\n"), HasSubstr("line 2, column 4: it is not UTF-8"));
  EXPECT_THAT(One("a: 1\n---\n,"), HasSubstr("line 3, column 1: the text is malformed"));
}

TEST(YamlToJson, AliasBombsAreBounded) {
  std::string yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    yaml += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) yaml += fmt::format("*a{}, ", i - 1);
    yaml += "]\n";
  }
  EXPECT_THAT(One(yaml), HasSubstr("the aliases make the document too large"));
}

TEST(YamlToJson, MergeBombsAreBounded) {
  std::string yaml = "a0: &a0 {x: " + std::string(1000, 'x') + "}\n";
  for (int i = 1; i < 40; ++i) {
    yaml += fmt::format("a{}: &a{} {{<<: *a{}, k{}: *a{}}}\n", i, i, i - 1, i, i - 1);
  }
  EXPECT_THAT(One(yaml), HasSubstr("the aliases make the document too large"));
}

TEST(YamlToJson, AliasBombsOfManyDocumentsAreBoundedTogether) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 6; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int k = 0; k < 10; ++k) bomb += fmt::format("*a{}, ", i - 1);
    bomb += "]\n";
  }
  EXPECT_TRUE(YamlToJson(bomb));
  std::string bombs;
  for (int i = 0; i < 20; ++i) bombs += "---\n" + bomb;
  EXPECT_THAT(One(bombs), HasSubstr("the aliases make the document too large, more than 16"));
}

TEST(YamlToJson, NestedAnchorsAreBounded) {
  std::string yaml;
  for (int i = 0; i < 400; ++i) yaml += fmt::format("&a{} [", i);
  yaml += std::string(100'000, 'x') + std::string(400, ']');
  EXPECT_THAT(One(yaml), HasSubstr("the aliases make the document too large, more than 16"));
  std::string anchors;
  for (int i = 0; i < 100'000; ++i) anchors += fmt::format("- &a{} x\n", i);
  EXPECT_THAT(One(anchors), HasSubstr("the aliases make the document too large, more than "));
}

TEST(YamlToJson, AtMostAsManyBytesAsAsked) {
  EXPECT_TRUE(YamlToJson("a: 12345\nb: 1", 17));
  EXPECT_FALSE(YamlToJson("a: 12345\nb: 1", 9));
  EXPECT_FALSE(YamlToJson("12345: a\n67890: b", 9));
  EXPECT_THAT(YamlToJson("a: 12345\nb: 1", 9).error().message,
              HasSubstr("the document is too large, more than 9 bytes"));
}

TEST(YamlToJson, ReadsOnlySoFarAheadOfWhatItReports) {
  constexpr std::size_t kLong = 3 << 20;
  constexpr const char* kRefused = "brackets within brackets are longer than 2 MiB";
  EXPECT_THAT(One("a: [" + std::string(kLong, '[')), HasSubstr(kRefused));
  EXPECT_THAT(One("a: " + std::string(kLong, 'x')), HasSubstr(kRefused));
  std::string flow = "a: [1";
  while (flow.size() < kLong) flow += ", 12345678";
  EXPECT_TRUE(YamlToJson(flow + "]"));
}

TEST(YamlToJson, DeepNestingIsAnError) {
  EXPECT_THAT(One(std::string(100000, '[')), HasSubstr("it is nested too deeply"));
  std::string block;
  for (int i = 0; i < 2000; ++i) block += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(One(block), HasSubstr("it is nested too deeply"));
}

// Found by fuzzing: the parser reports the same scalar again and again.
TEST(YamlToJson, MalformedTextEnds) {
  EXPECT_THAT(One(",: 0x1f\nb: 017\ne: \"n~of\" \n:\ng: 1e3\n`: .inf\nl: 12\nl0"),
              HasSubstr("error: "));
}

// Scalars are read alike whether they count as long or not, also what only looks like one.
TEST(YamlToJson, LongScalarsAreAsAnyOther) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  const std::string quoted = R"({"a": ''b''})";
  for (const std::string& yaml :
       {"a: '" + quoted + "'\nb:\n- c: '" + quoted + "'\n  d: e\n",
        std::string("a: |\n  {\"b\": 'c'}\n  d\ne: |-\n    f\n\ng: |\n  h"),
        "# a: '" + quoted + "'\nb: '" + quoted + "'\n", "a: |\n  b: '" + quoted + "'\n",
        "a: \"\n  b: '" + quoted + "'\n  \"\n", "a: '\n  b: '" + quoted + "'\n",
        std::string("a: ''\nb: 'c\nd: 'e'\n"), std::string("'a: ''b'''\n"),
        std::string("a: &x 'b'\nc: *x\n"), std::string("a: 'espalier-long-scalar-0'\nb: 'c'\n"),
        std::string("a: 'b': 'c'\n"), std::string("# a: |\nb: 'c'\n"),
        std::string("a: 'b'\n---\nc: 'd'\n"), std::string("a: '\xff'\n"),
        std::string("a: 'b\rc'\n"), std::string("a: |\n  b\n c\n"), std::string("- - a: 'b'\n"),
        std::string("a: 'b'\na: ['\n")}) {
    const auto with = YamlToJson(yaml, kMost, 1);
    const auto without = YamlToJson(yaml, kMost, kMost);
    ASSERT_EQ(with.has_value(), without.has_value()) << yaml;
    if (with) {
      EXPECT_EQ(*with, *without) << yaml;
    } else {
      EXPECT_EQ(with.error(), without.error()) << yaml;
    }
  }
}

TEST(YamlToJson, LongScalarsDoNotReachTheParser) {
  const std::string long_text(2000, 'x');
  const std::string text = "a: '" + long_text + "''y'\nb: |\n  " + long_text + "\n  c\nd: e\n";
  LongScalars scalars(text, 128);
  EXPECT_EQ(scalars.text(),
            "a: 'espalier-long-scalar-0'\nb: |\n  espalier-long-scalar-1\n  c\nd: e\n");
  EXPECT_EQ(scalars.Find("e"), std::nullopt);
  EXPECT_EQ(scalars.Find("espalier-long-scalar-0\n"), std::nullopt);
  EXPECT_EQ(scalars.Find("espalier-long-scalar-0"), long_text + "'y");
  EXPECT_FALSE(scalars.AllFound());
  EXPECT_EQ(scalars.Find("espalier-long-scalar-0"), std::nullopt);
  EXPECT_EQ(scalars.Find("espalier-long-scalar-1\nc\n"), long_text + "\nc\n");
  EXPECT_TRUE(scalars.AllFound());
}

TEST(SplitJsonDocuments, CutsBetweenValues) {
  EXPECT_THAT(SplitJsonDocuments(R"( {"a":"}\""}{"b":[{}]}
 [1] 2 "x" )"),
              ElementsAre(R"({"a":"}\""})", R"({"b":[{}]})", "[1]", "2", "\"x\""));
  EXPECT_THAT(SplitJsonDocuments(R"({"a": [1)"), ElementsAre(R"({"a": [1)"));
  EXPECT_THAT(SplitJsonDocuments("}]"), ElementsAre("}", "]"));
  EXPECT_THAT(SplitJsonDocuments("\"\\"), ElementsAre("\"\\"));
  EXPECT_THAT(SplitJsonDocuments("  \n"), IsEmpty());
}

// This is how kubectl reads them: it takes the text for a plain one and compares its type.
TEST(YamlToJson, TagsSayTheTypeOfQuotedScalars) {
  EXPECT_EQ(
      One(R"([!!int "3", !!int '0x10', !!float "1.5", !!float "2", !!bool "true", !!bool 'no'])"),
      "[3,16,1.5,2,true,false]");
  EXPECT_EQ(One(R"([!!null "", !!null "~", !!str "3", !other "3", ! 3])"),
            R"([null,null,"3","3","3"])");
  EXPECT_EQ(One("{a: !!int \"3\"}"), R"({"a":3})");
  EXPECT_THAT(One("a: !!int \"many\""), HasSubstr("line 1, column 4: many is no !!int"));
  EXPECT_THAT(One("a: !!int \"1.5\""), HasSubstr("1.5 is no !!int"));
  EXPECT_THAT(One("a: !!bool \"1\""), HasSubstr("1 is no !!bool"));
}

}  // namespace
}  // namespace espalier::yaml_to_json_test
