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
    arguments.insert(arguments.end(), {"--connect", address});
    const ProcessResult remote = RunEspalier(arguments);
    EXPECT_EQ(remote.output, local.output) << flags.front();
    EXPECT_EQ(remote.exit_code, local.exit_code) << remote.errors;
  }
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
    arguments.insert(arguments.end(), {"--connect", address});
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
                   line.substr(address)});
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
