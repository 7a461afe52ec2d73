// Tests who has to go for each of many requests against a search that removes and puts back one
// victim after the other and places the request anew each time.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/what_if/prefix_batch.hpp"
#include "tests/differential/victims.hpp"

namespace espalier::differential::victim_batch_test {
namespace {

constexpr std::uint64_t kSeedsPerTest = 250;
constexpr std::uint64_t kTests = 8;

PrefixAnswer SearchPlainly(const Engine& engine, const ClusterState& before,
                           const WorkloadRequest& request, const std::vector<Victim>& victims,
                           const std::vector<std::uint32_t>& list) {
  ClusterState state = before.Clone();
  PrefixAnswer found;
  const auto fits = [&] {
    found.answer = engine.NominateOne(state, request);
    return Fits(found.answer);
  };
  std::vector<std::size_t>& targets = found.targets;
  while (!(found.fits = fits()) && targets.size() < list.size()) {
    targets.push_back(list[targets.size()]);
    state.RemoveUsage(victims[targets.back()].usage);
  }
  if (!found.fits) {
    targets.clear();
    return found;
  }
  found.prefix = targets.size();
  for (std::size_t i = targets.size(); i-- > 1;) {
    const Victim& victim = victims[targets[i - 1]];
    state.AddUsage(victim.usage);
    if (fits()) {
      targets[i - 1] = targets.back();
      targets.pop_back();
    } else {
      state.RemoveUsage(victim.usage);
    }
  }
  fits();
  return found;
}

std::vector<PrefixAnswer> AllOf(PrefixBatch batch) {
  std::vector<PrefixAnswer> answers;
  while (true) {
    auto some = batch.Next();
    if (!some) ADD_FAILURE() << some.error().message;
    if (!some || some->empty()) return answers;
    std::ranges::move(*some, std::back_inserter(answers));
  }
}

std::string Text(const PrefixAnswer& answer) {
  std::string text = fmt::format("fits {}, prefix {}, targets", answer.fits, answer.prefix);
  for (const std::size_t target : answer.targets) text += fmt::format(" {}", target);
  const PodSetAnswer* failed = answer.answer.FirstFailure();
  return failed == nullptr ? text : text + ": " + failed->failure->reason;
}

class VictimBatchSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(VictimBatchSeeds, AnswersAsOneVictimAfterTheOther_R29_3) {
  int at_once = 0;
  int later = 0;
  int never = 0;
  const std::uint64_t first = GetParam() * kSeedsPerTest;
  for (std::uint64_t seed = first; seed < first + kSeedsPerTest; ++seed) {
    const VictimBatch batch = GenerateVictimBatch(seed);
    const auto state = ClusterState::Build(batch.made.instance.cluster);
    ASSERT_TRUE(state) << state.error().message;
    const Engine engine(MakeCpuBackend(2), batch.made.instance.gates);
    auto opened =
        PrefixBatch::Open(engine, *state, batch.requests, batch.made.victims, batch.lists);
    ASSERT_TRUE(opened) << "seed " << seed << ": " << opened.error().message;
    const std::vector<PrefixAnswer> answers = AllOf(*std::move(opened));
    ASSERT_EQ(answers.size(), batch.requests.size());
    for (std::size_t w = 0; w < answers.size(); ++w) {
      const auto& list = batch.lists.size() == 1 ? batch.lists[0] : batch.lists[w];
      const PrefixAnswer want =
          SearchPlainly(engine, *state, batch.requests[w], batch.made.victims, list);
      ASSERT_EQ(answers[w], want) << "seed " << seed << ", request " << w << " of "
                                  << answers.size() << "\nwant " << Text(want) << "\n got "
                                  << Text(answers[w]);
      never += static_cast<int>(!want.fits);
      at_once += static_cast<int>(want.fits && want.prefix == 0);
      later += static_cast<int>(want.prefix > 0);
    }
  }
  EXPECT_GT(at_once, 100);
  EXPECT_GT(later, 100);
  EXPECT_GT(never, 100);
}

INSTANTIATE_TEST_SUITE_P(Hundreds, VictimBatchSeeds, testing::Range(std::uint64_t{0}, kTests));

}  // namespace
}  // namespace espalier::differential::victim_batch_test
