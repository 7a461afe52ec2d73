#include "host/kueue/multikueue/multikueue_flow.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/elastic/folded_slices.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::multikueue_flow_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A RayJob of one head and one worker that MultiKueue sent to the worker cluster `w1`.
class MultiKueueFlowTest : public ::testing::Test {
 protected:
  MultiKueueFlowTest() {
    state_.manager = MakeCluster();
    ClusterQueue queue = MakeQueue("cpu-queue", {"cpu"}, 8000, 0);
    queue.admission_checks = {"multikueue"};
    state_.manager.cluster_queues = {queue};
    state_.manager.admission_checks = {{"multikueue", std::string("kueue.x-k8s.io/multikueue")}};
    Workload workload = MakeWorkload(
        "rayjob-w", "cpu",
        {MakePodSet("head", 1, {{"cpu", 1000}}), MakePodSet("small-group", 1, {{"cpu", 1000}})});
    workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
    Reserve(workload);
    state_.manager.workloads = {workload};
    state_.worker.name = "w1";
    state_.worker.workloads = {workload};
    ScaledJob& job = state_.worker.job;
    job.kind = "RayJob";
    job.key = {"team", "ray"};
    job.elastic = true;
    job.prebuilt_workload = "rayjob-w";
    job.counts = {{"head", 1}, {"small-group", 1}};
    job.runs = job.counts;
  }

  static void Reserve(Workload& workload) {
    workload.admission.emplace();
    workload.admission->cluster_queue = "cpu-queue";
    for (const PodSet& pod_set : workload.pod_sets) {
      PodSetAssignment& assignment = workload.admission->pod_set_assignments.emplace_back();
      assignment.name = pod_set.name;
      assignment.flavors = {{"cpu", "cpu"}};
      assignment.resource_usage = Times(pod_set.pod_template.requests, pod_set.count);
      assignment.count = pod_set.count;
    }
    SetCondition(workload, {std::string(kQuotaReserved), "True", "QuotaReserved", ""});
  }

  std::optional<FlowStep> Next(MultiKueueState state) const {
    auto step = NextFlowStep(state, engine_);
    EXPECT_TRUE(step) << step.error().message;
    return step ? *step : std::nullopt;
  }

  // Goes on until nothing is left to write; "at: decision" for each step.
  std::vector<std::string> Run(MultiKueueState& state) const {
    std::vector<std::string> lines;
    while (const auto step = Next(state)) {
      lines.push_back(step->at + ": " + step->decision);
      EXPECT_TRUE(step->in_sync);
      EXPECT_FALSE(step->suspended);
      if (step->writes.empty()) break;
      if (lines.size() > 20) {
        ADD_FAILURE() << "does not end: " << lines.back();
        break;
      }
      CarryOut(*step, step->writes.size(), state);
    }
    return lines;
  }

  const Workload& Manager(const std::string& name) const {
    return *std::ranges::find(state_.manager.workloads, ObjectKey{"team", name}, &Workload::key);
  }

  MultiKueueState state_;
  Engine engine_{MakeCpuBackend(1), ResizeGates({})};
};

TEST_F(MultiKueueFlowTest, NothingToDo) { EXPECT_FALSE(Next(state_)); }

TEST_F(MultiKueueFlowTest, OneToFiveToThree) {  // W6.1 to W6.5
  state_.worker.job.counts["small-group"] = 5;
  EXPECT_THAT(Run(state_),
              ElementsAre("worker: scale-up: reported", "multikueue: moved to the manager",
                          "manager: new-slice", "manager: admitted", "multikueue: synced",
                          "worker: pods: 4 of small-group start"));
  EXPECT_EQ(state_.worker.job.runs, (CountsByPodSet{{"head", 1}, {"small-group", 5}}));
  EXPECT_EQ(state_.worker.job.prebuilt_workload, "rayjob-w-slice-2");
  EXPECT_TRUE(HasCondition(Manager("rayjob-w"), kFinished));
  EXPECT_EQ(Manager("rayjob-w-slice-2").pod_sets[1].count, 5);
  EXPECT_THAT(state_.manager_requests, IsEmpty());
  EXPECT_THAT(state_.worker.requests, IsEmpty());

  state_.worker.job.counts["small-group"] = 3;
  EXPECT_THAT(Run(state_), ElementsAre("worker: scale-down: reported",
                                       "multikueue: moved to the manager", "manager: in-place",
                                       "multikueue: synced", "worker: pods: 2 of small-group end"));
  EXPECT_EQ(state_.worker.job.runs, (CountsByPodSet{{"head", 1}, {"small-group", 3}}));
  EXPECT_EQ(state_.worker.job.prebuilt_workload, "rayjob-w-slice-2");
  EXPECT_EQ(Manager("rayjob-w-slice-2").admission->pod_set_assignments[1].count, 3);
}

std::string Text(const FlowStep& step) {
  std::string text = fmt::format("{}: {}\n  -> {}\n", step.at, step.event, step.decision);
  for (const FlowWrite& write : step.writes) {
    text += fmt::format("     {} {} {}: {} = {}\n", write.cluster, write.kind,
                        write.object.ToString(), write.field, write.value);
  }
  text += fmt::format("     job: {}, {},", step.in_sync ? "in sync" : "out of sync",
                      step.suspended ? "suspended" : "runs");
  for (const auto& [name, count] : step.runs) text += fmt::format(" {}={}", name, count);
  return text + "\n";
}

TEST_F(MultiKueueFlowTest, EachStepOfOneToFiveToThree) {  // W6.5
  std::string story;
  for (const std::int64_t wanted : {5, 3}) {
    story += fmt::format("the job wants {}\n", wanted);
    state_.worker.job.counts["small-group"] = wanted;
    auto steps = PlanFlow(state_, engine_);
    ASSERT_TRUE(steps) << steps.error().message;
    for (const FlowStep& step : *steps) {
      story += Text(step);
      CarryOut(step, step.writes.size(), state_);
    }
  }
  std::ifstream golden(ESPALIER_SOURCE_DIR "/tests/kueue/data/flow_1_5_3.txt");
  EXPECT_EQ(story, std::string(std::istreambuf_iterator<char>(golden), {}));
}

// KEP-77: a slice for every new replica, in both clusters.
class SlicesPerReplicaTest : public MultiKueueFlowTest {
 protected:
  SlicesPerReplicaTest() { state_.slices = SliceMode::kPerReplica; }

  static const Workload& In(const std::vector<Workload>& workloads, const std::string& name) {
    return *std::ranges::find(workloads, ObjectKey{"team", name}, &Workload::key);
  }

  // Names of those in the manager that have not finished.
  std::vector<std::string> Unfinished() const {
    std::vector<std::string> names;
    for (const Workload& workload : state_.manager.workloads) {
      if (!HasCondition(workload, kFinished)) names.push_back(workload.key.name);
    }
    return names;
  }
};

TEST_F(SlicesPerReplicaTest, GoIntoBothClustersAndAreFoldedThere) {
  state_.worker.job.counts["small-group"] = 4;
  EXPECT_THAT(Run(state_),
              ElementsAre("worker: scale-up: reported", "multikueue: moved to the manager",
                          "manager: slices-per-replica", "manager: 3 of 3 admitted",
                          "multikueue: synced", "manager: folded into team/rayjob-w",
                          "multikueue: synced", "worker: pods: 3 of small-group start"));
  EXPECT_EQ(state_.worker.job.runs, (CountsByPodSet{{"head", 1}, {"small-group", 4}}));
  EXPECT_EQ(state_.worker.job.prebuilt_workload, "rayjob-w") << "the workload stays";
  EXPECT_THAT(Unfinished(), ElementsAre("rayjob-w"));
  for (const std::vector<Workload>* workloads :
       {&state_.manager.workloads, &state_.worker.workloads}) {
    const Workload& parent = In(*workloads, "rayjob-w");
    EXPECT_EQ(parent.pod_sets[1].count, 4);
    EXPECT_EQ(parent.admission->pod_set_assignments[1].count, 4);
    EXPECT_EQ(*parent.annotations.Find(kFoldedSlicesAnnotation),
              "rayjob-w-replica-1,rayjob-w-replica-2,rayjob-w-replica-3");
    for (const char* name : {"rayjob-w-replica-1", "rayjob-w-replica-3"}) {
      const Workload& replica = In(*workloads, name);
      EXPECT_EQ(replica.pod_sets.size(), 1U);
      EXPECT_EQ(replica.pod_sets[0].count, 1);
      EXPECT_EQ(FindCondition(replica, kFinished)->reason, "Folded");
    }
  }
  EXPECT_FALSE(HasCondition(Manager("rayjob-w"), kResizeRequested));

  state_.worker.job.counts["small-group"] = 2;  // no slices
  EXPECT_THAT(Run(state_), ElementsAre("worker: scale-down: reported",
                                       "multikueue: moved to the manager", "manager: in-place",
                                       "multikueue: synced", "worker: pods: 2 of small-group end"));
}

TEST_F(SlicesPerReplicaTest, APartStartsWhileTheOthersWait) {
  state_.worker.job.counts["small-group"] = 9;  // of eight with the head
  std::vector<std::string> lines = Run(state_);
  EXPECT_THAT(lines, Contains("manager: 6 of 8 admitted"));
  EXPECT_THAT(lines, Contains("worker: pods: 6 of small-group start"));
  EXPECT_THAT(lines.back(), HasSubstr("manager: waits: couldn't assign flavors to pod set "
                                      "small-group: insufficient unused quota for cpu"));
  EXPECT_EQ(state_.worker.job.runs, (CountsByPodSet{{"head", 1}, {"small-group", 7}}));
  EXPECT_THAT(Unfinished(), ElementsAre("rayjob-w", "rayjob-w-replica-7", "rayjob-w-replica-8"));
  EXPECT_TRUE(HasCondition(Manager("rayjob-w"), kResizeRequested));
  EXPECT_THAT(Run(state_), SizeIs(1)) << "nothing is asked twice";

  // Nobody waits for more than the job wants by then, whether it has as many or not.
  MultiKueueState back = state_;
  back.worker.job.counts["small-group"] = 7;
  EXPECT_THAT(Run(back), ElementsAre("worker: scale-down: reported",
                                     "multikueue: moved to the manager", "manager: none"));
  EXPECT_TRUE(HasCondition(In(back.manager.workloads, "rayjob-w-replica-7"), kFinished));
  state_.worker.job.counts["small-group"] = 8;
  lines = Run(state_);
  EXPECT_EQ(lines[0], "worker: scale-up: reported");
  EXPECT_THAT(Unfinished(), ElementsAre("rayjob-w", "rayjob-w-replica-7"));
  state_.worker.job.counts["small-group"] = 3;
  EXPECT_THAT(Run(state_), Contains("worker: pods: 4 of small-group end"));
  EXPECT_THAT(Unfinished(), ElementsAre("rayjob-w"));
}

TEST_F(SlicesPerReplicaTest, ACrashBetweenTwoWritesIsRecoveredByAskingAgain) {
  for (const std::int64_t count : {4, 9, 2}) {
    state_.worker.job.counts["small-group"] = count;
    MultiKueueState straight = state_;
    Run(straight);
    MultiKueueState state = state_;
    while (const auto step = Next(state)) {
      if (step->writes.empty()) break;
      for (std::size_t writes = 0; writes < step->writes.size(); ++writes) {
        MultiKueueState crashed = state;
        CarryOut(*step, writes, crashed);
        Run(crashed);
        EXPECT_EQ(crashed.worker.job, straight.worker.job) << step->event << " after " << writes;
        EXPECT_EQ(In(crashed.manager.workloads, "rayjob-w").pod_sets,
                  In(straight.manager.workloads, "rayjob-w").pod_sets)
            << step->event << " after " << writes;
        EXPECT_EQ(In(crashed.manager.workloads, "rayjob-w").admission,
                  In(straight.manager.workloads, "rayjob-w").admission)
            << step->event << " after " << writes;
        EXPECT_EQ(HasCondition(In(crashed.manager.workloads, "rayjob-w"), kResizeRequested),
                  HasCondition(In(straight.manager.workloads, "rayjob-w"), kResizeRequested))
            << step->event << " after " << writes;
        EXPECT_THAT(crashed.manager_requests, IsEmpty());
        EXPECT_THAT(crashed.worker.requests, IsEmpty());
      }
      CarryOut(*step, step->writes.size(), state);
    }
    state_ = straight;
  }
}

TEST_F(SlicesPerReplicaTest, LowerCountsTravelWithAScaleUp) {
  state_.worker.job.counts = {{"head", 1}, {"small-group", 4}};
  Run(state_);
  for (std::vector<Workload>* workloads : {&state_.manager.workloads, &state_.worker.workloads}) {
    Workload& parent =
        *std::ranges::find(*workloads, ObjectKey{"team", "rayjob-w"}, &Workload::key);
    parent.pod_sets.push_back(MakePodSet("large-group", 1, {{"cpu", 1000}}));
    Reserve(parent);
  }
  state_.worker.job.counts = {{"head", 1}, {"large-group", 3}, {"small-group", 2}};
  state_.worker.job.runs = {{"head", 1}, {"large-group", 1}, {"small-group", 4}};
  Run(state_);
  EXPECT_EQ(state_.worker.job.runs, state_.worker.job.counts);
}

TEST_F(MultiKueueFlowTest, TheRequestNamesWhatDiffers) {
  state_.worker.job.counts["small-group"] = 5;
  const auto step = Next(state_);
  ASSERT_TRUE(step);
  ASSERT_EQ(step->writes.size(), 1U);
  EXPECT_EQ(step->writes[0].cluster, "w1");
  EXPECT_EQ(step->writes[0].field, "metadata.annotations[kueue.x-k8s.io/scale-request]");
  EXPECT_EQ(step->writes[0].value, "{\"small-group\":5}");
  EXPECT_EQ(step->runs, (CountsByPodSet{{"head", 1}, {"small-group", 1}}));  // it runs on
}

// Somebody stops after any write of any step; whoever comes next knows the objects alone.
TEST_F(MultiKueueFlowTest, ACrashBetweenTwoWritesIsRecoveredByAskingAgain) {
  for (const std::int64_t count : {5, 1}) {
    state_.worker.job.counts["small-group"] = count;
    MultiKueueState straight = state_;
    Run(straight);
    MultiKueueState state = state_;
    while (const auto step = Next(state)) {
      for (std::size_t writes = 0; writes < step->writes.size(); ++writes) {
        MultiKueueState crashed = state;
        CarryOut(*step, writes, crashed);
        Run(crashed);
        EXPECT_EQ(crashed.manager, straight.manager) << step->event << " after " << writes;
        EXPECT_EQ(crashed.worker.workloads, straight.worker.workloads) << step->event;
        EXPECT_EQ(crashed.worker.job, straight.worker.job) << step->event;
        EXPECT_THAT(crashed.manager_requests, IsEmpty());
        EXPECT_THAT(crashed.worker.requests, IsEmpty());
      }
      CarryOut(*step, step->writes.size(), state);
    }
    state_ = straight;
  }
}

TEST_F(MultiKueueFlowTest, ARepeatedStepChangesNothing) {
  state_.worker.job.counts["small-group"] = 5;
  MultiKueueState state = state_;
  std::vector<FlowStep> steps;
  while (const auto step = Next(state)) {
    CarryOut(*step, step->writes.size(), state);
    const MultiKueueState once = state;
    CarryOut(*step, step->writes.size(), state);
    EXPECT_EQ(state.manager, once.manager);
    EXPECT_EQ(state.worker.job, once.worker.job);
    EXPECT_EQ(state.worker.workloads, once.worker.workloads);
    steps.push_back(*step);
  }
  ASSERT_EQ(steps.size(), 6U);

  // The report of the first step arrives again when all is done: an old slice carries it.
  CarryOut(steps[0], 1, state);
  EXPECT_THAT(Run(state), ElementsAre("multikueue: dropped: the slice was replaced"));
  // So does the copy on the manager.
  CarryOut(steps[1], 1, state);
  EXPECT_THAT(Run(state), IsEmpty());
}

TEST_F(MultiKueueFlowTest, ASliceWithoutQuotaWaitsAndTheJobRunsOn) {
  state_.worker.job.counts["small-group"] = 9;  // of eight with the head
  const std::vector<std::string> lines = Run(state_);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[3], HasSubstr("manager: waits: couldn't assign flavors to pod set "
                                  "small-group: insufficient unused quota for cpu"));
  EXPECT_EQ(state_.worker.job.runs, (CountsByPodSet{{"head", 1}, {"small-group", 1}}));
  EXPECT_FALSE(HasCondition(Manager("rayjob-w"), kFinished));

  // It scales back before the slice was admitted: the slice changes in place.
  state_.worker.job.counts["small-group"] = 6;
  EXPECT_THAT(Run(state_),
              ElementsAre("worker: scale-up: reported", "multikueue: moved to the manager",
                          "manager: in-place", "manager: admitted", "multikueue: synced",
                          "worker: pods: 5 of small-group start"));
}

TEST_F(MultiKueueFlowTest, LowerCountsTravelWithAScaleUp) {  // W8.10
  state_.worker.job.counts = {{"head", 1}, {"small-group", 5}};
  Run(state_);
  for (Workload* workload : {&state_.manager.workloads.back(), &state_.worker.workloads.back()}) {
    workload->pod_sets.push_back(MakePodSet("large-group", 1, {{"cpu", 1000}}));
    Reserve(*workload);
  }
  state_.worker.job.counts = {{"head", 1}, {"large-group", 2}, {"small-group", 3}};
  state_.worker.job.runs = {{"head", 1}, {"large-group", 1}, {"small-group", 5}};
  const auto step = Next(state_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->decision, "scale-up: reported");
  EXPECT_EQ(step->writes[0].value, "{\"large-group\":2,\"small-group\":3}");
  Run(state_);
  EXPECT_EQ(state_.worker.job.runs, state_.worker.job.counts);
}

TEST_F(MultiKueueFlowTest, PodsThatItsWorkloadDoesNotCountAreNotLookedAt) {
  state_.worker.job.counts["submitter"] = 1;
  EXPECT_FALSE(Next(state_));
}

TEST_F(MultiKueueFlowTest, SaysWhatMustHoldBeforeItBegins) {  // W8.10
  const auto error = [&](MultiKueueState state) {
    const auto step = NextFlowStep(state, engine_);
    EXPECT_FALSE(step);
    return step.error().message;
  };
  MultiKueueState state = state_;
  state.worker.job.elastic = false;
  EXPECT_THAT(error(state), HasSubstr("RayJob team/ray of worker w1 lacks the annotation "
                                      "kueue.x-k8s.io/elastic-job"));
  state = state_;
  state.worker.job.prebuilt_workload.clear();
  EXPECT_THAT(error(state), HasSubstr("lacks the label kueue.x-k8s.io/prebuilt-workload-name"));
  state = state_;
  state.worker.workloads.clear();
  EXPECT_THAT(error(state), HasSubstr("not among the objects of the worker"));
  state = state_;
  state.manager.workloads.clear();
  EXPECT_THAT(error(state), HasSubstr("not among the objects of the manager"));
  state = state_;
  SetCondition(state.manager.workloads[0], {std::string(kFinished), "True", "Succeeded", ""});
  EXPECT_EQ(error(state), "Workload team/rayjob-w of the manager has finished");
}

TEST_F(MultiKueueFlowTest, OtherJobsAreLeftAlone) {
  Workload other = state_.manager.workloads[0];
  other.key.name = "rayjob-other";
  state_.worker.workloads.push_back(other);
  state_.worker.requests[other.key] = {{"small-group", 7}};
  SetCondition(other, {std::string(kFinished), "True", "Succeeded", ""});
  state_.manager.workloads.push_back(other);
  EXPECT_FALSE(Next(state_));
  const MultiKueueState before = state_;
  state_.worker.job.counts["small-group"] = 5;
  Run(state_);
  EXPECT_EQ(state_.worker.workloads[1], before.worker.workloads[1]);
  EXPECT_EQ(state_.worker.requests, before.worker.requests);
}

TEST_F(MultiKueueFlowTest, ALateRequestChangesNothing) {  // W6.2
  const CountsByPodSet late = {{"small-group", 4}};
  for (const std::int64_t wanted : {5, 4, 2}) {
    state_.worker.job.counts["small-group"] = wanted;
    Run(state_);
  }
  const MultiKueueState done = state_;
  state_.worker.requests[{"team", "rayjob-w-slice-2"}] = late;
  EXPECT_THAT(Run(state_), ElementsAre("multikueue: dropped: the job wants other counts by now"));
  EXPECT_EQ(state_.manager, done.manager);
  state_.manager_requests[{"team", "rayjob-w-slice-2"}] = late;
  EXPECT_THAT(Run(state_), ElementsAre("manager: dropped: the job wants other counts by now"));
  EXPECT_EQ(state_.manager, done.manager);
  EXPECT_EQ(state_.worker.workloads, done.worker.workloads);
}

TEST_F(MultiKueueFlowTest, ARequestOfASliceThatIsBeingReplacedChangesNothing) {
  state_.worker.job.counts["small-group"] = 9;  // waits
  Run(state_);
  const MultiKueueState waits = state_;
  state_.manager_requests[{"team", "rayjob-w"}] = {{"small-group", 5}};
  EXPECT_EQ(Run(state_).front(), "manager: dropped: the slice is being replaced");
  EXPECT_EQ(state_.manager, waits.manager);
}

TEST_F(MultiKueueFlowTest, ARefusedRequestIsReportedOnce) {
  FeatureGates gates = ResizeGates({});
  gates.elastic_jobs_via_workload_slices = false;
  state_.worker.job.counts["small-group"] = 5;
  const auto steps = PlanFlow(state_, Engine(MakeCpuBackend(1), gates));
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 3U);
  EXPECT_EQ(steps->back().decision,
            "refused: the feature gate ElasticJobsViaWorkloadSlices is off");
  EXPECT_THAT(steps->back().writes, IsEmpty());
}

TEST_F(MultiKueueFlowTest, AnOldSliceEndsBeforeAnotherIsMade) {  // at most two (W5.3)
  state_.worker.job.counts["small-group"] = 5;
  MultiKueueState state = state_;
  while (const auto step = Next(state)) {
    const bool admitted = step->decision == "admitted";
    CarryOut(*step, admitted ? 1 : step->writes.size(), state);  // the old slice does not end
    if (admitted) break;
  }
  state.worker.job.counts["small-group"] = 6;
  state.manager_requests[{"team", "rayjob-w-slice-2"}] = {{"small-group", 6}};
  const std::vector<std::string> lines = Run(state);
  EXPECT_EQ(lines[0], "manager: the old slice ends");
  EXPECT_EQ(lines[1], "manager: new-slice");
  EXPECT_EQ(state.worker.job.runs["small-group"], 6);
}

TEST_F(MultiKueueFlowTest, ASliceThatWantsLessThanTheOldOneGetsItsQuota) {
  state_.worker.job.counts["small-group"] = 3;
  Run(state_);
  state_.worker.job.counts["small-group"] = 9;  // waits
  Run(state_);
  state_.worker.job.counts["small-group"] = 2;
  EXPECT_THAT(Run(state_),
              ElementsAre("worker: scale-down: reported", "multikueue: moved to the manager",
                          "manager: in-place", "manager: admitted", "multikueue: synced",
                          "worker: pods: 1 of small-group end"));
  EXPECT_EQ(Manager("rayjob-w-slice-3").admission->pod_set_assignments[1].count, 2);
  EXPECT_TRUE(HasCondition(Manager("rayjob-w-slice-2"), kFinished));
}

TEST_F(MultiKueueFlowTest, PodSetsThatDifferAreAnError) {
  state_.worker.workloads[0].pod_sets.push_back(MakePodSet("extra", 1, {{"cpu", 1000}}));
  const auto steps = PlanFlow(state_, Engine(MakeCpuBackend(1), {}));
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().error_class, ErrorClass::kBadInput);
  EXPECT_EQ(steps.error().message,
            "Workload team/rayjob-w has the pod sets head, small-group in the manager and extra, "
            "head, small-group in worker w1; want the same in both");
}

TEST_F(MultiKueueFlowTest, ARequestThatNamesNoPodSetIsDropped) {
  state_.worker.requests[{"team", "rayjob-w"}] = {{"unknown", 3}};
  EXPECT_THAT(Run(state_), ElementsAre("multikueue: dropped: it names no pod set of the workload"));
}

TEST_F(MultiKueueFlowTest, SaysWhoseQuotaIsMissing) {
  Workload& copy = state_.worker.workloads[0];
  copy.admission.reset();
  copy.conditions.clear();
  auto step = Next(state_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->at + ": " + step->decision, "worker: waits: for the worker's scheduler");
  EXPECT_THAT(step->writes, IsEmpty());
  state_.manager.workloads[0].admission.reset();
  step = Next(state_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->at + ": " + step->decision, "manager: waits: for the manager's scheduler");
}

TEST_F(MultiKueueFlowTest, ASliceTakesThePlaceOfOneThatLostItsQuota) {
  state_.worker.job.counts["small-group"] = 9;  // waits
  Run(state_);
  Workload& old = state_.manager.workloads[0];
  old.admission.reset();
  old.conditions = {{std::string(kEvicted), "True", "Preempted", ""}};
  EXPECT_THAT(Run(state_), ElementsAre("manager: the old slice ends, as it has lost its quota",
                                       "manager: waits: for the manager's scheduler"));
  EXPECT_EQ(Manager("rayjob-w").conditions.back().reason, "OutOfSync");
}

TEST_F(MultiKueueFlowTest, SlicesThatReplaceEachOtherAreNoEndlessChain) {
  Workload second = state_.manager.workloads[0];
  second.key.name = "rayjob-x";
  second.annotations.Set(kSliceReplacementFor, "team/rayjob-w");
  state_.manager.workloads[0].annotations.Set(kSliceReplacementFor, "team/rayjob-x");
  state_.manager.workloads.push_back(second);
  EXPECT_TRUE(Next(state_));
  state_.manager.workloads.pop_back();
  state_.manager.workloads[0].annotations.Set(kSliceReplacementFor, "team/rayjob-w");
  EXPECT_FALSE(Next(state_));  // replaces itself
}

TEST_F(MultiKueueFlowTest, SlicesThatContradictEachOtherAreNamed) {
  for (const char* name : {"rayjob-x", "rayjob-y"}) {
    Workload& more = state_.manager.workloads.emplace_back(state_.manager.workloads[0]);
    more.key.name = name;
    more.annotations.Set(kSliceNameAnnotation, "rayjob-w");
    more.annotations.Erase(kSliceReplacementFor);
  }
  auto step = Next(state_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->event, "slices team/rayjob-w, team/rayjob-x, team/rayjob-y have not ended");
  EXPECT_EQ(step->decision, "refused: unexpected number of matching workload slices: 3");
  state_.manager.workloads.pop_back();
  step = Next(state_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->decision,
            "refused: unexpected combination of old and new workload slices with reserved quota");
}

TEST_F(MultiKueueFlowTest, NoPodOfASuspendedJobStarts) {
  state_.worker.job.suspended = true;
  state_.worker.job.runs = {{"head", 0}, {"small-group", 0}};
  const auto step = Next(state_);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->suspended);
  EXPECT_EQ(step->decision, "waits: for the worker's job controller");
}

// All steps at once are the steps that are found one by one, although the manager's capacity is
// looked up once and followed from there.
TEST_F(MultiKueueFlowTest, TheWholeFlowIsItsSteps) {
  state_.manager = MakeCluster();
  Workload workload =
      MakeWorkload("rayjob-w", "gpu", {MakePodSet("main", 3, {{"gpu", 1}}, Unconstrained())});
  workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
  Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 3}}));
  Workload slice = workload;  // waits, and is admitted before the job is heard again
  slice.key.name = "rayjob-w-slice-2";
  slice.annotations.Set(kSliceReplacementFor, "team/rayjob-w");
  slice.annotations.Set(kSliceNameAnnotation, "rayjob-w");
  slice.pod_sets[0].count = 5;
  slice.admission.reset();
  slice.conditions.clear();
  state_.manager.workloads = {workload, slice};
  state_.worker.workloads = {workload};
  for (const std::int64_t wanted : {2, 5, 7, 8, 16}) {
    MultiKueueState state = state_;
    state.worker.job.counts = {{"main", wanted}};
    state.worker.job.runs = {{"main", 3}};
    const auto steps = PlanFlow(state, engine_);
    ASSERT_TRUE(steps) << steps.error().message;
    EXPECT_EQ(steps->front().decision, "admitted");
    for (const FlowStep& step : *steps) {
      EXPECT_EQ(step, Next(state)) << step.event;
      CarryOut(step, step.writes.size(), state);
    }
    const auto last = Next(state);
    EXPECT_TRUE(!last || last->writes.empty());
  }
}

}  // namespace
}  // namespace espalier::multikueue_flow_test
