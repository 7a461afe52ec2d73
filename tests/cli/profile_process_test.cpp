// A gang workload that asks for more than Kueue can say, through every command: what profile kueue
// says of it, and that profile espalier places it as the tree that it is (W1.6).
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kQueues = R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: default}
spec: {levels: [{nodeLabel: cloud/block}, {nodeLabel: cloud/rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: tas}
spec: {nodeLabels: {pool: tas}, topologyName: default}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: tas, resources: [{name: cpu, nominalQuota: '1000'}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: cq}
)";

// Two blocks of two racks of two hosts of four cpus; of `full` racks nothing is free.
std::string Cluster(const std::vector<std::string>& full) {
  std::string text = kQueues;
  for (const char* block : {"b1", "b2"}) {
    for (const char* rack : {"r1", "r2"}) {
      const std::string of_rack = std::string(block) + rack;
      for (const char* host : {"h1", "h2"}) {
        const std::string node = of_rack + host;
        text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + node +
                ", labels: {pool: tas, cloud/block: " + block + ", cloud/rack: " + of_rack +
                ", kubernetes.io/hostname: " + node +
                "}}\nstatus: {allocatable: {cpu: '4', pods: '110'}, conditions: [{type: Ready, "
                "status: 'True'}]}\n";
        if (std::ranges::find(full, of_rack) == full.end()) continue;
        text += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: fill-" + node +
                "}\nspec: {nodeName: " + node +
                ", containers: [{name: c, resources: {requests: {cpu: 4}}}]}\nstatus: {phase: "
                "Running}\n";
      }
    }
  }
  return text;
}

// Two racks of one block: flat requests can say the racks alone.
constexpr const char* kTwoLevels = R"(---
apiVersion: scheduling/v1alpha1
kind: Workload
metadata: {name: two, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  topologyRequest: {required: cloud/block}
  gangGroups:
  - name: gg
    minCount: 12
    rankedGroups:
    - name: ra
      topologyRequest: {required: cloud/rack}
      eqGroups: [{name: ea, count: 6, template: {resources: {requests: {cpu: 1}}}}]
    - name: rb
      topologyRequest: {required: cloud/rack}
      eqGroups: [{name: eb, count: 6, template: {resources: {requests: {cpu: 1}}}}]
)";

constexpr const char* kNotHonoured =
    "not as asked: topologyRequest of the workload: required cloud/block holds for each of its 2 "
    "pod sets, not for all of them together";

ProcessResult Ask(std::vector<std::string> command, const std::vector<std::string>& full) {
  return RunEspalier(command, Cluster(full) + kTwoLevels);
}

// Room in two racks of different blocks.
const std::vector<std::string> kApart = {"b1r2", "b2r2"};

// About one workload; the node that is drained is full.
const std::vector<std::vector<std::string>> kQuestions = {
    {"explain", "two", "-"}, {"what-if", "two", "-", "--drain", "b1r2h1"}, {"victims", "two", "-"}};

TEST(ProfileKueue, PlaceSaysWhatItCannotHonourAndExitsWithOne) {
  const ProcessResult said = Ask({"place", "-"}, kApart);
  EXPECT_EQ(said.exit_code, 1) << said.errors;
  EXPECT_THAT(said.output,
              AllOf(HasSubstr("b1/b1r1"), HasSubstr("b2/b2r1"), HasSubstr(kNotHonoured),
                    HasSubstr("1 of the placed not as asked")));
  const ProcessResult allowed = Ask({"place", "-", "--best-effort"}, kApart);
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_EQ(allowed.output, said.output);
  EXPECT_THAT(Ask({"place", "-", "-o", "json"}, kApart).output,
              HasSubstr("\"espalier.dev/not-honoured\": \"topologyRequest of the workload"));
}

TEST(ProfileKueue, CycleExplainAndTheOthersSayTheSame) {
  const ProcessResult cycle = Ask({"cycle", "-"}, kApart);
  EXPECT_EQ(cycle.exit_code, 1);
  EXPECT_THAT(cycle.output, AllOf(HasSubstr("admitted"), HasSubstr(kNotHonoured)));
  EXPECT_EQ(Ask({"cycle", "-", "--best-effort"}, kApart).exit_code, 0);
  EXPECT_THAT(Ask({"cycle", "-", "-o", "jsonl"}, kApart).output, HasSubstr("\"notHonoured\""));
  for (std::vector<std::string> command : kQuestions) {
    const ProcessResult asked = Ask(command, kApart);
    EXPECT_EQ(asked.exit_code, 1) << command[0] << asked.errors;
    EXPECT_THAT(asked.output, HasSubstr(kNotHonoured)) << command[0];
    command.emplace_back("--best-effort");
    EXPECT_EQ(Ask(command, kApart).exit_code, 0) << command[0];
  }
}

TEST(ProfileEspalier, NoCommandBreaksTheOuterLevel) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"place", "-", "--profile", "espalier"},
        {"cycle", "-", "--profile", "espalier"},
        {"explain", "two", "-", "--profile", "espalier"},
        {"what-if", "two", "-", "--drain", "b1r2h1", "--profile", "espalier"},
        {"victims", "two", "-", "--profile", "espalier"},
        {"capacity", "-", "--profile", "espalier"}}) {
    const ProcessResult without_room = Ask(command, kApart);
    EXPECT_EQ(without_room.exit_code, 1) << command[0] << without_room.errors;
    EXPECT_THAT(without_room.output, Not(HasSubstr("not as asked"))) << command[0];
    const ProcessResult with_room = Ask(command, {"b1r2"});
    EXPECT_EQ(with_room.exit_code, 0) << command[0] << with_room.output << with_room.errors;
    EXPECT_THAT(with_room.output, Not(HasSubstr("b1/b1r1"))) << command[0];
  }
  EXPECT_THAT(Ask({"cycle", "-", "--profile", "espalier"}, {"b1r2"}).output,
              AllOf(HasSubstr("b2/b2r1"), HasSubstr("b2/b2r2"), HasSubstr("1 admitted")));
}

// R25.14: the pods that fill the racks may end, so that it is a matter of waiting.
TEST(ProfileEspalier, ExplainTellsWaitingFromNever) {
  EXPECT_THAT(Ask({"explain", "two", "-", "--profile", "espalier"}, kApart).output,
              AllOf(HasSubstr("no domain of cloud/block has room"),
                    HasSubstr("yes, once enough of what runs has ended")));
  const std::string large =
      std::string(kTwoLevels).replace(std::string(kTwoLevels).find("count: 6"), 8, "count: 9");
  EXPECT_THAT(
      RunEspalier({"explain", "two", "-", "--profile", "espalier"}, Cluster({}) + large).output,
      HasSubstr("never on these nodes"));
}

TEST(ProfileEspalier, CapacityCountsTreesAsTheyAre) {
  const ProcessResult all = Ask({"capacity", "-", "--profile", "espalier"}, {});
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_THAT(all.output, testing::ContainsRegex("default/two +tas +flavor +2 +24 pods"));
  EXPECT_THAT(Ask({"capacity", "-", "--profile", "espalier"}, {"b1r2"}).output,
              testing::ContainsRegex("default/two +tas +flavor +1 +12 pods"));
}

// A server answers questions about trees on its state as the files are answered.
TEST(ProfileEspalier, AServerAnswersTheSame) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  EXPECT_THAT(server.ReadLine(), HasSubstr("listening"));
  for (const std::vector<std::string>& full : {kApart, std::vector<std::string>{"b1r2"}}) {
    const ProcessResult here = Ask({"place", "-", "--profile", "espalier"}, full);
    const ProcessResult there =
        Ask({"place", "-", "--profile", "espalier", "--connect", address, "--load"}, full);
    EXPECT_EQ(there.output, here.output) << there.errors;
    EXPECT_EQ(there.exit_code, here.exit_code);
    for (std::vector<std::string> command : kQuestions) {
      command.insert(command.end(), {"--profile", "espalier"});
      const ProcessResult asked_here = Ask(command, full);
      command.insert(command.end(), {"--connect", address});
      const ProcessResult asked_there = Ask(command, full);
      EXPECT_EQ(asked_there.output, asked_here.output) << command[0] << asked_there.errors;
      EXPECT_EQ(asked_there.exit_code, asked_here.exit_code) << command[0];
    }
  }
}

}  // namespace
}  // namespace espalier
