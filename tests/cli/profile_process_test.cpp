// What transcripts/profile-*.txt and running-trees.txt show of files, trees that ask for more than
// Kueue can say (W1.6), is answered alike by a server that holds them.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::profile_process_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Returns the paths of files that transcripts share.
std::vector<std::string> Files(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    paths.push_back(ESPALIER_SOURCE_DIR "/tests/cli/transcripts/shared/" + name + ".yaml");
  }
  return paths;
}

// Asks of the files, and of a server at `address` that has been loaded with them.
void ExpectTheSame(std::vector<std::string> question, const std::vector<std::string>& files,
                   const std::string& address) {
  question.insert(question.end(), files.begin(), files.end());
  const ProcessResult here = RunEspalier(question);
  question.insert(question.end(), {"--connect", address});
  if (question.front() == "place") question.emplace_back("--load");
  const ProcessResult there = RunEspalier(question);
  EXPECT_THAT(here.output, Not(IsEmpty())) << question.front() << here.errors;
  EXPECT_EQ(there.output, here.output) << question.front() << there.errors;
  EXPECT_EQ(there.exit_code, here.exit_code) << question.front();
}

TEST(ProfileEspalier, AServerAnswersTheSame) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  EXPECT_THAT(server.ReadLine(), HasSubstr("listening"));
  for (const std::vector<std::string>& files :
       {Files({"two-blocks", "full-b1r2", "full-b2r2", "two"}),
        Files({"two-blocks", "full-b1r2", "two"})}) {
    for (const std::vector<std::string>& question : std::vector<std::vector<std::string>>{
             {"place", "--profile", "espalier"},
             {"explain", "two", "--profile", "espalier"},
             {"what-if", "two", "--drain", "b1r2h1", "--profile", "espalier"},
             {"victims", "two", "--profile", "espalier"}}) {
      ExpectTheSame(question, files, address);
    }
  }
}

// A server knows running gangs by name once they are loaded.
TEST(ProfileEspalier, AServerMovesRunningGangsTheSame) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  EXPECT_THAT(server.ReadLine(), HasSubstr("listening"));
  for (const char* profile : {"kueue", "espalier"}) {
    for (const std::vector<std::string>& question : std::vector<std::vector<std::string>>{
             {"place", "--profile", profile},
             {"drain", "cloud/rack=b1r1", "--profile", profile},
             {"defragment", "--level", "rack", "--profile", profile}}) {
      ExpectTheSame(question, Files({"two-blocks", "two-running"}), address);
    }
  }
}

}  // namespace
}  // namespace espalier::profile_process_test
