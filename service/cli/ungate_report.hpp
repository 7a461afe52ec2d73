// Which pods of a workload may start now, ready to be printed.
#pragma once

#include <string>
#include <vector>

#include "host/kueue/ungater.hpp"
#include "host/model/cluster.hpp"
#include "service/cli/terminal.hpp"

namespace espalier {

// A pod that stays gated.
struct GatedPod {
  ObjectKey pod;
  std::string reason;
  bool operator==(const GatedPod&) const = default;
};

struct UngateReport {
  ObjectKey workload;
  std::vector<UngatedPod> ungated;
  std::vector<GatedPod> gated;  // by name
};

// `workload` is one of the cluster's. Errors: those of UngateWorkload.
Result<UngateReport> MakeUngateReport(const Workload& workload, const Cluster& cluster);

// A row per pod and, last, a line of counts.
std::string UngateTable(const UngateReport& report, const TextStyle& style = {});

// {workload, ungate: [{pod, domain, nodeSelector}], gated: [{pod, reason}]}; the node selector is
// what is to be written into the pod as its gate is removed (R22.8).
std::string UngateJson(const UngateReport& report);

}  // namespace espalier
