// `espalier validate-objects` as a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kObjects = kData + "objects.yaml";

TEST(ValidateObjectsOutput, MatchesTheGoldenFiles) {
  for (const char* output : {"table", "json"}) {
    const ProcessResult result =
        RunEspalier({"validate-objects", "-", "--output", output}, FileContent(kObjects));
    EXPECT_EQ(result.output, FileContent(kData + "objects." + output));
    EXPECT_EQ(result.exit_code, 1);
  }
}

TEST(ValidateObjectsOutput, DependsOnGates_R23_8) {
  const ProcessResult result =
      RunEspalier({"validate-objects", kObjects, "--feature-gates", "TASMultiLayerTopology=false"});
  EXPECT_THAT(result.output, HasSubstr("the TASMultiLayerTopology feature gate must be enabled"));
  EXPECT_THAT(result.output, Not(HasSubstr("must be a valid JSON array")));
}

TEST(ValidateObjectsOutput, FindsNothingInARealCluster) {
  const ProcessResult result =
      RunEspalier({"validate-objects", kDumps + "after.json.gz", kDumps + "extra.json"});
  EXPECT_EQ(result.output, "No violations.\n");
  EXPECT_EQ(result.exit_code, 0);
}

TEST(ValidateObjectsExitCode, IsTwoForAWrongCommandLine) {
  EXPECT_EQ(RunEspalier({"validate-objects"}).exit_code, 2);
  EXPECT_EQ(RunEspalier({"validate-objects", "x", "--output", "yaml"}).exit_code, 2);
  EXPECT_EQ(RunEspalier({"validate-objects", "x", "--feature-gates", "TAS=true"}).exit_code, 2);
}

TEST(ValidateObjectsExitCode, IsThreeForWhatIsNoObject) {
  EXPECT_EQ(RunEspalier({"validate-objects", "no-such-file"}).exit_code, 3);
  const ProcessResult result = RunEspalier({"validate-objects", "-"}, R"({"kind": "Node")");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("standard input"));
}

TEST(ValidateObjectsHelp, TeachesWithExamples) {
  const ProcessResult help = RunEspalier({"validate-objects", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text : {"FILES", "--feature-gates", "--output", "Examples:", "Exit codes:"}) {
    EXPECT_THAT(help.output, HasSubstr(text));
  }
}

}  // namespace
}  // namespace espalier
