#include "service/cli/text_table.hpp"

#include <gtest/gtest.h>

#include "service/cli/object_writer.hpp"
#include "service/cli/progress_bar.hpp"

namespace espalier {
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
  EXPECT_EQ(ProgressLine("reading", 12, 0, 1), "reading 12");
}

}  // namespace
}  // namespace espalier
