// What transcripts/verdicts.txt shows of files is answered alike by a server that holds them.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::verdicts_process_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Verdicts, OfAServerAreThoseOfFiles) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  const std::vector<std::pair<std::string, std::vector<std::vector<std::string>>>> questions = {
      {"other-pods",
       {{"place", "-o", "json"},
        {"explain", "train"},
        {"victims", "train", "--any-queue"},
        {"victims", "train", "--any-queue", "--pods-below", "-100"}}},
      {"slots", {{"place", "-o", "json"}, {"explain", "two-sets"}}},
      {"flavors", {{"place", "-o", "json"}, {"explain", "high"}, {"victims", "high"}}},
      {"label", {{"explain", "pref"}}},
      {"selector", {{"explain", "evicted-group"}}},
      {"cohort", {{"victims", "train", "--any-queue"}}},
      {"rack", {{"place", "-o", "json"}, {"explain", "eight"}}},
      {"zero", {{"place", "-o", "json"}}}};
  for (const auto& [name, of_file] : questions) {
    const std::string file = ESPALIER_SOURCE_DIR "/tests/cli/data/verdicts/" + name + ".yaml";
    const auto loaded = RunEspalier({"place", file, "--connect", address, "--load"});
    ASSERT_LE(loaded.exit_code, 1) << loaded.errors;
    for (std::vector<std::string> question : of_file) {
      question.push_back(file);
      const auto here = RunEspalier(question);
      question.insert(question.end(), {"--connect", address});
      const auto there = RunEspalier(question);
      EXPECT_EQ(there.exit_code, here.exit_code) << question[0] << ": " << there.errors;
      EXPECT_EQ(there.output, here.output) << question[0] << ": " << there.errors;
      EXPECT_THAT(here.output, Not(IsEmpty())) << here.errors;
    }
  }
  EXPECT_EQ(server.Stop(), 0);
}

// What place says of never and not now, which is in its table alone.
TEST(Verdicts, OfAServerTellNeverFromNotNow) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  for (const auto& [name, verdict] : std::vector<std::pair<std::string, std::string>>{
           {"other-pods", "not now: the nodes could hold it, were they empty"},
           {"slots", "never: the nodes could not hold it, were they all empty"},
           {"flavors", "not now: the nodes of flavor-a could hold it, were they empty"}}) {
    const std::string file = ESPALIER_SOURCE_DIR "/tests/cli/data/verdicts/" + name + ".yaml";
    RunEspalier({"place", file, "--connect", address, "--load"});
    EXPECT_THAT(RunEspalier({"place", file, "--connect", address}).output, HasSubstr(verdict));
  }
}

}  // namespace
}  // namespace espalier::verdicts_process_test
