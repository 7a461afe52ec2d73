#include "service/cli/terminal/text_table.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/progress_bar.hpp"

namespace espalier::text_table_test {
namespace {

TEST(RenderTable, AlignsColumnsAndKeepsLinesOfACellTogether) {
  EXPECT_EQ(RenderTable({"NAME", "PODS", "WHERE"},
                        {{"a", "1", "zone-a"},
                         {"long-name", "12", std::vector<std::string>{"zone-a", "zone-b"}},
                         {"b", "", ""}}),
            "NAME       PODS  WHERE\n"
            "a          1     zone-a\n"
            "long-name  12    zone-a\n"
            "                 zone-b\n"
            "b\n");
}

TEST(RenderTable, ShowsNamesThatCanNeitherForgeARowNorSteerTheTerminal) {
  EXPECT_EQ(RenderTable({"NAME", "WHERE"}, {{"a\nb  zone-a", "\x1b[2J\r"}}),
            "NAME          WHERE\n"
            "a\\nb  zone-a  \\x1b[2J\\r\n");
}

TEST(RenderTable, CutsLongNames) {
  const std::string long_name(1000, 'x');
  const std::string text = RenderTable({"NAME", "WHERE"}, {{long_name, long_name}});
  EXPECT_NE(text.find("\n" + std::string(197, 'x') + "...  " + long_name + "\n"),
            std::string::npos);
}

TEST(RenderTable, WrapsTheLastColumnToFit) {
  const TextStyle narrow{.width = 50};
  EXPECT_EQ(
      RenderTable({"NAME", "WHERE"},
                  {{"a", "one two three four five six seven eight nine ten"}, {"b", "x"}}, narrow),
      "NAME  WHERE\n"
      "a     one two three four five six seven eight nine\n"
      "      ten\n"
      "b     x\n");
}

TEST(RenderTable, EndsLongCellsInAnEllipsis) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word ";
  const std::string text = RenderTable({"N", "WHERE"}, {{"a", words}}, {.width = 42});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 6);
  EXPECT_TRUE(text.ends_with("   word word word word word word word wor…\n")) << text;
}

TEST(RenderTable, PutsTheLastColumnBelowTheOthersWhereThereIsNoRoomBesideThem) {
  EXPECT_EQ(RenderTable({"NAME", "PODS", "WHERE"},
                        {{"team/a-rather-long-name", "12", "zone-a/block-1/rack-1: 4 hosts x 2"}},
                        {.width = 40}),
            "NAME                     PODS\n"
            "    WHERE\n"
            "team/a-rather-long-name  12\n"
            "    zone-a/block-1/rack-1: 4 hosts x 2\n");
}

TEST(RenderTable, CutsTheWidestColumnsWhereNothingElseHelps) {
  const std::string text = RenderTable({"NAME", "PODS", "WHERE"},
                                       {{std::string(60, 'n'), "12", "zone-a"}}, {.width = 20});
  EXPECT_EQ(text,
            "NAME            PODS\n"
            "    WHERE\n"
            "nnnnnnnnnnnnn…  12\n"
            "    zone-a\n");
}

TEST(RenderTable, ColorsWhereThereAreColors) {
  EXPECT_EQ(RenderTable({"NAME", "WHERE"}, {{"a", {"gone", Color::kBad}}}, {.colors = true}),
            "\x1b[1mNAME\x1b[0m  \x1b[1mWHERE\x1b[0m\n"
            "a     \x1b[31mgone\x1b[0m\n");
}

TEST(WrapText, CutsBehindBlanksElseBehindSlashesAndCommas) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(WrapText("a bc def", 4), (Lines{"a bc", "def"}));
  EXPECT_EQ(WrapText("zone-a/block-1", 8), (Lines{"zone-a/", "block-1"}));
  EXPECT_EQ(WrapText("abcdef", 4), (Lines{"abcd", "ef"}));
  EXPECT_EQ(WrapText("ééé", 2), (Lines{"éé", "é"}));
  EXPECT_EQ(WrapText("", 4), Lines{""});
}

void WriteSample(ObjectWriter& out) {
  out.BeginMap();
  out.Field("name", std::string_view("say \"hi\"\n"));
  out.Field("count", std::int64_t{3});
  out.Key("empty");
  out.BeginList();
  out.EndList();
  out.Key("list");
  out.BeginList();
  out.Value(std::string_view("no"));
  out.BeginMap();
  out.Field("a", std::int64_t{-1});
  out.EndMap();
  out.EndList();
  out.EndMap();
}

TEST(ObjectWriter, WritesJson) {
  const auto out = MakeJsonWriter();
  WriteSample(*out);
  EXPECT_EQ(out->Finish(),
            "{\n"
            "  \"name\": \"say \\\"hi\\\"\\u000a\",\n"
            "  \"count\": 3,\n"
            "  \"empty\": [],\n"
            "  \"list\": [\n"
            "    \"no\",\n"
            "    {\n"
            "      \"a\": -1\n"
            "    }\n"
            "  ]\n"
            "}\n");
}

TEST(ObjectWriter, WritesYaml) {
  const auto out = MakeYamlWriter();
  WriteSample(*out);
  EXPECT_EQ(out->Finish(),
            "name: \"say \\\"hi\\\"\\n\"\n"
            "count: 3\n"
            "empty:\n"
            "  []\n"
            "list:\n"
            "  - \"no\"\n"
            "  - a: -1\n");
}

TEST(ProgressLine, TellsShareAndTimeLeft) {
  EXPECT_EQ(ProgressLine("placing", 2500, 10000, 5),
            "placing [#######.......................]  25% 2500/10000, 15 s left");
  EXPECT_EQ(ProgressLine("placing", 0, 10, 1),
            "placing [..............................]   0% 0/10");
  EXPECT_EQ(ProgressLine("checking", 12, 0, 1), "checking: 12, 1 s");
  EXPECT_EQ(ProgressLine("packing", 0, 0, 2), "packing: 2 s");
}

}  // namespace
}  // namespace espalier::text_table_test
