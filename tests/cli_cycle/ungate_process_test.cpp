// `espalier ungate` as a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;

const std::string kPods = kData + "pods.yaml";

ProcessResult Ungate(const std::string& workload, const std::string& output = "table") {
  return RunEspalier({"ungate", "--workload", workload, kPods, "--output", output});
}

TEST(UngateOutput, ByRankWhereEveryPodHasOne_R22_5) {
  const ProcessResult result = Ungate("team/ranked");
  EXPECT_EQ(result.output, FileContent(kData + "ranked.table"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(UngateOutput, NamesTheNodeSelectorOfEachPod_R22_8) {
  EXPECT_EQ(Ungate("team/ranked", "json").output, FileContent(kData + "ranked.json"));
}

// One place is on an unhealthy node (R22.7), one pod is too many (R22.6), two are of no pod set.
TEST(UngateOutput, SaysWhyPodsStayGated) {
  for (const char* output : {"table", "json"}) {
    const ProcessResult result = Ungate("team/surplus", output);
    EXPECT_EQ(result.output, FileContent(kData + "surplus." + output));
    EXPECT_EQ(result.exit_code, 1);
  }
}

TEST(UngateOutput, NothingBeforeAdmission_R22_1) {
  const ProcessResult result = Ungate("team/waiting");
  EXPECT_THAT(result.output,
              HasSubstr("team/waiting-a  stays gated: the workload is not admitted"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(UngateOutput, NothingLeftToDo) {
  const ProcessResult result = Ungate("team/running");
  EXPECT_EQ(result.output,
            "Nothing to ungate: workload team/running has no gated pods in the input.\n");
  EXPECT_EQ(result.exit_code, 0);
}

TEST(UngateExitCode, IsTwoForAWrongCommandLine) {
  EXPECT_EQ(RunEspalier({"ungate", kPods}).exit_code, 2);
  EXPECT_EQ(RunEspalier({"ungate", "--workload", "team/ranked"}).exit_code, 2);
  const ProcessResult result = Ungate("team/");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("want NAMESPACE/NAME"));
}

TEST(UngateExitCode, IsThreeForWrongInput) {
  const ProcessResult unknown = Ungate("team/nobody");
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.errors, HasSubstr("workload team/nobody is not in the input"));
  EXPECT_EQ(RunEspalier({"ungate", "--workload", "team/a", "no-such-file"}).exit_code, 3);
}

TEST(UngateHelp, TeachesWithExamples) {
  const ProcessResult help = RunEspalier({"ungate", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text : {"FILES", "--workload", "--output", "Examples:", "Exit codes:"}) {
    EXPECT_THAT(help.output, HasSubstr(text));
  }
}

}  // namespace
}  // namespace espalier
