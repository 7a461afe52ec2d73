// Whether it fits, on which flavor, whether ever and at whose cost: what the commands say of small
// clusters, of files and of a server that holds them.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string File(const std::string& name) {
  return ESPALIER_SOURCE_DIR "/tests/cli/data/verdicts/" + name + ".yaml";
}

// Runs questions about a cluster, of its file or of a server that was loaded with it.
class VerdictsProcess : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    const auto name = fmt::format("verdicts-{}.sock", getpid());
    address_ = "unix:" + (std::filesystem::temp_directory_path() / name).string();
    server_.emplace(std::vector<std::string>{"serve", "--listen", address_});
    ASSERT_THAT(server_->ReadLine(), HasSubstr(address_));
  }

  ProcessResult Ask(const std::string& command, const std::string& file,
                    std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), command);
    arguments.push_back(File(file));
    if (server_) {
      if (loaded_ != file) {
        RunEspalier({"place", File(file), "--connect", address_, "--load"});
        loaded_ = file;
      }
      arguments.insert(arguments.end(), {"--connect", address_});
    }
    return RunEspalier(arguments);
  }

 private:
  std::string address_;
  std::optional<BackgroundEspalier> server_;
  std::string loaded_;
};

TEST_P(VerdictsProcess, PodsThatNoTopologyAwareWorkloadOwnsMayEnd) {
  EXPECT_THAT(Ask("place", "other-pods").output,
              AllOf(HasSubstr("not now: the nodes could hold it, were they empty"),
                    Not(HasSubstr("never"))));
  EXPECT_THAT(Ask("explain", "other-pods", {"train"}).output,
              HasSubstr("EVER       yes, once enough of what runs has ended"));
}

TEST_P(VerdictsProcess, TwoPodsDoNotShareOneSlot) {
  EXPECT_THAT(Ask("place", "slots").output, HasSubstr("never: the nodes could not hold it"));
  EXPECT_THAT(Ask("explain", "slots", {"two-sets"}).output, HasSubstr("EVER       never"));
}

TEST_P(VerdictsProcess, OneFlavorWaitsAndTheOtherLacksItsNode) {
  EXPECT_THAT(Ask("place", "flavors").output,
              AllOf(HasSubstr("that is on flavor-a"), HasSubstr("on flavor-b: no topology domains"),
                    HasSubstr("not now: the nodes of flavor-a could hold it")));
  EXPECT_THAT(Ask("explain", "flavors", {"high"}).output,
              AllOf(HasSubstr("on flavor-b: does not fit"),
                    HasSubstr("on flavor-a: without one that runs: default/low"),
                    HasSubstr("on flavor-b: with a node back that is cordoned or not ready: b1"),
                    HasSubstr("EVER       on flavor-a: yes")));
  EXPECT_THAT(Ask("victims", "flavors", {"high"}).output,
              HasSubstr("1 victim of 1 candidate in ClusterQueue cq by policy LowerPriority on "
                        "flavor-a"));
}

TEST_P(VerdictsProcess, ALabelIsMissing) {
  EXPECT_THAT(Ask("explain", "label", {"pref"}).output,
              AllOf(HasSubstr("2 nodes without the label example.com/block: m2, m3"),
                    HasSubstr("with the label example.com/block=b1 on m2, m3")));
}

TEST_P(VerdictsProcess, ASelectorNamesANodeThatIsGone) {
  EXPECT_THAT(Ask("explain", "selector", {"evicted-group"}).output,
              AllOf(HasSubstr("2 nodes by nodeSelector kubernetes.io/hostname=gone: the nodes have "
                              "k1, k2"),
                    HasSubstr("without the nodeSelector kubernetes.io/hostname=gone")));
}

TEST_P(VerdictsProcess, RoomInACliqueWhoeverHoldsIt) {
  const ProcessResult result = Ask("victims", "cohort", {"train", "--any-queue"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("3f1e7a10-aaaa-bbbb-cccc-0123456789ab.0  0         2"),
                    HasSubstr("3f1e7a10-aaaa-bbbb-cccc-0123456789ab.1  0         3"),
                    HasSubstr("reclaimWithinCohort Any"), HasSubstr("default/borrow-0 of unified"),
                    HasSubstr("2 sets of 5 candidates")));
}

TEST_P(VerdictsProcess, APodThatNoNodeOfItsRackHolds) {
  const ProcessResult result = Ask("explain", "rack", {"eight"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("b1/r1"), HasSubstr("0 of the 1 pod in b1/r1 fit on one of its 2 "
                                                  "nodes by itself")));
  EXPECT_THAT(Ask("place", "rack").output, HasSubstr("not as asked: pod set main"));
}

TEST_P(VerdictsProcess, ARequestOfNothingThatTheQueueDoesNotCover) {
  EXPECT_EQ(Ask("place", "zero").exit_code, 0);
}

TEST_P(VerdictsProcess, OtherPodsOfALowerPriorityMayGo) {
  const ProcessResult result = Ask("victims", "other-pods", {"train", "--any-queue"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("pod batch/bg-k1"), HasSubstr("pod batch/bg-k2"),
                                   HasSubstr("no: a pod outside of Kueue")));
  const ProcessResult higher =
      Ask("victims", "other-pods", {"train", "--any-queue", "--pods-below", "-100"});
  EXPECT_EQ(higher.exit_code, 1);
}

INSTANTIATE_TEST_SUITE_P(FilesAndServer, VerdictsProcess, testing::Bool(),
                         [](const auto& source) { return source.param ? "Server" : "Files"; });

TEST(Verdicts, ACycleKeepsAPodOnItsFailedNode) {
  EXPECT_THAT(RunEspalier({"cycle", File("pod-owned")}).output,
              AllOf(HasSubstr("default/pod-serve-abc  kept"),
                    HasSubstr("default/job-train      replaced"), HasSubstr("1 kept")));
}

TEST(Verdicts, AClusterHoldsItOnAnyFlavor) {
  const std::string cluster = "c=" + File("flavors");
  EXPECT_THAT(RunEspalier({"place", File("flavors"), "--cluster", cluster}).output,
              HasSubstr("; on flavor-b: pod set main: no topology domains"));
}

TEST(Verdicts, CapacityCountsEveryFlavorOfWhatWaits) {
  EXPECT_THAT(RunEspalier({"capacity", File("flavors")}).output,
              AllOf(HasSubstr("flavor-a"), HasSubstr("flavor-b")));
}

}  // namespace
}  // namespace espalier
