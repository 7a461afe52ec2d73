// BlockTeam and WarpTeam keep the Team contract: their collectives answer what one lane answers.
#include "tests/cuda/collectives.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/team/serial_team.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/scores.hpp"

namespace espalier::collectives_test {
namespace {

// None, one, around a warp, around the block widths, several tiles.
constexpr std::int32_t kSizes[] = {0,   1,   2,   31,  32,  33,   127, 128,
                                   129, 255, 256, 257, 500, 1024, 5000};

struct Collected {
  explicit Collected(const std::vector<std::int64_t>& values)
      : kept(values.size() + 1),
        sorted(values.size() + 1),
        front(values.size() + 1),
        narrow(values.size() + 1),
        ties(values.size() + 1) {
    args = {static_cast<std::int32_t>(values.size()),
            values.data(),
            kept.data(),
            sorted.data(),
            front.data(),
            narrow.data(),
            ties.data(),
            &result};
  }
  Collected(const Collected&) = delete;

  std::vector<std::int64_t> kept;
  std::vector<Candidate> sorted;
  std::vector<Candidate> front;
  std::vector<std::int32_t> narrow;
  std::vector<std::int32_t> ties;
  CollectivesResult result;
  CollectivesArgs args;
};

using BlockTeamTest = DeviceTest;

TEST_F(BlockTeamTest, CollectivesAnswerAsOnOneLane) {
  for (const std::int32_t size : kSizes) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < size; ++i) values.push_back(i * 7919 % 1009 - (i == 400 ? 1 : 0));
    Collected right(values);
    SerialTeam one_lane;
    RunCollectives(one_lane, right.args);
    for (const int threads : {kOneWarp, 32, 128, 256}) {
      Collected device(values);
      const char* fault = RunCollectivesOnDevice(threads, device.args);
      ASSERT_EQ(fault, nullptr) << fault;
      SCOPED_TRACE(testing::Message() << size << " values, " << threads << " threads");
      EXPECT_EQ(device.result.sum, right.result.sum);
      EXPECT_EQ(device.result.least.domain, right.result.least.domain);
      EXPECT_EQ(device.result.last, right.result.last);
      EXPECT_EQ(device.result.any_negative, right.result.any_negative);
      EXPECT_EQ(device.result.kept, right.result.kept);
      EXPECT_EQ(device.kept, right.kept);
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(device.sorted[i].domain, right.sorted[i].domain);
      }
      EXPECT_EQ(device.result.front.size, right.result.front.size);
      EXPECT_EQ(device.result.front.weight, right.result.front.weight);
      for (std::int32_t i = 0; i < right.result.front.size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(device.front[at].domain, right.front[at].domain);
      }
      EXPECT_EQ(device.result.tightest, right.result.tightest);
      EXPECT_EQ(device.result.tightest_with_ties, right.result.tightest_with_ties);
    }
  }
}

using ScoresOnDeviceTest = DeviceTest;

TEST_F(ScoresOnDeviceTest, HaveTheBitsOfTheHost) {
  std::vector<double> host(10000);
  std::vector<double> device(host.size());
  ScoresOnHost({static_cast<std::int32_t>(host.size()), host.data()});
  const char* fault = ScoresOnDevice({static_cast<std::int32_t>(device.size()), device.data()});
  ASSERT_EQ(fault, nullptr) << fault;
  EXPECT_EQ(std::memcmp(host.data(), device.data(), host.size() * sizeof(double)), 0);
}

}  // namespace
}  // namespace espalier::collectives_test
