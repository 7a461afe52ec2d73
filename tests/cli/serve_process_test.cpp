// `espalier serve` as a real process: the same files sent through it give the same bytes.
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/data_folders.hpp"
#include "tests/cli/process.hpp"

namespace espalier::serve_process_test {
namespace {

TEST(ServeProcess, AnswersWithTheSameBytesAsALocalRun) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--output", "table"},
                                                {"--output", "json"},
                                                {"--picture"},
                                                {"--mode", "nominate"},
                                                {"--simulate-empty"}}) {
    std::vector<std::string> arguments = {"place", kDumps + "before.json.gz",
                                          kDumps + "extra.json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProcessResult local = RunEspalier(arguments);
    arguments.insert(arguments.end(), {"--connect", address, "--load"});
    const ProcessResult remote = RunEspalier(arguments);
    EXPECT_EQ(remote.output, local.output) << flags.front();
    EXPECT_EQ(remote.exit_code, local.exit_code) << remote.errors;
  }
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ServeProcess, NamesTheLineOfAWrongShape) {
  const std::string path = fmt::format("/tmp/espalier-shapes-{}.txt", getpid());
  const auto serve = [&](const std::string& shapes) {
    std::ofstream(path) << shapes;
    return RunEspalier({"serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
                        "--capacity-shapes", path});
  };
  const ProcessResult wrong = serve("# gangs\n\n8x{cpu=1}\n8\n");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, testing::HasSubstr(path + ", line 4: "));
  EXPECT_THAT(serve("8x{cpu=1}\n8x{cpu=1} # again\n").errors,
              testing::HasSubstr("line 2: 8x{cpu=1} is there twice"));
  EXPECT_THAT(RunEspalier({"serve", "--listen", "127.0.0.1:0", "--capacity-shapes", path}).errors,
              testing::HasSubstr("needs --metrics"));
  std::remove(path.c_str());
}

// Another who asks does not replace what a controller has loaded.
TEST(ServeProcess, AskingChangesNothing) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  const std::string fits = ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml";
  const std::vector<std::string> ask = {"place", fits, "--connect", address};
  const ProcessResult empty = RunEspalier(ask);
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_THAT(empty.errors, testing::HasSubstr("holds no state to ask about; --load makes that of "
                                               "the files its state"));

  const ProcessResult loaded = RunEspalier({"place", fits, "--connect", address, "--load"});
  EXPECT_EQ(loaded.exit_code, 0) << loaded.errors;
  EXPECT_THAT(loaded.errors, testing::HasSubstr("replaced the state of " + address +
                                                " (generation 0, 0 nodes) by that of the files (1 "
                                                "node)"));

  const ProcessResult asked = RunEspalier(ask);
  EXPECT_EQ(asked.exit_code, 0) << asked.errors;
  EXPECT_THAT(asked.output, testing::HasSubstr("host-1: 1 host x 2\n"));
  EXPECT_THAT(asked.output, testing::HasSubstr("\nthe state of " + address +
                                               ", generation 1, has 1 node: 1 of flavor any\n"));
  EXPECT_THAT(asked.errors,
              testing::HasSubstr("their pods are not looked at: the files have 1 node, the state"));
  EXPECT_EQ(RunEspalier(ask).output, asked.output) << "still generation 1";

  // Files that bring a workload alone.
  const std::string workload = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: alone}
spec:
  podSets:
    - count: 4
      topologyRequest: {required: kubernetes.io/hostname}
      template: {spec: {containers: [{name: main, resources: {requests: {cpu: "2"}}}]}}
)";
  const ProcessResult alone =
      RunEspalier({"place", "-", "--connect", address, "--guess-flavor"}, workload);
  EXPECT_EQ(alone.exit_code, 0) << alone.errors;
  EXPECT_THAT(alone.output, testing::HasSubstr("host-1: 1 host x 4 (flavor any is a guess)\n"));
  EXPECT_THAT(alone.errors, testing::HasSubstr("the files have no ResourceFlavor"));

  const ProcessResult other = RunShell("sed 's/levels: .*/levels: [{nodeLabel: rack}]}/' " + fits +
                                       " | $E place - --connect " + address);
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.errors,
              testing::HasSubstr("ResourceFlavor any: its Topology default has the levels rack in "
                                 "the files and kubernetes.io/hostname in the state of"));
  EXPECT_EQ(server.Stop(), 0);
}

// A state does not tell why it places on some of its nodes only; files with the nodes do.
TEST(ServeProcess, HoldsStatesByName) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address, "--max-states", "1"});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  const std::string fits = ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml";
  std::vector<std::string> ask = {"place", fits, "--connect", address, "--state", "east"};
  ProcessResult result = RunEspalier(ask);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, testing::HasSubstr("no state \"east\" is loaded"));
  ask.push_back("--load");
  EXPECT_EQ(RunEspalier(ask).exit_code, 0);
  ask.pop_back();
  EXPECT_EQ(RunEspalier(ask).exit_code, 0);
  result = RunEspalier({"place", fits, "--connect", address});
  EXPECT_THAT(result.errors, testing::HasSubstr("holds no state to ask about"));
  result = RunEspalier({"place", fits, "--connect", address, "--state", "west", "--load"});
  EXPECT_THAT(result.errors, testing::HasSubstr("one named state too many"));
  EXPECT_EQ(RunEspalier({"place", fits, "--state", "east"}).exit_code, 2);
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ServeProcess, AsksSeveralStatesWhichCanHoldAWorkload_W6_6) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  const std::string fits = ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml";
  ASSERT_EQ(
      RunEspalier({"place", fits, "--connect", address, "--state", "east", "--load"}).exit_code, 0);
  const auto ask = [&](const std::string& states, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"place", fits, "--connect", address, "--state", states};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunEspalier(arguments);
  };
  const ProcessResult result = ask("west,east");
  const ProcessResult files =
      RunEspalier({"place", fits, "--cluster", "west=", "--cluster", "east=" + fits});
  EXPECT_EQ(result.output, files.output);
  EXPECT_THAT(result.output, testing::ContainsRegex("east +fits"));
  EXPECT_THAT(result.output, testing::ContainsRegex("west +unknown"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(ask("west,north").exit_code, 1);
  // The files alone decide about a workload without a queue.
  const std::string unqueued = R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
      "metadata": {"namespace": "team", "name": "unqueued"}, "spec": {"podSets": [{"name": "main",
      "count": 1, "template": {"spec": {"containers": [{"name": "c"}]}}}]}})";
  const ProcessResult in_order =
      RunEspalier({"place", "-", "--connect", address, "--state", "west,east"}, unqueued);
  EXPECT_EQ(
      in_order.output,
      RunEspalier({"place", "-", "--connect", address, "--state", "east,west"}, unqueued).output);
  EXPECT_LT(in_order.output.find("east "), in_order.output.find("west ")) << in_order.errors;
  EXPECT_EQ(ask("east,east").exit_code, 3);
  for (const char* empty : {",east", "east,", "east,,west", ","}) {
    EXPECT_EQ(ask(empty).exit_code, 3) << empty;
    EXPECT_THAT(ask(empty).errors, testing::HasSubstr("has a name without letters")) << empty;
  }
  EXPECT_EQ(ask("east,west", {"--load"}).exit_code, 2);
  EXPECT_EQ(ask("east,west", {"--mode", "nominate"}).exit_code, 2);
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"--profile", "espalier"}, {"--report", "r.html"}}) {
    const ProcessResult of_states = ask("east,west", other);
    EXPECT_EQ(of_states.exit_code, 2);
    EXPECT_THAT(of_states.errors, testing::HasSubstr("does not go with several states"));
    std::vector<std::string> arguments = {"place", fits, "--cluster", "east=" + fits};
    arguments.insert(arguments.end(), other.begin(), other.end());
    const ProcessResult of_clusters = RunEspalier(arguments);
    EXPECT_EQ(of_clusters.exit_code, 2);
    EXPECT_THAT(of_clusters.errors, testing::HasSubstr("does not go with --cluster"));
  }
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ServeProcess, SaysWhyNodesAreLeftOutWhereTheFilesTell) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  const std::string small = ESPALIER_SOURCE_DIR "/tests/cli/data/small.yaml";
  RunEspalier({"place", small, "--connect", address, "--load"});
  const std::string state =
      "\nthe state of " + address + ", generation 1, has 8 nodes: 7 of flavor gpu\n";
  EXPECT_THAT(RunEspalier({"place", small, "--connect", address}).output,
              testing::HasSubstr(
                  state + "by the files, 7 of 8 nodes take part; left out: 1 not ready\n3 placed"));
  const std::string fewer = " | $E place - --connect " + address;
  EXPECT_THAT(RunShell("sed 's/^kind: Node$/kind: Other/' " + small + fewer).output,
              testing::HasSubstr(
                  state + "which nodes are left out, and why, is not known, as the files have no "
                          "nodes\n"));
  EXPECT_THAT(RunShell("sed 's/^kind: ResourceFlavor$/kind: Other/' " + small + fewer).output,
              testing::HasSubstr(
                  state + "which nodes are left out, and why, is not known, as the files have "
                          "no ResourceFlavors\n"));
  EXPECT_THAT(RunShell("{ cat " + small +
                       R"(; echo ---; echo '{kind: Node, metadata: {name: host-9}}';})" + fewer)
                  .output,
              testing::HasSubstr(state + "by the files, whose nodes are others, 7 of 9 nodes"));
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ServeProcess, AnswersOnTheBackEndItWasGiven) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address, "--backend", "emulated"});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  for (const char* mode : {"nominate", "sequential"}) {
    std::vector<std::string> arguments = {"place", kDumps + "before.json.gz", kDumps + "extra.json",
                                          "--mode", mode};
    const ProcessResult local = RunEspalier(arguments);
    arguments.insert(arguments.end(), {"--connect", address, "--load"});
    EXPECT_EQ(RunEspalier(arguments).output, local.output) << mode;
  }
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ServeProcess, PrintsThePortItWasGiven) {
  BackgroundEspalier server({"serve", "--listen", "127.0.0.1:0"});
  const std::string line = server.ReadLine();
  const std::size_t address = line.find("127.0.0.1:");
  ASSERT_NE(address, std::string::npos) << line;
  const ProcessResult result =
      RunEspalier({"place", ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml", "--connect",
                   line.substr(address), "--load"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(server.Stop(), 0);
}

TEST(ServeProcess, RefusesAnAddressThatIsTaken) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), testing::HasSubstr(address));
  const ProcessResult second = RunEspalier({"serve", "--listen", address});
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_THAT(second.errors, testing::HasSubstr(address.substr(5)));
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace espalier::serve_process_test
