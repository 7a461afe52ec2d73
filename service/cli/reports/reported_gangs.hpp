// Turns workloads of a cluster into the gangs of a report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/model/cluster.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/terminal/progress_bar.hpp"

namespace espalier {

// Returns a gang, with its recorded assignment, for each workload of a cluster that holds a
// reservation.
std::vector<ReportedGang> RunningGangs(const Cluster& cluster);

// Returns a waiting gang, with the pod sets of `request` or, when that is null because no request
// can be made of it, those of its spec.
ReportedGang WaitingGang(const Workload& workload, const std::string& cluster_queue,
                         const WorkloadRequest* request, const NamesByFlavor& names);

// Returns the pod sets of a request with the assignments of an answer.
std::vector<ReportedPodSet> PlacedPodSets(const WorkloadRequest& request,
                                          const WorkloadAnswer& answer, const NamesByFlavor& names);

// Finds out how near waiting gangs come to a placement on one state.
class NearMissReader {
 public:
  // Keeps references to both, which must outlive it. Shows the progress while it exists.
  NearMissReader(const ClusterState& state, const Engine& engine)
      : state_(state), engine_(engine) {}

  // Fills in the near miss, which is looked for once for all gangs that request the same.
  void Read(const WorkloadRequest& request, ReportedGang& gang);

 private:
  struct Hash {
    std::size_t operator()(const WorkloadRequest& request) const;
  };

  const ClusterState& state_;
  const Engine& engine_;
  std::unordered_map<WorkloadRequest, std::optional<NearMiss>, Hash> known_;
  std::size_t read_ = 0;
  ProgressBar progress_{"writing the report"};
};

}  // namespace espalier
