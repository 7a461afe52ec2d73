// `espalier place` as a process, where what it prints depends on machine, build or time.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/data_folders.hpp"
#include "tests/cli/process.hpp"

namespace espalier::place_process_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kRealCluster = {"place", kDumps + "before.json.gz",
                                               kDumps + "extra.json"};

std::string FileContent(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(PlaceOutput, IsTheSameForAnyNumberOfThreads) {
  const ProcessResult one = RunEspalier(With(kRealCluster, {"--threads", "1", "-o", "json"}));
  for (const char* threads : {"2", "3", "8"}) {
    EXPECT_EQ(RunEspalier(With(kRealCluster, {"--threads", threads, "-o", "json"})).output,
              one.output);
  }
}

TEST(PlaceOutput, IsTheSameOnAnyBackEnd) {
  for (const char* mode : {"nominate", "sequential"}) {
    const std::vector<std::string> arguments = With(kRealCluster, {"--mode", mode, "-o", "json"});
    const ProcessResult cpu = RunEspalier(With(arguments, {"--backend", "cpu"}));
    for (const char* name : {"auto", "emulated"}) {
      const ProcessResult other = RunEspalier(With(arguments, {"--backend", name, "--verbose"}));
      EXPECT_EQ(other.output, cpu.output) << name;
      EXPECT_EQ(other.exit_code, cpu.exit_code) << other.errors;
      if (name == std::string("auto")) continue;
      EXPECT_THAT(other.errors, HasSubstr("espalier: decided on emulated\n"));
    }
  }
}

// On a machine without a GPU, or in a build without CUDA.
TEST(PlaceErrors, NoGpuToDecideOn) {
  const ProcessResult result = RunEspalier(With(kRealCluster, {"--backend", "cuda"}));
  if (result.exit_code <= 1) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_THAT(result.errors, HasSubstr("espalier: back end cuda: "));
}

// Texts that the library of the command line writes, in other words from version to version.
TEST(PlaceExitCode, IsTwoForAWrongCommandLine) {
  for (const auto& [arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"place", "x", "--threads", "-1"}, "--threads"},
           {{}, "Usage: espalier"},
       }) {
    const ProcessResult result = RunEspalier(arguments);
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.output, IsEmpty());
  }
}

TEST(PlaceInput, OnRequestEveryWarningIsShown) {
  const ProcessResult result = RunEspalier(
      {"place", ESPALIER_SOURCE_DIR "/tests/cli/transcripts/place-warnings/two-flavors.yaml",
       "--verbose"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("ResourceFlavor f: spec.topologyName: "));
  EXPECT_THAT(result.errors, HasSubstr("ResourceFlavor g: spec.topologyName: "));
}

TEST(PlaceExitCode, IsFourWithoutAServer) {
  const ProcessResult result = RunEspalier(
      {"place", kData + "fits.yaml", "--connect", "unix:/tmp/espalier-test-no-such-socket"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.errors, HasSubstr("espalier-test-no-such-socket"));
}

TEST(PlaceInput, OnRequestTellsSizesAndTimesOnStandardError) {
  const ProcessResult result = RunEspalier({"place", kData + "small.yaml", "--verbose"});
  EXPECT_THAT(result.errors, HasSubstr("17 objects"));
  EXPECT_THAT(result.errors, HasSubstr("answered 4 workloads"));
  EXPECT_EQ(result.output, FileContent(kData + "small.table"));
}

TEST(Help, ExplainsEveryFlagWithExamples) {
  const ProcessResult help = RunEspalier({"place", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text :
       {"FILES", "--mode", "--profile", "--feature-gates", "--threads", "--output", "--workload",
        "--simulate-empty", "--color", "--strict", "--connect", "--picture", "--verbose",
        "Examples:", "espalier place cluster.json", "Exit codes:"}) {
    EXPECT_THAT(help.output, HasSubstr(text));
  }
  EXPECT_THAT(RunEspalier({"--help"}).output, HasSubstr("place"));
}

TEST(Version, TellsHowItWasBuilt) {
  const ProcessResult version = RunEspalier({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, StartsWith("espalier 0."));
  EXPECT_THAT(version.output, HasSubstr("back ends: cpu"));
}

TEST(PlaceErrors, WordsOfTheCommandLineAreEscapedToo) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"\x1b[2J"}, {"place", "file", "--x\x1b[2J"}}) {
    const ProcessResult result = RunEspalier(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr("\\x1b[2J"));
    EXPECT_THAT(result.errors, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace espalier::place_process_test
