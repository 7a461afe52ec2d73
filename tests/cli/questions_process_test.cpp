// The commands that ask about one saved cluster, as processes: what they print and how they end.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kSmall = ESPALIER_SOURCE_DIR "/tests/cli/data/questions.yaml";
const std::string kBefore = ESPALIER_SOURCE_DIR "/tests/data/dumps/before.json.gz";
const std::string kAfter = ESPALIER_SOURCE_DIR "/tests/data/dumps/after.json.gz";
const std::string kExtra = ESPALIER_SOURCE_DIR "/tests/data/dumps/extra.json";

TEST(WhatIfProcess, SaysWhoHasToGo) {
  const auto run = RunEspalier({"what-if", "big", kSmall, "--without", "team/new,team/old"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, AllOf(HasSubstr("now   does not fit: topology \"default\" allows to fit "
                                          "only 1 out of 2 pod(s)"),
                                HasSubstr("then  b2/r1/c: 1 host x 2"),
                                HasSubstr("once the first 1 of 2 are gone; of these, must go: "
                                          "team/new\n")));
}

TEST(WhatIfProcess, DrainsAndAdds) {
  const auto drained =
      RunEspalier({"what-if", "big", kSmall, "--without", "old", "--drain", "block=b1"});
  EXPECT_EQ(drained.exit_code, 1);
  EXPECT_THAT(drained.output, AllOf(HasSubstr("drained: 2 nodes, with pods of 1 admitted workload"),
                                    HasSubstr("not even without all 1 of them\n")));
  const auto added = RunEspalier({"what-if", "big", kSmall, "--add", "-", "-o", "json"},
                                 R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n",
        "labels": {"block": "b3", "rack": "r1", "kubernetes.io/hostname": "n"}},
        "status": {"allocatable": {"cpu": "8", "pods": "9"},
                   "conditions": [{"type": "Ready", "status": "True"}]}})");
  EXPECT_EQ(added.exit_code, 0) << added.errors;
  EXPECT_THAT(added.output, AllOf(HasSubstr("\"now\": {\n    \"fits\": false"),
                                  HasSubstr("\"then\": {\n    \"fits\": true")));
}

TEST(WhatIfProcess, WrongQuestionsAreErrors) {
  const auto ask = [](std::vector<std::string> more, int exit_code, const std::string& error) {
    more.insert(more.begin(), {"what-if", "big", kSmall});
    const auto run = RunEspalier(more);
    EXPECT_EQ(run.exit_code, exit_code) << run.errors;
    EXPECT_THAT(run.errors, HasSubstr(error));
    EXPECT_THAT(run.output, IsEmpty());
  };
  ask({}, 2, "one of --without, --drain and --add");
  ask({"--without", "gone"}, 3, "workload gone is not in the input");
  ask({"--without", "big"}, 3, "--without team/big: it is not admitted");
  ask({"--without", "old,team/old"}, 3, "victim team/old: it is named twice");
  ask({"--drain", "node-x"}, 3, "node node-x is not in the input; there is node-a");
  ask({"--drain", "rack=r1"}, 3,
      "rack=r1 is in 2 places: b1/r1, b2/r1; want one of them, as rack=b1/r1");
  ask({"--drain", "rack=r9"}, 3, "no node has rack=r9");
  ask({"--drain", "zone=z"}, 3, "no topology has a level zone; there are block, rack, host");
  EXPECT_EQ(RunEspalier({"what-if", "old", kSmall, "--drain", "node-a"}).exit_code, 3);
}

TEST(VictimsProcess, NamesThemByThePolicyOfTheQueue) {
  const auto run = RunEspalier({"victims", "big", kSmall});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("team/new  0         1     4 cpu"),
                    HasSubstr("team/big  b2/r1/c: 1 host x 2"),
                    HasSubstr("1 victim of 2 candidates in ClusterQueue queue by policy "
                              "LowerPriority\n")));
  const auto never = RunEspalier({"victims", "big", kSmall, "--policy", "Never"});
  EXPECT_EQ(never.exit_code, 1);
  EXPECT_THAT(never.output, HasSubstr("not even without all of 0 candidates in ClusterQueue queue "
                                      "by policy Never; --policy asks what another would allow\n"));
  EXPECT_EQ(RunEspalier({"victims", "big", kSmall, "--policy", "Some"}).exit_code, 2);
}

TEST(VictimsProcess, NamesTheCheapestOfEachDomain) {
  const auto run = RunEspalier({"victims", "big", kSmall, "--policy", "Any", "--cheapest"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, AllOf(HasSubstr("b2/r1    0         1        0        team/new"),
                                HasSubstr("there are no cheaper ones")));
  const auto json =
      RunEspalier({"victims", "big", kSmall, "--policy", "Any", "--cheapest", "-o", "json"});
  EXPECT_THAT(json.output, AllOf(HasSubstr("\"exact\": true"), HasSubstr("\"team/new\"")));
  EXPECT_EQ(RunEspalier({"victims", "big", kSmall, "--policy", "Never", "--cheapest"}).exit_code,
            1);
}

TEST(VictimsProcess, TellsOfAllWhoWaitUpToWhomTheyWouldGo) {
  const auto run = RunEspalier({"victims", "--all", kSmall});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("WORKLOAD  PRIORITY  FLAVOR  WITHIN"), HasSubstr("team/big"),
                    HasSubstr("1 workload: 0 fit as it is, 1 once some go, 0 never; ")));
  const auto json = RunEspalier({"victims", kSmall, "--all", "-o", "json"});
  EXPECT_EQ(json.exit_code, 0) << json.errors;
  EXPECT_THAT(json.output,
              AllOf(HasSubstr("\"workload\": \"team/big\""),
                    HasSubstr("\"fits\": \"later\",\n      \"withoutPrioritiesUpTo\": 0"),
                    HasSubstr("\"steps\": [")));
}

TEST(VictimsProcess, OfAllGoesWithoutAnyOne) {
  const auto refuse = [](std::vector<std::string> words, const std::string& error) {
    words.insert(words.begin(), "victims");
    const auto run = RunEspalier(words);
    EXPECT_EQ(run.exit_code, 2) << run.errors;
    EXPECT_THAT(run.errors, HasSubstr(error));
    EXPECT_THAT(run.output, IsEmpty());
  };
  refuse({"--all"}, "FILES");
  refuse({"--all", kSmall, "--cheapest"}, "--cheapest");
  refuse({"--all", kSmall, "--policy", "Any"}, "--policy");
  refuse({"--all", kSmall, "--any-queue"}, "--any-queue");
  refuse({"big", kSmall, "--report", "x.html"}, "--all");
  refuse({}, "WORKLOAD");
  refuse({"big"}, "FILES");
  const auto nothing =
      RunEspalier({"victims", "--all", "-"},
                  R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})");
  EXPECT_EQ(nothing.exit_code, 3);
  EXPECT_THAT(nothing.errors, HasSubstr("nothing in the input waits"));
}

TEST(DefragmentProcess, NamesMovesAndWhatTheyFree) {
  const auto run = RunEspalier({"defragment", "--level", "rack", kSmall});
  EXPECT_THAT(run.output, HasSubstr("racks of flavor tas free of gangs, ")) << run.errors;
  const auto json = RunEspalier({"defragment", "--level", "rack", kSmall, "-o", "json"});
  EXPECT_THAT(json.output, HasSubstr("\"freed\""));
  const auto level = RunEspalier({"defragment", "--level", "row", kSmall});
  EXPECT_EQ(level.exit_code, 3);
  EXPECT_THAT(level.errors, HasSubstr("no flavor with a topology has the level row"));
  EXPECT_EQ(RunEspalier({"defragment", kSmall}).exit_code, 2);
}

// Of equal priority, who was admitted last goes first; it says so in a condition.
TEST(VictimsProcess, LaterReservationsGoFirst_R29_2) {
  const std::string equal = "sed 's/priority: 1/priority: 0/";
  const std::string ask = "' " + kSmall + " | $E victims big - | grep -A1 VICTIM";
  EXPECT_THAT(RunShell(equal + ask).output, HasSubstr("team/new "));
  const std::string earlier =
      "; s/lastTransitionTime: \"2026-01-02/lastTransitionTime: \"2025-01-02/";
  EXPECT_THAT(RunShell(equal + earlier + ask).output, HasSubstr("team/old "));
}

TEST(ExplainProcess, SaysWhatBindsAndWhatWouldFit) {
  const auto run = RunEspalier({"explain", "big", kSmall});
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("rack b2/r1: 1 of 2 pods fit; room for one on 1 of 1 node"),
                    HasSubstr("cpu: enough for 1 of 2 pods, 4 short"),
                    HasSubstr("with 1 pod in place of 2"),
                    HasSubstr("without one that runs: team/new or team/old"),
                    HasSubstr("yes, once enough of what runs has ended")));
  const auto json = RunEspalier({"explain", "big", kSmall, "-o", "json"});
  EXPECT_THAT(json.output, AllOf(HasSubstr("\"never\": false"), HasSubstr("\"missing\": \"4\"")));
}

TEST(CapacityProcess, CountsGangsByLevelAndByDomain) {
  const auto levels = RunEspalier({"capacity", kSmall, "--shape", "1x{cpu=2}"});
  EXPECT_EQ(levels.exit_code, 0) << levels.errors;
  EXPECT_THAT(levels.output, AllOf(HasSubstr("1x{cpu=2}  tas     flavor      2      2 pods"),
                                   HasSubstr("rack        2      1 of 3 racks")));
  const auto racks = RunEspalier({"capacity", kSmall, "--shape", "2x{cpu=2}", "--level", "rack"});
  EXPECT_THAT(racks.output, HasSubstr("b2/r1   1      2 pods"));
  const auto drained = RunEspalier({"capacity", kSmall, "--shape", "{cpu=2}", "--drain", "node-c"});
  EXPECT_EQ(drained.exit_code, 1);
  const auto pending = RunEspalier({"capacity", kSmall, "-o", "yaml"});
  EXPECT_EQ(pending.exit_code, 1);  // `big` waits
  EXPECT_THAT(pending.output, HasSubstr("gang: \"2x{cpu=4}\""));
}

TEST(CapacityProcess, WrongShapesAreNamed) {
  for (const auto& [shape, error] : std::vector<std::pair<std::string, std::string>>{
           {"8", "it has no {...}"},
           {"x{cpu=1}", "\"x\" is no number of pods"},
           {"0x{cpu=1}", "\"0x\" is no number of pods"},
           {"2x{}", "it requests nothing"},
           {"2x{cpu}", "\"cpu\" is no RESOURCE=QUANTITY"},
           {"2x{cpu=-1}", "cpu is negative"},
           {"2x{cpu=1,cpu=2}", "cpu is there twice"}}) {
    const auto run = RunEspalier({"capacity", kSmall, "--shape", shape});
    EXPECT_EQ(run.exit_code, 2) << shape;
    EXPECT_THAT(run.errors, HasSubstr(error)) << shape;
  }
  const auto level = RunEspalier({"capacity", kSmall, "--shape", "1x{cpu=1}", "--level", "zone"});
  EXPECT_EQ(level.exit_code, 3);
  EXPECT_THAT(level.errors, HasSubstr("has no level zone; there are block, rack, host"));
}

TEST(DrainProcess, SaysWhereGangsWouldGo) {
  const auto run = RunEspalier({"drain", "node-a", kSmall});
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_THAT(run.output, AllOf(HasSubstr("team/old  1         2 of 4"), HasSubstr("does not fit"),
                                HasSubstr("1 node drained; 1 admitted workload hit, 1 without a "
                                          "place\n")));
  const auto nobody = RunEspalier({"drain", "node-c", kSmall, "--output", "json"});
  EXPECT_THAT(nobody.output, HasSubstr("\"workload\": \"team/new\""));
}

TEST(ValidateProcess, FindsWhatIsWrongWithAssignments) {
  const auto good = RunEspalier({"validate", kSmall});
  EXPECT_EQ(good.exit_code, 0) << good.output;
  EXPECT_EQ(good.output, "2 workloads checked, 0 problems found\n");
  const auto bad = RunShell("sed 's/\\[a, b\\]/[a, c]/' " + kSmall + " | $E validate -");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.output, AllOf(HasSubstr("it must share one block, and is in 2: b1, b2"),
                                HasSubstr("there is not so much room at c: 12 of cpu are in use"),
                                HasSubstr("2 workloads checked, 3 problems found\n")));
}

// What Kueue itself decided on a real cluster keeps what was asked for.
TEST(ValidateProcess, FindsNothingInTheRealCluster) {
  const auto run = RunEspalier({"validate", kAfter, kExtra});
  EXPECT_EQ(run.exit_code, 0) << run.output;
}

// What Kueue did on the real cluster is what would have been done here.
TEST(AuditProcess, FindsKueuesDecisionsAsHere) {
  const std::string before = ESPALIER_SOURCE_DIR "/tests/data/dumps/before.json.gz";
  const auto run = RunEspalier({"audit", before, kAfter, kExtra});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("47 workloads decided: 47 as here, 0 otherwise; 0 not sound"));
}

TEST(AuditProcess, ShowsWhatDiffersAndWhatIsNotSound) {
  const auto run = RunShell(
      "T=$(mktemp -d); awk '/status:$/{skip=1} /- apiVersion: kueue/{skip=0} !skip' " + kSmall +
      " > $T/before.yaml; sed 's/\\[a, b\\]/[b, c]/' " + kSmall +
      " > $T/after.yaml; $E audit $T/before.yaml $T/after.yaml; rc=$?; rm -r $T; exit $rc");
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("team/old  not sound  it must share one block"),
                    HasSubstr("team/old  here       b1/"), HasSubstr("2 workloads decided: ")));
}

TEST(Questions, AnswerAlikeOnAnyBackEnd) {
  for (const std::vector<std::string>& question : std::vector<std::vector<std::string>>{
           {"what-if", "job-eval-04-fb0a4", kAfter, kExtra, "--drain", "block=use1a-b04"},
           {"victims", "job-long-04-8b1f0", kAfter, kExtra, "--policy", "Any"},
           {"explain", "job-long-04-8b1f0", kAfter, kExtra},
           {"drain", "rack=use1b-b03/r01", kAfter, kExtra}}) {
    const auto on = [&](const std::string& backend) {
      std::vector<std::string> arguments = question;
      arguments.insert(arguments.end(), {"--backend", backend, "-o", "json"});
      return RunEspalier(arguments);
    };
    const auto cpu = on("cpu");
    EXPECT_LE(cpu.exit_code, 1) << cpu.errors;
    EXPECT_EQ(on("emulated").output, cpu.output) << question.front();
  }
}

TEST(QuestionsOfAServer, AreAnsweredAsOfFiles) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  const auto loaded = RunEspalier({"place", kSmall, "--connect", address, "--load"});
  ASSERT_THAT(loaded.errors, HasSubstr("replaced the state of"));
  const std::vector<std::vector<std::string>> questions = {
      {"explain", "big"},
      {"explain", "big", "-o", "json"},
      {"victims", "big"},
      {"victims", "big", "--policy", "Any", "-o", "yaml"},
      {"victims", "big", "--policy", "Any", "--cheapest"},
      {"victims", "big", "--policy", "Any", "--cheapest", "-o", "json"},
      {"victims", "big", "--policy", "Never", "--cheapest"},
      {"victims", "--all"},
      {"victims", "--all", "-o", "json"},
      {"what-if", "big", "--without", "new,old"},
      {"what-if", "big", "--without", "old", "--drain", "block=b1"},
      {"what-if", "big", "--drain", "node-c", "-o", "json"},
      {"capacity"},
      {"capacity", "--shape", "1x{cpu=2}", "--drain", "node-c"},
      {"capacity", "--shape", "2x{cpu=3}", "--shape", "1x{cpu=99}", "--level", "rack"},
      {"capacity", "--shape", "2x{cpu=3}", "--level", "rack", "-o", "json"},
      {"drain", "node-a"},
      {"drain", "node-c", "-o", "json"},
      {"drain", "block=b1"},
      {"drain", "block=b2", "-o", "yaml"},
      {"defragment", "--level", "rack"},
      {"defragment", "--level", "host", "-o", "json"},
      {"validate"},
      {"validate", "--workload", "new", "-o", "json"},
  };
  for (std::vector<std::string> question : questions) {
    question.push_back(kSmall);
    const auto here = RunEspalier(question);
    question.insert(question.end(), {"--connect", address});
    const auto there = RunEspalier(question);
    EXPECT_EQ(there.exit_code, here.exit_code) << question[0] << ": " << there.errors;
    EXPECT_EQ(there.output, here.output) << question[0] << ": " << there.errors;
    EXPECT_FALSE(here.output.empty()) << here.errors;
  }

  // Files without nodes: those of the server.
  const auto shapes = RunEspalier(
      {"capacity", "--shape", "2x{cpu=3}", "--level", "rack", "-", "--connect", address},
      R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})");
  EXPECT_EQ(shapes.output,
            RunEspalier({"capacity", "--shape", "2x{cpu=3}", "--level", "rack", kSmall}).output)
      << shapes.errors;

  const auto unknown =
      RunEspalier({"drain", "node-c", "-", "--connect", address},
                  R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-c",
        "labels": {"block": "b2", "rack": "r1", "kubernetes.io/hostname": "c"}}})");
  EXPECT_EQ(unknown.exit_code, 1) << unknown.errors;
  EXPECT_THAT(unknown.output, HasSubstr("the files do not say what it asks for"));

  const auto ghost = RunEspalier({"drain", "node-c", kSmall, "-", "--connect", address}, R"(
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
 "metadata": {"namespace": "team", "name": "ghost", "uid": "u9"},
 "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 1, "template": {"spec":
   {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}]},
 "status": {"conditions": [{"type": "QuotaReserved", "status": "True"}],
   "admission": {"clusterQueue": "queue", "podSetAssignments": [{"name": "main", "count": 1,
     "flavors": {"cpu": "tas"}, "topologyAssignment": {"levels": ["kubernetes.io/hostname"],
       "slices": [{"domainCount": 1, "valuesPerLevel": [{"universal": "c"}],
                   "podCounts": {"universal": 1}}]}}]}}})");
  EXPECT_EQ(ghost.exit_code, 1) << ghost.errors;
  EXPECT_THAT(ghost.output, AllOf(HasSubstr("team/new"), HasSubstr("team/ghost"),
                                  HasSubstr("the state does not know it by its name")));

  const std::string more = R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n",
        "labels": {"block": "b3", "rack": "r1", "kubernetes.io/hostname": "n"}},
        "status": {"allocatable": {"cpu": "8", "pods": "9"},
                   "conditions": [{"type": "Ready", "status": "True"}]}})";
  const auto added =
      RunEspalier({"what-if", "big", kSmall, "--add", "-", "--connect", address}, more);
  EXPECT_EQ(added.exit_code, 0) << added.errors;
  EXPECT_THAT(added.output, HasSubstr("then  b3/r1/n: 1 host x 2"));
  const std::string with_pod = R"({"apiVersion": "v1", "kind": "List", "items": [)" + more + R"(,
      {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "other", "name": "p"},
       "spec": {"nodeName": "n", "containers": [{"name": "c", "resources":
         {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Running"}}]})";
  const auto pods =
      RunEspalier({"what-if", "big", kSmall, "--add", "-", "--connect", address}, with_pod);
  const auto of_files = RunEspalier({"what-if", "big", kSmall, "--add", "-"}, with_pod);
  EXPECT_EQ(pods.exit_code, of_files.exit_code) << pods.errors;
  EXPECT_EQ(pods.output, of_files.output) << "a pod takes what the new node would have given";
  EXPECT_NE(pods.output, added.output);
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_EQ(RunEspalier({"explain", "big", kSmall, "--connect", address}).exit_code, 4);
  EXPECT_EQ(RunEspalier({"explain", "big", kSmall, "--state", "blue"}).exit_code, 2);
}

// The text of questions.yaml.
std::string SmallText() {
  std::ifstream small(kSmall);
  return {std::istreambuf_iterator<char>(small), {}};
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Leaves out the nodes, which have two lines each.
std::string WithoutNodes(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("kind: Node,") != line.npos) {
      std::getline(lines, line);
    } else {
      rest += line + "\n";
    }
  }
  return rest;
}

// Each question of which nodes are drained, of the block b1.
std::vector<std::vector<std::string>> DrainsOfABlock() {
  return {{"drain", "block=b1", "-"},
          {"what-if", "big", "--drain", "block=b1", "-"},
          {"capacity", "--drain", "block=b1", "-"}};
}

// Files without nodes: a host of two flavors is one node.
TEST(QuestionsOfAServer, ADrainWithoutFilesOfNodesNamesEachOnce) {
  const std::string text =
      Replaced(SmallText(), "node-", "") +
      "  - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: other},\n"
      "     spec: {topologyName: default, nodeLabels: {}}}\n";
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  ASSERT_THAT(RunEspalier({"place", "-", "--connect", address, "--load"}, text).errors,
              HasSubstr("replaced the state of"));
  for (std::vector<std::string> question : DrainsOfABlock()) {
    const auto here = RunEspalier(question, text);
    question.insert(question.end(), {"--connect", address});
    const auto there = RunEspalier(question, WithoutNodes(text));
    EXPECT_EQ(there.exit_code, here.exit_code) << there.errors;
    EXPECT_EQ(there.output, here.output) << there.errors;
    EXPECT_FALSE(here.output.empty()) << here.errors;
  }
}

TEST(QuestionsOfAServer, NodesThatAStateDoesNotNameAreAskedFor) {
  const std::string text = Replaced(SmallText(), ", {nodeLabel: kubernetes.io/hostname}]", "]");
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  ASSERT_THAT(RunEspalier({"place", "-", "--connect", address, "--load"}, text).errors,
              HasSubstr("replaced the state of"));
  for (std::vector<std::string> question : DrainsOfABlock()) {
    question.insert(question.end(), {"--connect", address});
    const auto run = RunEspalier(question, WithoutNodes(text));
    EXPECT_EQ(run.exit_code, 3) << run.output;
    EXPECT_THAT(run.errors, HasSubstr("does not tell which ones flavor tas has, as its lowest "
                                      "level is rack; want the nodes among the files"));
    EXPECT_NE(RunEspalier(question, text).exit_code, 3);
  }
}

// As after `kubectl cordon`, which comes before a drain.
TEST(QuestionsOfAServer, ADrainOfACordonedNodeIsAsOfItsFiles) {
  const std::string name = "metadata: {name: node-a,";
  const std::string text = Replaced(SmallText(), name, "spec: {unschedulable: true}, " + name);
  ASSERT_NE(text, SmallText());
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  const auto loaded = RunEspalier({"place", "-", "--connect", address, "--load"}, text);
  ASSERT_THAT(loaded.errors, HasSubstr("replaced the state of"));
  const auto here = RunEspalier({"drain", "node-a", "-"}, text);
  const auto there = RunEspalier({"drain", "node-a", "-", "--connect", address}, text);
  EXPECT_EQ(there.exit_code, here.exit_code) << there.errors;
  EXPECT_EQ(there.output, here.output) << there.errors;
  EXPECT_THAT(here.output, HasSubstr("team/old")) << here.errors;
}

TEST(QuestionsOfAServer, ADrainOfARealClusterIsAsOfItsFiles) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  const auto loaded = RunEspalier({"place", kAfter, kExtra, "--connect", address, "--load"});
  ASSERT_THAT(loaded.errors, HasSubstr("replaced the state of"));
  const std::vector<std::string> targets = {"rack=use1b-b03/r01", "block=use1a-b04"};
  for (const std::string& target : targets) {
    const auto here = RunEspalier({"drain", target, kAfter, kExtra});
    const auto there = RunEspalier({"drain", target, kAfter, kExtra, "--connect", address});
    EXPECT_EQ(there.exit_code, here.exit_code) << there.errors;
    EXPECT_EQ(there.output, here.output) << there.errors;
    EXPECT_THAT(here.output, HasSubstr("admitted workloads hit")) << here.errors;
  }
  for (std::vector<std::string> question : std::vector<std::vector<std::string>>{
           {"defragment", "--level", "host", "--most-moves", "2"}, {"validate"}}) {
    question.insert(question.end(), {kAfter, kExtra});
    const auto here = RunEspalier(question);
    question.insert(question.end(), {"--connect", address});
    const auto there = RunEspalier(question);
    EXPECT_EQ(there.exit_code, here.exit_code) << there.errors;
    EXPECT_EQ(there.output, here.output) << there.errors;
    EXPECT_FALSE(here.output.empty()) << here.errors;
  }
  EXPECT_EQ(server.Stop(), 0);
}

// The server may hold either moment: what is decided is taken off first.
TEST(QuestionsOfAServer, AnAuditIsAsOfItsFiles) {
  const auto here = RunEspalier({"audit", kBefore, kAfter, kExtra});
  for (const std::string& moment : {kBefore, kAfter}) {
    const std::string address = SocketAddress();
    BackgroundEspalier server({"serve", "--listen", address});
    ASSERT_THAT(server.ReadLine(), HasSubstr(address));
    const auto loaded = RunEspalier({"place", moment, kExtra, "--connect", address, "--load"});
    ASSERT_THAT(loaded.errors, HasSubstr("replaced the state of"));
    const auto there = RunEspalier({"audit", kBefore, kAfter, kExtra, "--connect", address});
    EXPECT_EQ(there.exit_code, here.exit_code) << there.errors;
    EXPECT_EQ(there.output, here.output) << there.errors;
    EXPECT_THAT(there.output, HasSubstr("workloads decided")) << there.errors;
    EXPECT_EQ(server.Stop(), 0);
  }
}

}  // namespace
}  // namespace espalier
