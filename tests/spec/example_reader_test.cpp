// The reader of worked examples passes over no line that it does not understand.
#include "tests/spec/example_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::example_reader_test {
namespace {

using ::testing::HasSubstr;

std::string Block(const std::string& lines, const std::string& name = "E1") {
  return "Text.\n```example " + name + "\n" + lines + "```\nMore text.\n";
}

const std::string kCluster = "levels rack host\nin r1: a:4\n";
const std::string kQuestion = "pods main 2 required=rack\nmain -> a:2\n";

TEST(ExampleReader, ReadsQuestionsToOneCluster) {
  const auto examples =
      ReadExamples(Block(kCluster + kQuestion + "pods w 1 gpu=2 unconstrained\nw -> a:1\n") +
                   Block(kCluster + kQuestion) + Block(kCluster + kQuestion, "E2"));
  ASSERT_TRUE(examples) << examples.error().message;
  ASSERT_EQ(examples->size(), 2u);
  ASSERT_EQ(examples->front().questions.size(), 3u);
  const ExampleQuestion& second = examples->front().questions[1];
  EXPECT_EQ(second.line, 8u);
  EXPECT_EQ(second.cluster.nodes.size(), 1u);
  ASSERT_EQ(second.request.pod_sets.size(), 1u);
  EXPECT_EQ(second.request.pod_sets[0].requests, (Resources{{"gpu", 2}}));
  EXPECT_EQ(second.answers, std::vector<std::string>{"w -> a:1"});
}

TEST(ExampleReader, NamesTheLineThatIsNotUnderstood) {
  for (const std::string wrong :
       {"in r1/r2: b:1\n", "in r1: b:x\n", "in r1:\n", "levels host\n", "node r1/b cpu=much\n",
        "used a disk=1\n", "flavor fa b\n", "gates Nothing=true\n", "pods main x\n",
        "pods main 1 slices=rack\n", "pods main 1 wanted=rack\n", "placed main a\n", "again now\n",
        "nonsense 1\n", "main -> a:2\n"}) {
    const auto examples = ReadExamples(Block(kCluster + wrong + kQuestion));
    ASSERT_FALSE(examples) << wrong;
    EXPECT_THAT(examples.error().message, HasSubstr("line 5: ")) << wrong;
  }
}

TEST(ExampleReader, ABlockEndsWithAnAnswer) {
  for (const std::string& text : {Block(kCluster), Block(kCluster + "pods main 2 required=rack\n"),
                                  Block(kCluster + kQuestion + "pods main 1 required=rack\n"),
                                  "```example E1\n" + kCluster + kQuestion}) {
    EXPECT_FALSE(ReadExamples(text)) << text;
  }
}

}  // namespace
}  // namespace espalier::example_reader_test
