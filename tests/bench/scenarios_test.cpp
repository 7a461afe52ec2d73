#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/scenarios/mixes.hpp"
#include "bench/scenarios/peers.hpp"
#include "bench/scenarios/prefill.hpp"
#include "bench/scenarios/replayed_device.hpp"
#include "bench/scenarios/run_scenario.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/cuda/emulated_device.hpp"
#include "tests/bench/small_scenarios.hpp"

namespace espalier::scenarios_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RunOptions Once() {
  RunOptions options;
  options.make_backend = [] { return MakeCpuBackend(2); };
  options.repeat = {.repeats = 1};
  options.cases_folder = ESPALIER_SOURCE_DIR "/tests/data/cases";
  return options;
}

std::vector<std::string> NamesOf(const std::vector<Scenario>& scenarios) {
  std::vector<std::string> names;
  for (const Scenario& scenario : scenarios) names.push_back(scenario.full_name());
  return names;
}

TEST(Scenarios, NamesAreDifferentAndEverythingNamedExists) {
  std::set<std::string> names;
  std::set<std::string> topologies;
  std::set<std::string> mixes;
  for (const TopologyLine& line : TopologyLines()) topologies.emplace(line.name);
  for (const TopologyLine& line : MixLines()) mixes.emplace(line.name);
  const auto tiny = MakeBenchCluster({.name = "T-KAI512"});
  for (const Scenario& scenario : AllScenarios()) {
    EXPECT_TRUE(names.insert(scenario.full_name()).second) << scenario.full_name();
    if (scenario.mode == BenchMode::kRecorded) continue;
    EXPECT_THAT(topologies, Contains(scenario.topology.name)) << scenario.full_name();
    std::string mix = scenario.mix;
    if (mix.ends_with(')')) mix = mix.substr(0, mix.find('(')) + "(S)";
    EXPECT_THAT(mixes, Contains(mix)) << scenario.full_name();
    EXPECT_TRUE(MakePrefill(scenario.prefill, *tiny, 1)) << scenario.full_name();
    EXPECT_GT(scenario.gangs, 0) << scenario.full_name();
    EXPECT_EQ(scenario.queues > 0, scenario.mode == BenchMode::kCycle) << scenario.full_name();
  }
}

TEST(Scenarios, AreFoundByNumberByNameAndByVariant) {
  const auto find = [](const std::string& name) {
    return NamesOf(FindScenarios(std::vector{name}).value());
  };
  EXPECT_THAT(find("B21"), ElementsAre("B21-nominate-131k/R4", "B21-nominate-131k/R8",
                                       "B21-nominate-131k/R30", "B21-nominate-131k/pods"));
  EXPECT_EQ(find("B21-nominate-131k"), find("B21"));
  EXPECT_THAT(find("B21/R8"), ElementsAre("B21-nominate-131k/R8"));
  EXPECT_THAT(find("B12-armada-small"), ElementsAre("B12-armada-small"));
  for (const char* wrong : {"B2", "B21/R9", "B99", "", "/R8"}) {
    const auto found = FindScenarios(std::vector<std::string>{wrong});
    ASSERT_FALSE(found) << wrong;
    EXPECT_THAT(found.error().message, HasSubstr("--list"));
  }
}

TEST(Scenarios, SuitesAreWhatTheySay) {
  const auto smoke = NamesOf(ScenariosOfSuite("smoke"));
  EXPECT_THAT(smoke, Contains("B01-kueue-ci"));
  EXPECT_THAT(smoke, Contains("B06-k8s-tas/750x4"));
  EXPECT_THAT(NamesOf(ScenariosOfSuite("gate")), Not(Contains("B21-nominate-131k/R8")));
  EXPECT_EQ(ScenariosOfSuite("full").size(), AllScenarios().size());
}

TEST(Scenarios, PeersDidTheWorkOfAScenario) {
  ASSERT_FALSE(PeerFigures().empty());
  for (const PeerFigure& figure : PeerFigures()) {
    EXPECT_TRUE(FindScenarios(std::vector{figure.scenario})) << figure.scenario;
    EXPECT_GT(figure.total_seconds, 0) << figure.scenario;
    EXPECT_FALSE(figure.machine.empty());
  }
  EXPECT_EQ(FindPeer("B99"), nullptr);
}

TEST(RunScenario, EveryModeAnswersRightOnSmallClusters) {
  for (const BenchMode mode :
       {BenchMode::kNominate, BenchMode::kNominateWarm, BenchMode::kSequential, BenchMode::kChurn,
        BenchMode::kLoad, BenchMode::kCycle}) {
    for (const char* mix : {"X-ACME", "X-LEADER", "X-ADV", "X-SHAPES(16)"}) {
      // A cycle checks a leader's and its workers' room one by one (R21.3).
      if (mode == BenchMode::kCycle && std::string_view(mix) == "X-LEADER") continue;
      Scenario scenario = SmallScenario(mix, 40);
      if (mode == BenchMode::kChurn) scenario.topology.nodes = 1024;
      scenario.mode = mode;
      scenario.queues = 4;
      const auto result = RunScenario(scenario, Once());
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_THAT(result->problems, IsEmpty()) << ToString(mode) << " " << mix;
      EXPECT_THAT(result->checks, Not(IsEmpty()));
      EXPECT_EQ(result->digest.size(), 64U);
      EXPECT_EQ(result->gangs, 40);
      EXPECT_GT(result->peak_memory_bytes, 0);
      ASSERT_FALSE(result->stages.empty());
      const std::string floor_stage = result->floor_stage;
      EXPECT_NE(result->Find(floor_stage), nullptr) << ToString(mode);
    }
  }
}

TEST(RunScenario, NestedGangsAnswerRightOnASmallCluster) {
  Scenario scenario = SmallScenario("X-REPLICAS-16", 44);
  scenario.prefill = "P0";
  scenario.mode = BenchMode::kNested;
  RunOptions options = Once();
  options.make_nested_runner = MakeNestedCpuRunner;
  std::int64_t asked = 0;
  std::string digest;
  options.plain_digest = [&](const Scenario&, std::int64_t gangs) -> Result<std::string> {
    asked = gangs;
    return digest;
  };
  digest = RunScenario(scenario, options)->digest;
  const auto result = RunScenario(scenario, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->problems, IsEmpty());
  EXPECT_EQ(asked, 44);
  EXPECT_EQ(result->quality.front().name, "placed");
  EXPECT_GT(result->quality.front().value, 0);
  EXPECT_LE(result->quality.front().value, 5) << "the last four replicas are no workload";
}

TEST(RunScenario, DigestsDoNotDependOnThreads) {
  Scenario scenario = SmallScenario("X-SHAPES(16)", 200);
  scenario.mode = BenchMode::kSequential;
  RunOptions one = Once();
  one.make_backend = [] { return MakeCpuBackend(1); };
  EXPECT_EQ(RunScenario(scenario, Once())->digest, RunScenario(scenario, one)->digest);
}

TEST(RunScenario, ThePlainFormIsAskedForAsManyGangsAndBelieved) {
  Scenario scenario = SmallScenario("X-ACME", 30);
  scenario.mode = BenchMode::kSequential;
  const std::string right = RunScenario(scenario, Once())->digest;
  RunOptions options = Once();
  std::string answer = right;
  std::int64_t asked = 0;
  options.plain_digest = [&](const Scenario&, std::int64_t gangs) -> Result<std::string> {
    asked = gangs;
    return answer;
  };
  EXPECT_THAT(RunScenario(scenario, options)->problems, IsEmpty());
  EXPECT_EQ(asked, 30);
  answer = std::string(64, '0');
  EXPECT_THAT(RunScenario(scenario, options)->problems, ElementsAre(HasSubstr("plain form")));
  options.check = false;
  EXPECT_THAT(RunScenario(scenario, options)->problems, IsEmpty());
}

TEST(RunScenario, RecordedSequencesAreHeldAgainstTheirAnswers) {
  const auto scenarios = FindScenarios(std::vector<std::string>{"recorded-k8s-5000-gangs-of-1000"});
  ASSERT_TRUE(scenarios);
  const auto result = RunScenario(scenarios->front(), Once());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->problems, IsEmpty());
  EXPECT_THAT(result->checks, Contains(HasSubstr("those Kueue gave")));

  RunOptions elsewhere = Once();
  elsewhere.cases_folder = "/nonexistent";
  const auto missing = RunScenario(scenarios->front(), elsewhere);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_class, ErrorClass::kNotFound);
}

TEST(RunScenario, VictimsAreHeldAgainstPlacingAnew) {
  for (const auto& [prefill, mix] : std::vector<std::pair<std::string, std::string>>{
           {"PFULL1", "X-ROW32"}, {"PFULL8", "X-500"}, {"PONES", "X-UNSAT"}, {"P90", "X-LEADER"}}) {
    Scenario scenario = SmallScenario(mix, 1, prefill);
    scenario.mode = BenchMode::kWhatIf;
    const auto result = RunScenario(scenario, Once());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->problems, IsEmpty()) << prefill;
    EXPECT_THAT(result->checks, ElementsAre("placing anew for every victim finds the same"));
  }
}

TEST(RunScenario, ChangedStatesAreHeldAgainstPlacingOnThem) {
  Scenario scenario = SmallScenario("X-ROW32", 1, "P97");
  scenario.mode = BenchMode::kWhatIfBatch;
  const auto result = RunScenario(scenario, Once());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->problems, IsEmpty());
  EXPECT_THAT(result->checks, ElementsAre(HasSubstr("the first 100 changed states")));
}

TEST(RunScenario, AtlasesAreHeldAgainstCountingAndPlacing) {
  for (const char* mix : {"X-SHAPES(16)", "X-ACME"}) {
    Scenario scenario = SmallScenario(mix, 40, "P97");
    scenario.mode = BenchMode::kAtlas;
    const auto result = RunScenario(scenario, Once());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->problems, IsEmpty()) << mix;
    EXPECT_THAT(result->checks, ElementsAre(HasSubstr("at every step")));
  }
}

TEST(RunScenario, TheHostAroundADeviceIsMeasuredWithItsAnswers) {
  for (const char* mix : {"X-SHAPES(16)", "X-ACME"}) {
    Scenario scenario = SmallScenario(mix, 40, "P90");
    scenario.mode = BenchMode::kDeviceHost;
    const auto result = RunScenario(scenario, Once());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->problems, IsEmpty()) << mix;
    EXPECT_THAT(result->checks, ElementsAre("answers equal those of cpu"));
    EXPECT_NE(result->Find("host"), nullptr);
    EXPECT_GT(result->quality.front().value, 0);  // launches
  }
}

TEST(ReplayedDevice, BringsBackWhatWasRecordedAndNothingElse) {
  ReplayedWork work;
  const auto device = MakeReplayedDevice(MakeEmulatedDevice(), work);
  void* const there = *device->Allocate(4);
  const auto copy_back = [&](int& value, std::size_t bytes) {
    EXPECT_TRUE(device->CopyToHost(&value, there, bytes));
    return device->Synchronize();
  };
  int sent = 7;
  int read = 0;
  work.Begin(ReplayedWork::Mode::kRecord);
  ASSERT_TRUE(device->CopyToDevice(there, &sent, sizeof sent));
  ASSERT_TRUE(copy_back(read, sizeof read));
  EXPECT_EQ(read, 7);

  work.Begin(ReplayedWork::Mode::kReplay);
  sent = 8;  // goes nowhere
  ASSERT_TRUE(device->CopyToDevice(there, &sent, sizeof sent));
  int elsewhere = 0;
  ASSERT_TRUE(copy_back(elsewhere, sizeof elsewhere));
  EXPECT_EQ(elsewhere, 7);
  EXPECT_EQ(work.copies, 2);
  EXPECT_FALSE(copy_back(read, sizeof read));  // more than was recorded
  work.Begin(ReplayedWork::Mode::kReplay);
  EXPECT_FALSE(copy_back(read, 2));

  // What is there already is not written again, unless something else came there in between.
  work.Begin(ReplayedWork::Mode::kReplay);
  read = 9;
  ASSERT_TRUE(copy_back(read, sizeof read));
  EXPECT_EQ(read, 9);
  work.Begin(ReplayedWork::Mode::kRecord);
  ASSERT_TRUE(copy_back(read, sizeof read));
  ASSERT_TRUE(copy_back(read, sizeof read));
  work.Begin(ReplayedWork::Mode::kReplay);
  read = 9;
  ASSERT_TRUE(copy_back(read, sizeof read));
  EXPECT_EQ(read, 7);
  device->Free(there);
}

}  // namespace
}  // namespace espalier::scenarios_test
