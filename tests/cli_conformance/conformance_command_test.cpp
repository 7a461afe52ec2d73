#include "service/cli/commands/conformance_command.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "service/cli/terminal/exit_code.hpp"

namespace espalier::conformance_command_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// One domain whose encoded form is right when `count` is 1.
std::string Line(const std::string& name, int count) {
  return R"({"name":")" + name +
         R"(","encode":{"levels":["rack"],"domains":[{"values":["a"],"count":1}]},)"
         R"("expectEncoded":{"levels":["rack"],"slices":[{"domainCount":1,)"
         R"("valuesPerLevel":[{"universal":"a"}],"podCounts":{"universal":)" +
         std::to_string(count) + "}}]}}\n";
}

class ConformanceCommand : public testing::Test {
 protected:
  ConformanceCommand() {
    options_.files = {(std::filesystem::path(testing::TempDir()) /
                       (std::to_string(getpid()) + "conformance.jsonl"))
                          .string()};
    std::ofstream(options_.files[0]) << Line("good", 1) << Line("bad", 2) << Line("worse", 3);
  }
  int RunCommand() { return RunConformanceCommand(options_, out_); }

  ConformanceCommandOptions options_;
  std::ostringstream out_;
};

TEST_F(ConformanceCommand, PrintsDifferencesAndTheCounts) {
  EXPECT_EQ(RunCommand(), kExitNo);
  EXPECT_THAT(out_.str(), HasSubstr(options_.files[0] + ":2: bad\n  v1beta2 form differs"));
  EXPECT_THAT(out_.str(), EndsWith("\n1 passed, 2 failed\n"));
}

TEST_F(ConformanceCommand, RunsOnTheBackEndItIsTold) {
  options_.files = {ESPALIER_SOURCE_DIR "/tests/data/cases/kueue-tables.jsonl.gz"};
  ASSERT_EQ(RunCommand(), kExitOk);
  const std::string on_cpu = out_.str();
  options_.backend.name = "emulated";
  out_.str("");
  EXPECT_EQ(RunCommand(), kExitOk);
  EXPECT_EQ(out_.str(), on_cpu);
}

TEST_F(ConformanceCommand, FilterFindsNames) {
  options_.filter = "^go+d$";
  EXPECT_EQ(RunCommand(), kExitOk);
  EXPECT_EQ(out_.str(), "1 passed, 0 failed\n");
}

// Neither recursion nor time grows with what a file calls its cases.
TEST_F(ConformanceCommand, FilterTakesNamesOfAnyLength) {
  std::ofstream(options_.files[0]) << Line(std::string(1'000'000, 'a'), 1) << Line("aaa-b", 1);
  options_.filter = "^((a|aa)+)+-b$";
  EXPECT_EQ(RunCommand(), kExitOk);
  EXPECT_EQ(out_.str(), "1 passed, 0 failed\n");
}

TEST_F(ConformanceCommand, ShowsOnlySoManyDifferences) {
  options_.max_differences = 1;
  EXPECT_EQ(RunCommand(), kExitNo);
  EXPECT_THAT(out_.str(), Not(HasSubstr("worse")));
  EXPECT_THAT(out_.str(), HasSubstr("1 more differences"));
}

TEST_F(ConformanceCommand, UnreadableFileIsBadInput) {
  options_.filter = "good";
  options_.files.push_back("/no/such/file");
  EXPECT_EQ(RunCommand(), kExitBadInput);
  EXPECT_EQ(out_.str(), "1 passed, 0 failed\n");
}

}  // namespace
}  // namespace espalier::conformance_command_test
