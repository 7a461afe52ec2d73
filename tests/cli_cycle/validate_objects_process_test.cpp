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

// One job of it asks for a level that its cluster does not have.
TEST(ValidateObjectsOutput, FindsAnUnknownLevelInARealCluster) {
  const ProcessResult result =
      RunEspalier({"validate-objects", kDumps + "after.json.gz", kDumps + "extra.json"});
  EXPECT_THAT(result.output, HasSubstr("Workload team-nlp/job-nolevel-01-b1821"));
  EXPECT_THAT(result.output, HasSubstr("no Topology of the input has this level"));
  EXPECT_THAT(result.output, HasSubstr("\n1 violation\nlooked at: "));
  EXPECT_THAT(result.output, HasSubstr("\nnot looked at: "));
  EXPECT_EQ(result.exit_code, 1);
}

// Every kind that Kueue makes Workloads of is looked at (R23.11), and named with its file.
TEST(ValidateObjectsOutput, LooksAtTheTemplatesOfEveryKind) {
  const ProcessResult result = RunEspalier({"validate-objects", "-"}, R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: bad, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicatedJobs:
  - name: w
    template:
      spec:
        template:
          metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: a, kueue.x-k8s.io/podset-preferred-topology: b}}
          spec: {containers: [{name: c}]}
)");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              HasSubstr("standard input  JobSet bad  "
                        "spec.replicatedJobs[0].template.spec.template.metadata.annotations"));
  EXPECT_THAT(result.output, HasSubstr("must not contain more than one topology annotation"));
  EXPECT_THAT(result.output, HasSubstr("looked at: 1 JobSet"));
}

// What the reader needs and no webhook refuses is said, but is no violation.
TEST(ValidateObjectsOutput, TwiceInTheInputIsNoViolation) {
  const std::string flavor = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: )";
  const ProcessResult result =
      RunEspalier({"validate-objects", "-"}, flavor + "a}}\n---" + flavor + "b}}\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("No violations."));
  EXPECT_THAT(result.errors, HasSubstr("it is in the input twice"));
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
