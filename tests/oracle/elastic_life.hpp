// The life of a few elastic workloads on a small cluster: resizes, replays, crashes, node failures,
// ungatings, evictions and scheduling cycles, chosen at random, and each held to the rules.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/model/cluster.hpp"
#include "tests/generated/random.hpp"

namespace espalier::oracle {

class ElasticLife {
 public:
  explicit ElasticLife(Random& random);

  // Does one thing at random. Returns what is wrong with it, empty where nothing is.
  std::string Step();

  // Says what the last step was, for messages.
  const std::string& last_step() const { return last_step_; }
  // Returns how often each kind of decision and of step came about.
  const std::map<std::string, std::int64_t>& seen() const { return seen_; }

 private:
  struct Job {
    std::string name;
    SliceMode mode = SliceMode::kReplacement;
    ResizeProfile profile = ResizeProfile::kKueue;
  };

  void AddJob(const Job& job, std::int64_t pods, const std::string& preferred);
  std::string Resize();
  std::string Cycle();
  std::string FailNode();
  std::string RepairNode();
  std::string EvictJob();
  std::string Ungate();

  // Carries out the plan and asks again: what was done is not done twice.
  std::string Replay(const ResizeRequest& request, const ResizePlan& plan, bool crash);
  std::string CheckPlan(const ResizeRequest& request, const ResizePlan& plan) const;
  std::string CheckInPlace(const ResizePlan& plan) const;
  std::string CheckNewSlice(const ResizeRequest& request, const ResizePlan& plan) const;
  std::string CheckReplicas(const ResizeRequest& request, const ResizePlan& plan) const;
  // Checks that usage is never above capacity, nor above the quota.
  std::string CheckUsage() const;

  const Workload* Find(const ObjectKey& key) const;
  // Return the newest unfinished slice of a job, and the newest that holds quota; null where there
  // is none.
  Workload* NewestOf(const Job& job);
  Workload* RunningOf(const Job& job);
  // Tells whether what pod sets of a workload were given beyond what they had in `before`, null for
  // nothing, fits a node one by one but not together. A cycle does not look at that (R21.3); the
  // node refuses their pods, and the job ends.
  bool OverbooksItself(const Workload& workload, const Workload* before);
  // Takes back what the slices of an evicted job hold.
  void Suspend(const VictimSlices& slices);
  // Ends the slices that a newer one has taken the place of, as Kueue's controller does.
  void EndOldSlices();
  std::string FoldAdmitted(const Job& job);
  // Makes and removes pods so that there are as many as the job wants.
  void MakePods(const Job& job);

  Random& random_;
  Cluster cluster_;
  Engine engine_;
  std::vector<Job> jobs_;
  std::map<std::string, std::vector<Pod>> pods_;  // by job
  std::int64_t made_ = 0;                         // pods and uids so far
  std::string last_step_;
  std::map<std::string, std::int64_t> seen_;
};

}  // namespace espalier::oracle
