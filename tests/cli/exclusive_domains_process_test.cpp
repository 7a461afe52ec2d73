// Domains that Jobs of JobSets have to themselves, among all JobSets (profile espalier).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Two racks of two nodes of 4 cpu.
std::string Racks() {
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: a}, topologyName: t}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 100}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team}
spec: {clusterQueue: cq}
)";
  for (const char* rack : {"r1", "r2"}) {
    for (int i = 1; i <= 2; ++i) {
      text += fmt::format(
          "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}-n{1}, labels: {{pool: a, rack: "
          "{0}, kubernetes.io/hostname: {0}-n{1}}}}}\nstatus: {{allocatable: {{cpu: \"4\", pods: "
          "\"110\"}}, conditions: [{{type: Ready, status: \"True\"}}]}}\n",
          rack, i);
    }
  }
  return text;
}

std::string JobSet(const std::string& name, bool exclusive, int second) {
  return fmt::format(
      "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {}, namespace: "
      "team, creationTimestamp: \"2026-01-01T00:00:0{}Z\", labels: {{kueue.x-k8s.io/queue-name: "
      "lq}}{}}}\nspec: {{replicatedJobs: [{{name: w, replicas: 1, template: {{spec: {{parallelism: "
      "2, completions: 2, template: {{spec: {{containers: [{{name: c, resources: {{requests: "
      "{{cpu: "
      "1}}}}}}]}}}}}}}}}}]}}\n",
      name, second,
      exclusive ? ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}" : "");
}

std::string RunningPod(const std::string& labels, const std::string& annotations = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: runs, namespace: other, labels: {{{}}}, "
      "annotations: {{{}}}}}\nspec: {{nodeName: r1-n1, containers: [{{name: c, resources: "
      "{{requests: {{cpu: 100m}}}}}}]}}\nstatus: {{phase: Running}}\n",
      labels, annotations);
}

constexpr const char* kOfJobSet =
    "jobset.sigs.k8s.io/job-key: k, jobset.sigs.k8s.io/jobset-name: theirs";

std::string Place(const std::string& input) {
  const ProcessResult result = RunEspalier({"place", "-", "--profile", "espalier"}, input);
  return result.output + fmt::format("exit {}\n", result.exit_code);
}

// W8.11
TEST(ExclusiveDomains, AreKeptFromJobSetsThatAreTriedLater) {
  // The racks have room for all of it, and a third JobSet has none that is free.
  const std::string two = Place(Racks() + JobSet("a", true, 1) + JobSet("b", false, 2));
  EXPECT_THAT(two, AllOf(HasSubstr("2 placed, 0 not placed"), HasSubstr("r1"), HasSubstr("r2"),
                         HasSubstr("exit 0")));
  const std::string three =
      Place(Racks() + JobSet("a", true, 1) + JobSet("b", true, 2) + JobSet("c", false, 3));
  EXPECT_THAT(three, AllOf(HasSubstr("2 placed, 1 not placed"), HasSubstr("exit 1"),
                           Not(HasSubstr("never"))));
  // Nobody holds a rack.
  EXPECT_THAT(
      Place(Racks() + JobSet("a", false, 1) + JobSet("b", false, 2) + JobSet("c", false, 3)),
      HasSubstr("3 placed, 0 not placed"));
}

TEST(ExclusiveDomains, AreNotWherePodsOfOtherJobSetsRun) {
  const std::string with = Place(Racks() + RunningPod(kOfJobSet) + JobSet("a", true, 1));
  EXPECT_THAT(with, AllOf(HasSubstr("r2"), Not(HasSubstr("r1")), HasSubstr("exit 0")));
  // Of no JobSet: it does not keep the rack from being held.
  EXPECT_THAT(Place(Racks() + RunningPod("app: web") + JobSet("a", true, 1)),
              AllOf(HasSubstr("r1"), HasSubstr("exit 0")));
}

// Once what runs has ended, it fits.
TEST(ExclusiveDomains, ThatAreAllHeldMayBecomeFree) {
  std::string held;
  for (const char* rack : {"r1", "r2"}) {
    held += RunningPod(kOfJobSet, "alpha.jobset.sigs.k8s.io/exclusive-topology: rack");
    held.replace(held.rfind("r1-n1"), 5, std::string(rack) + "-n1");
    held.replace(held.rfind("name: runs"), 10, std::string("name: runs-") + rack);
  }
  EXPECT_THAT(Place(Racks() + held + JobSet("a", false, 1)),
              AllOf(HasSubstr("0 placed, 1 not placed"), Not(HasSubstr("never"))));
}

TEST(ExclusiveDomains, ThatRunAreKeptFromOthers) {
  const std::string held =
      RunningPod(kOfJobSet, "alpha.jobset.sigs.k8s.io/exclusive-topology: rack");
  EXPECT_THAT(Place(Racks() + held + JobSet("a", false, 1)),
              AllOf(HasSubstr("r2"), Not(HasSubstr("r1")), HasSubstr("exit 0")));
}

// One verdict: where place sends it, and that it may fit later.
TEST(ExclusiveDomains, AreClosedInOtherQuestions) {
  const std::string held =
      RunningPod(kOfJobSet, "alpha.jobset.sigs.k8s.io/exclusive-topology: rack");
  const std::string one = Racks() + held + JobSet("a", false, 1);
  const auto ask = [](const std::vector<std::string>& question, const std::string& input) {
    std::vector<std::string> words = question;
    words.insert(words.end(), {"-", "--profile", "espalier"});
    const ProcessResult result = RunEspalier(words, input);
    return result.output + fmt::format("exit {}\n", result.exit_code);
  };
  for (const auto& question : {std::vector<std::string>{"explain", "a"},
                               {"what-if", "a", "--drain", "r2-n2"},
                               {"victims", "a"}}) {
    EXPECT_THAT(ask(question, one),
                AllOf(HasSubstr("r2"), Not(HasSubstr("r1")), HasSubstr("exit 0")))
        << question.front();
  }
  std::string other = held;
  other.replace(other.rfind("r1-n1"), 5, "r2-n1");
  other.replace(other.rfind("name: runs"), 10, "name: runs-too");
  const std::string none = Racks() + held + other + JobSet("a", false, 1);
  EXPECT_THAT(ask({"explain", "a"}, none),
              AllOf(HasSubstr("does not fit"), HasSubstr("yes, once enough of what runs has ended"),
                    Not(HasSubstr("never")), HasSubstr("exit 1")));
  EXPECT_THAT(ask({"what-if", "a", "--drain", "r2-n2"}, none), HasSubstr("exit 1"));
  // Kueue does not look at it.
  EXPECT_EQ(RunEspalier({"explain", "a", "-"}, none).exit_code, 0);
}

}  // namespace
}  // namespace espalier
