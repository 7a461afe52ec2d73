// The commands that ask about one saved cluster: a server answers as files do, any back end alike.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::questions_process_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kSmall = ESPALIER_SOURCE_DIR "/tests/cli/data/questions.yaml";
const std::string kBefore = ESPALIER_SOURCE_DIR "/tests/data/dumps/before.json.gz";
const std::string kAfter = ESPALIER_SOURCE_DIR "/tests/data/dumps/after.json.gz";
const std::string kExtra = ESPALIER_SOURCE_DIR "/tests/data/dumps/extra.json";

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

// The node is as after `kubectl cordon`, which comes before a drain.
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
}  // namespace espalier::questions_process_test
