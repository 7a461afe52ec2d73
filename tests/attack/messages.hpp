// Messages to attack with. Sizes are what the caller decides; everything else is sound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/v1/cluster_state.pb.h"
#include "espalier/v1/placement.pb.h"
#include "espalier/v1/scheduling.pb.h"
#include "espalier/v1/ungating.pb.h"

namespace espalier::attack {

// Hosts of 8 cpu and 64 GiB, "host-000000" and on, 16 in a rack, 16 racks in a block, as the one
// flavor "main"; without the end.
std::vector<v1::LoadStateRequest> UnendedChunks(int nodes, int nodes_per_chunk = 2000);
// Returns the same with it.
std::vector<v1::LoadStateRequest> Cluster(int nodes, int nodes_per_chunk = 2000);
// Writes how much the chunks hold into the last one.
void SetEnd(std::vector<v1::LoadStateRequest>& chunks);
std::vector<std::string> Serialized(const std::vector<v1::LoadStateRequest>& chunks);

struct GangsOptions {
  int gangs = 1;
  int pods = 1;             // of each gang
  std::int64_t cpu = 4000;  // thousandths of a core for each pod
  bool distinct = false;    // each gang asks for another amount of memory
  std::string level;        // required by each gang; empty: anywhere
};
// Nominates gangs on the flavor "main".
v1::PlaceRequest Gangs(const GangsOptions& options);
// Makes the request book what it places on the state of `base`.
v1::PlaceRequest Commit(v1::PlaceRequest request, const v1::StatePosition& base,
                        const std::string& token = "");

// Returns one gang on nodes whose `key` is in a list of `values`.
v1::PlaceRequest GangWithAffinity(const std::string& key, int values);
// Returns one gang whose pods ask for so many resources, which no node has.
v1::PlaceRequest GangWithResources(int resources);
// Returns one workload of so many pod sets of one pod.
v1::PlaceRequest WorkloadWithPodSets(int pod_sets);
// Returns the same, two and two of them in a group.
v1::PlaceRequest WorkloadInGroups(int pod_sets);
// Returns one workload whose pod sets each had a pod on every one of so many hosts and get one
// more.
v1::PlaceRequest WorkloadThatGrows(int pod_sets, int domains);
// Replacements in one assignment of `domains` hosts, the first of which failed.
v1::PlaceRequest Replacements(int workloads, int domains);

// Returns so many flavors, each of all of the cluster's nodes.
std::vector<v1::LoadStateRequest> ClusterWithFlavors(int nodes, int flavors);
// Returns nodes of which each has a resource that no other has.
std::vector<v1::LoadStateRequest> ClusterWithResources(int nodes);
// Returns nodes of which each has a taint that no other has.
std::vector<v1::LoadStateRequest> ClusterWithTaints(int nodes);

// Returns serialized requests with so many empty workloads or pods, 2 bytes each.
std::string CycleOfEmptyWorkloads(int workloads);
std::string UngateOfEmptyPods(int pods);

// Returns a sound request of each unary method on a small Cluster; of LoadState its only chunk.
std::string SoundRequest(const std::string& method);
// Returns a sound request of one of kHoldMethods about a hold.
std::string SoundHoldRequest(const std::string& method, const std::string& hold);

// Returns a gzip member that inflates to so many MiB of zeros, in about a thousandth of that.
std::string GzipOfZeros(int mebibytes);

}  // namespace espalier::attack
