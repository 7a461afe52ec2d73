// Prints which pods of a workload may start now.
#pragma once

#include <string>
#include <vector>

#include "host/kueue/objects/ungater.hpp"
#include "host/model/cluster.hpp"
#include "service/cli/terminal/terminal.hpp"

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

// Makes the report of a workload of the cluster. Errors are those of UngateWorkload.
Result<UngateReport> MakeUngateReport(const Workload& workload, const Cluster& cluster);

// Returns a table with a row per pod and, last, a line of counts.
std::string UngateTable(const UngateReport& report, const TextStyle& style = {});

// Returns {workload, ungate: [{pod, domain, nodeSelector, gates}], gated: [{pod, reason}]}; the
// node selector is to be written into the pod as its gates are removed (R22.8).
std::string UngateJson(const UngateReport& report);

}  // namespace espalier
