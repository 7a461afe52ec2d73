// A cluster whose contents change at random, kept in maps: what a state store is to hold after the
// same changes, told without any of the store's code.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "service/wire/cluster_state.hpp"
#include "tests/differential/generator.hpp"

namespace espalier {

class ChangingCluster {
 public:
  // Begins with a random cluster of up to 60 nodes: the flavor `default`, another one on some of
  // its nodes, and one of zones.
  explicit ChangingCluster(Random& random);

  const differential::Instance& instance() const { return instance_; }

  // Returns what Build has to be given, in another order than that of the changes.
  ClusterStateInput Input() const;
  // Returns the workloads, whose usage is in the input.
  std::vector<AdmittedUsage> Workloads() const;

  // Returns a random change of any kind, which is sound.
  StateDelta AnyChange();
  // Makes a change, or one that was booked.
  void Apply(const StateDelta& delta);
  void Book(const std::vector<FlavorLeafUsage>& usage);

  // Returns usage on a leaf that may be there.
  FlavorLeafUsage AnyUsage();
  // Returns a workload to place on one of the flavors.
  WorkloadRequest AnyRequest();

 private:
  const Node& AnyNode() const;
  AdmittedUsage AnyWorkload();
  Node NewNode();
  Node ChangedNode();
  void AddNodeChange(StateDelta& delta);
  void AddFlavorChange(StateDelta& delta);

  Random& random_;
  differential::Instance instance_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Resources> non_tas_usage_;
  std::map<std::pair<std::string, std::string>, Resources> tas_usage_;
  std::map<std::string, Topology> topologies_;
  std::map<std::string, ResourceFlavor> flavors_;
  std::map<ObjectKey, AdmittedUsage> workloads_;
  const bool sums_saturate_;  // then there are no workloads, whose usage could not be taken back
  int names_ = 0;
};

}  // namespace espalier
