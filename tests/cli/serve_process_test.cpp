// `espalier serve` as a real process: the same files sent through it give the same bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/process.hpp"

namespace espalier {
namespace {

const std::string kDumps = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

std::string SocketAddress() { return fmt::format("unix:/tmp/espalier-test-{}.sock", getpid()); }

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
              testing::HasSubstr(
                  "nodes and pods of the files are not looked at: they have 1 node, the state"));
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
}  // namespace espalier
