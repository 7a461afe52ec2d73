// Every kind that describes a gang, through `espalier place`: the model and the table.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/gang_files.hpp"
#include "tests/cli/process.hpp"

namespace espalier::gang_process_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kData + folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Golden files beside the inputs are written by hand-checking the output for them.
class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ModelAndPlacement) {
  for (const std::string& file : Files(GetParam())) {
    const std::string base = file.substr(0, file.size() - 5);
    const ProcessResult model = RunEspalier({"place", file, "--show-model", "-o", "json"});
    EXPECT_EQ(model.exit_code, 0) << model.errors;
    EXPECT_EQ(model.output, FileContent(base + ".model.json")) << file;
    const ProcessResult placed = RunEspalier({"place", kCluster, file, "--guess-flavor"});
    EXPECT_EQ(placed.output, FileContent(base + ".table")) << file << placed.errors;
  }
}

class GoldenTrees : public testing::TestWithParam<std::string> {};

// The same files, placed as the trees that they are; those of which Kueue can say all are placed as
// before.
TEST_P(GoldenTrees, ArePlaced) {
  for (const std::string& file : Files(GetParam())) {
    const std::string base = file.substr(0, file.size() - 5);
    const ProcessResult placed =
        RunEspalier({"place", kCluster, file, "--guess-flavor", "--profile", "espalier"});
    const std::string tree = base + ".espalier.table";
    const std::string golden = std::filesystem::exists(tree) ? tree : base + ".table";
    EXPECT_EQ(placed.output, FileContent(golden)) << file << placed.errors;
    EXPECT_THAT(placed.errors, Not(HasSubstr("one after the other, each on its own"))) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, Golden,
                         testing::Values("gang-api", "kinds", "manifests", "segments"));
INSTANTIATE_TEST_SUITE_P(Workloads, GoldenTrees, testing::Values("gang-api", "segments"));

TEST(Profiles, AServerAnswersTheSame) {
  const std::string place = "\"$E\" place " + kCluster + " " + kData +
                            "gang-api/6-trainjob-mpi.yaml " + kData +
                            "kinds --guess-flavor --profile espalier -o json";
  const ProcessResult here = RunShell(place);
  const ProcessResult there = RunShell(
      "d=$(mktemp -d); \"$E\" serve --listen unix:$d/s > /dev/null 2>&1 & p=$!; "
      "while [ ! -S $d/s ]; do sleep 0.01; done; " +
      place + " --connect unix:$d/s --load; kill $p; wait $p; rm -r $d");
  EXPECT_THAT(here.output, HasSubstr("nestedPlacement"));
  EXPECT_EQ(there.output, here.output) << there.errors;
}

}  // namespace
}  // namespace espalier::gang_process_test
