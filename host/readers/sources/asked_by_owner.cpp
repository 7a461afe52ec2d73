#include "host/readers/sources/asked_by_owner.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "host/gangs/placement_units.hpp"
#include "host/model/jobset_keys.hpp"
#include "host/readers/sources/kai_metadata.hpp"

namespace espalier {

void NoteWhatWorkloadsLack(JsonValue object, GangWorkload& job) {
  constexpr std::int64_t kMostUnits = 64;
  std::vector<std::string>& lacks = job.head.not_honoured;
  GangWorkload flat = job;
  if (flat.replicas) flat.replicas = std::min(*flat.replicas, 2);  // the others are alike
  if (CountUnits(flat) <= kMostUnits) {
    for (const Workload& unit : PlacementUnits(flat)) {
      Workload of_slices;  // which is said of a Workload by its own counts
      of_slices.pod_sets = unit.pod_sets;
      SayWhatSlicesLeaveOut(of_slices);
      for (const std::string& what : unit.not_honoured) {
        const bool known =
            std::ranges::find(lacks, what) != lacks.end() ||
            std::ranges::find(of_slices.not_honoured, what) != of_slices.not_honoured.end();
        if (!known) lacks.push_back(what);
      }
    }
  }
  if (HasKaiTopology(object)) {
    lacks.emplace_back("the topology that KAI's annotations of its owner ask for is not looked at");
  }
}

void TellWorkloads(std::span<const GangWorkload> jobs, std::vector<Workload>& workloads) {
  std::map<std::tuple<std::string, std::string, std::string>, const GangWorkload*> lacking;
  for (const GangWorkload& job : jobs) {
    if (job.head.not_honoured.empty() || !job.true_workload) continue;
    lacking.emplace(std::tuple(job.head.key.namespace_, job.true_workload->kind, job.head.key.name),
                    &job);
  }
  if (lacking.empty()) return;
  for (Workload& workload : workloads) {
    for (const OwnerReference& owner : workload.owners) {
      const auto job = lacking.find({workload.key.namespace_, owner.kind, owner.name});
      if (job == lacking.end()) continue;
      const Workload& head = job->second->head;
      workload.not_honoured = head.not_honoured;
      const std::string* level = head.annotations.Find(kExclusiveTopology);
      if (level != nullptr) workload.annotations.Set(kExclusiveTopology, *level);
    }
  }
}

}  // namespace espalier
