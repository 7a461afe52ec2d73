// Tells which jobs Kueue makes Workloads of, as its Configuration says.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "host/gangs/gang_workload.hpp"
#include "host/model/cluster.hpp"
#include "host/readers/effective_requests.hpp"

namespace espalier {

class ManagedJobs {
 public:
  // Points into both, which must outlive it. Without a Configuration all jobs are managed.
  ManagedJobs(const Cluster& cluster, const ClusterDefaults& defaults);

  // Puts the reason in the place of what a job asks for where Kueue does not manage it. `group` and
  // `kind` are those of the job's object; of kinds that no integration of Kueue's is for, and of
  // jobs for another scheduler's queue, all are managed. A job without a queue gets the LocalQueue
  // `default` of its namespace where there is one, as Kueue's webhook does.
  void Judge(std::string_view group, std::string_view kind, GangWorkload& workload) const;

 private:
  std::string WhyNot(std::string_view framework, std::string_view group, std::string_view kind,
                     Workload& head) const;
  // Returns whether the namespace is selected; what its labels do not tell counts as selected.
  bool IsSelected(const std::string& name_space) const;

  const KueueConfiguration* configuration_ = nullptr;
  std::set<std::string_view> frameworks_;
  const ClusterDefaults& defaults_;
  std::map<std::string_view, const Namespace*> namespaces_;
};

}  // namespace espalier
