// `espalier status` as a real process.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::status_process_test {
namespace {

using testing::HasSubstr;

class StatusProcess : public testing::Test {
 protected:
  StatusProcess() { EXPECT_THAT(server_.ReadLine(), HasSubstr(address_)); }

  ProcessResult Status(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"status", "--connect", address_});
    return RunEspalier(flags);
  }
  void Load(const std::string& state = "") {
    RunEspalier({"place", ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml", "--connect", address_,
                 "--load", "--state", state});
  }

  const std::string address_ = SocketAddress();
  BackgroundEspalier server_{std::vector<std::string>{"serve", "--listen", address_}};
};

TEST_F(StatusProcess, ExitCodeIsThatOfAProbe) {
  const ProcessResult empty = Status();
  EXPECT_EQ(empty.exit_code, 1) << empty.errors;
  EXPECT_THAT(empty.output, HasSubstr("not serving: no state is loaded\n"));
  EXPECT_EQ(Status({"--alive"}).exit_code, 0);

  Load();
  const ProcessResult loaded = Status();
  EXPECT_EQ(loaded.exit_code, 0) << loaded.errors;
  EXPECT_THAT(loaded.output, testing::EndsWith("\nserving\n"));
  EXPECT_EQ(Status({"--max-age", "2h"}).exit_code, 0);
  const ProcessResult old = Status({"--max-age", "0s"});
  EXPECT_EQ(old.exit_code, 1);
  EXPECT_THAT(old.output, HasSubstr("not serving: the state changed "));
  EXPECT_EQ(Status({"--max-age", "0s", "--alive"}).exit_code, 0);

  const ProcessResult other = Status({"--state", "west"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.output, HasSubstr("not serving: no state west is loaded"));
  Load("west");
  EXPECT_EQ(Status({"--state", "west"}).exit_code, 0);

  EXPECT_EQ(Status({"--max-age", "soon"}).exit_code, 2);
  EXPECT_EQ(Status({"--max-age", "-1s"}).exit_code, 2);
  EXPECT_EQ(RunEspalier({"status"}).exit_code, 2);
  server_.Kill();
  const ProcessResult gone = Status({"--alive"});
  EXPECT_EQ(gone.exit_code, 4);
  EXPECT_THAT(gone.errors, HasSubstr("no server answers at " + address_));
  EXPECT_EQ(gone.output, "");
}

TEST_F(StatusProcess, TableAndJsonTellTheSame) {
  Load();
  Load("west");
  const std::string table = Status().output;
  for (const char* part : {"server ", "CHECKSUM", "HOLDS", "WARM SHAPES", "\nwest ",
                           "MOST FREE IN ONE", "kubernetes.io/hostname"}) {
    EXPECT_THAT(table, HasSubstr(part));
  }
  EXPECT_EQ(RunEspalier({"explain", "a", ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml",
                         "--connect", address_, "--state", "gone"})
                .exit_code,
            3);
  EXPECT_THAT(Status().output, HasSubstr("REFUSED"));
  const std::string json = Status({"-o", "json"}).output;
  for (const char* part :
       {"\"serving\": true", "\"name\": \"west\"", "\"generation\": 1", "\"mostFree\": {",
        "\"callMemoryBytes\": ", "\"cause\": \"not_found\"", "\"ageMilliseconds\": "}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST_F(StatusProcess, WatchesUntilItIsStopped) {
  BackgroundEspalier watch({"status", "--connect", address_, "--watch=0.01", "-o", "json"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(watch.ReadLine(), HasSubstr("\"serving\": false"));
    EXPECT_EQ(watch.ReadLine(), "");
  }
  EXPECT_TRUE(watch.Running());
}

}  // namespace
}  // namespace espalier::status_process_test
