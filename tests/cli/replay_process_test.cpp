// `espalier serve --log-requests` and `espalier replay` as real processes.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/process.hpp"

namespace espalier::replay_process_test {
namespace {

using testing::HasSubstr;

class ReplayProcess : public testing::Test {
 protected:
  ReplayProcess() { std::filesystem::remove_all(folder_); }
  ~ReplayProcess() override { std::filesystem::remove_all(folder_); }

  // A server that is loaded and asked, and ends.
  void Serve() {
    const std::string address = SocketAddress();
    BackgroundEspalier server({"serve", "--listen", address, "--log-requests", folder_});
    ASSERT_THAT(server.ReadLine(), HasSubstr(address));
    const std::string small = ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml";
    RunEspalier({"place", small, "--connect", address, "--load"});
    RunEspalier({"place", small, "--connect", address});
    RunEspalier({"capacity", small, "--connect", address, "--shape", "1x{cpu=1}"});
    const ProcessResult other =
        RunEspalier({"serve", "--listen", address + "2", "--log-requests", folder_});
    EXPECT_EQ(other.exit_code, 4);
    EXPECT_THAT(other.errors, HasSubstr("another server does"));
    EXPECT_EQ(server.Stop(), 0);
  }

  const std::string folder_ = testing::TempDir() + "espalier-replay-" + std::to_string(getpid());
};

TEST_F(ReplayProcess, GivesTheSameAnswers) {
  Serve();
  const ProcessResult once = RunEspalier({"replay", folder_});
  EXPECT_EQ(once.exit_code, 0) << once.output << once.errors;
  EXPECT_THAT(once.output,
              testing::ContainsRegex("^[0-9TZ]+-[0-9]+: [0-9]+ calls with the same answer\n$"));
  Serve();
  const ProcessResult twice = RunEspalier({"replay", folder_, "--speed", "1000"});
  EXPECT_EQ(twice.exit_code, 0);
  EXPECT_EQ(std::ranges::count(twice.output, '\n'), 2);
}

TEST_F(ReplayProcess, CutsALogToACall) {
  Serve();
  const std::string file = folder_ + "/one.cut";
  const ProcessResult cut = RunEspalier({"replay", folder_, "--cut-to", "5", "-o", file});
  EXPECT_EQ(cut.exit_code, 0) << cut.errors;
  EXPECT_THAT(cut.output, HasSubstr("call 5 espalier.v1."));
  EXPECT_THAT(cut.output, HasSubstr(": the same answer\n"));
  const ProcessResult again = RunEspalier({"replay", file});
  EXPECT_EQ(again.exit_code, 0) << again.output << again.errors;
  EXPECT_THAT(again.output, HasSubstr(": 1 call with the same answer\n"));
  EXPECT_EQ(RunEspalier({"replay", folder_, "--cut-to", "5", "-o", file}).exit_code, 4);
  const ProcessResult none =
      RunEspalier({"replay", folder_, "--cut-to", "5000", "-o", folder_ + "/none"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.errors, HasSubstr("there is no call 5000 in the log"));
  EXPECT_EQ(RunEspalier({"replay", folder_, "--cut-to", "5"}).exit_code, 2);
}

TEST_F(ReplayProcess, RefusesWhatIsNoLog) {
  EXPECT_EQ(RunEspalier({"replay", folder_}).exit_code, 3);
  std::filesystem::create_directory(folder_);
  const ProcessResult empty = RunEspalier({"replay", folder_});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_THAT(empty.errors, HasSubstr("has no file of a request log"));
  EXPECT_EQ(RunEspalier({"replay", ESPALIER_SOURCE_DIR "/README.md"}).exit_code, 3);
  EXPECT_EQ(RunEspalier({"replay"}).exit_code, 2);
}

}  // namespace
}  // namespace espalier::replay_process_test
