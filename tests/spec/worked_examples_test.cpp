// The worked examples of docs/spec/worked-examples.md: engine and oracle give the answers that the
// document states.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "tests/engine/requests.hpp"
#include "tests/oracle/oracle_input.hpp"
#include "tests/spec/example_reader.hpp"

namespace espalier::worked_examples_test {
namespace {

Result<std::vector<WorkedExample>> ReadDocument() {
  std::ifstream file(ESPALIER_SOURCE_DIR "/docs/spec/worked-examples.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return ReadExamples(text);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const WorkedExample& example : ReadDocument().value_or(std::vector<WorkedExample>())) {
    names.push_back(example.name);
  }
  return names;
}

std::vector<ExampleQuestion> QuestionsOf(const std::string& name) {
  for (WorkedExample& example : ReadDocument().value_or(std::vector<WorkedExample>())) {
    if (example.name == name) return std::move(example.questions);
  }
  return {};
}

TEST(WorkedExamples, AreRead) {
  const auto examples = ReadDocument();
  ASSERT_TRUE(examples) << examples.error().message;
  EXPECT_GE(examples->size(), 18u);
}

class WorkedExampleTest : public testing::TestWithParam<std::string> {};

TEST_P(WorkedExampleTest, EngineAnswersAsWritten) {
  for (const ExampleQuestion& question : QuestionsOf(GetParam())) {
    SCOPED_TRACE("worked-examples.md, line " + std::to_string(question.line));
    const auto state = ClusterState::Build(question.cluster);
    ASSERT_TRUE(state) << state.error().message;
    const Engine engine(MakeCpuBackend(1), question.gates);
    EXPECT_EQ(Texts(engine.NominateOne(*state, question.request)), question.answers);
  }
}

TEST_P(WorkedExampleTest, OracleAnswersAsWritten) {
  for (const ExampleQuestion& question : QuestionsOf(GetParam())) {
    if (question.cluster.flavors.size() > 1) continue;  // it knows one flavor
    SCOPED_TRACE("worked-examples.md, line " + std::to_string(question.line));
    const auto input = oracle::MakeOracleInput(question.cluster, question.gates);
    EXPECT_EQ(Texts(oracle::Answer(input, question.request)), question.answers);
  }
}

INSTANTIATE_TEST_SUITE_P(Document, WorkedExampleTest, testing::ValuesIn(Names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace espalier::worked_examples_test
