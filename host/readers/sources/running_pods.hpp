// Says what it means for a gang that pods of it are there or run already.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/model/node.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Gives the first groups that run, then the others in order, their part of the least number of pods
// of a ranked group.
void ShareMinimum(std::int32_t least, RankedGroup& ranked);

// Makes a gang of the workload, of which `seen` pods are there, wait when it needs more. Pods of
// one that is no gang are all wanted. Adds notes on those that run, and on those above its maximum.
void WaitForPods(std::int32_t seen, GangGroup& gang, GangWorkload& workload);

// Makes a gang none of whose pods is there wait for them, unless it waits for something else.
void WaitForFirstPods(GangWorkload& workload);

// Gives a workload of one shape that says where its pods are to be, or that they are to be apart,
// those of `pods`, which have nodes: they can be moved together. Leaves others as they are, also
// those whose pods are placed one by one.
void AddRunningPods(std::span<const JsonValue> pods, GangWorkload& workload);

// Takes the pods that hold room for nothing off their nodes, where the gang is scheduled in part
// and the time of its scheduleTimeoutSeconds has passed at `now` (Unix seconds): it goes back to
// the queue whole (W8.5). Returns their names, and adds a note on them.
std::vector<std::string> Requeue(std::int64_t now, GangGroup& gang, GangWorkload& workload);

// Takes over the labels of nodes on which pods run.
class NodeLabels {
 public:
  // `nodes` must outlive this; none: they are known elsewhere.
  explicit NodeLabels(std::span<const Node> nodes) : nodes_(nodes) {}

  // Fills in the labels of the workload's running pods; adds a note for each node that is missing.
  void Describe(GangWorkload& workload);

 private:
  void Describe(RunningPods& running, GangWorkload& workload);

  std::span<const Node> nodes_;
  std::unordered_map<std::string_view, const Node*> by_name_;  // made when it is asked for
};

}  // namespace espalier
