// Jobs that Kueue's webhooks refuse, so that they never come to be.
#pragma once

#include <map>
#include <string>

#include "host/engine/feature_gates.hpp"
#include "host/model/cluster.hpp"
#include "host/readers/sources/job_object.hpp"

namespace espalier {

// Collects what webhooks say of jobs as these are read, and refuses their workloads afterwards.
class RefusedJobs {
 public:
  // Looks at a job, as ReadOptions::on_job. One that has a uid has come to be, whatever webhooks
  // would say of it now.
  void Look(const JobObject& job, const FeatureGates& gates);

  // Refuses the workloads without quota whose job is refused by its own webhook, of which Kueue's
  // controller makes no Workload, or whose Workload is refused by the webhook of that. A priority
  // class that is not found is not taken for any of it: it may only be missing in the input.
  void Refuse(Cluster& cluster) const;

 private:
  std::map<std::string, std::string> why_;             // by "KIND NAMESPACE/NAME"
  std::map<ObjectKey, std::string> why_of_pod_group_;  // of the first of its pods
};

}  // namespace espalier
