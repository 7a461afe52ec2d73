// Makes the queues of the benchmark suite: gangs drawn from recorded job sizes, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scenarios/topologies.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/model/result.hpp"

namespace espalier {

struct BenchMix {
  std::string name;
  FeatureGates gates;
  std::vector<GangShape> shapes;
  std::vector<GangRow> gangs;
};

// Returns the gangs as requests to the engine, named after their numbers.
std::vector<WorkloadRequest> RequestsOf(const BenchMix& mix);

// Returns the names of all mixes with a line on each. X-SHAPES takes the number of shapes in its
// name: X-SHAPES(256).
std::vector<TopologyLine> MixLines();

// Makes `gangs` gangs for this cluster; a mix of fixed content ignores the number. Errors
// (kBadInput): an unknown name.
Result<BenchMix> MakeMix(const std::string& name, const BenchCluster& cluster, std::int64_t gangs,
                         std::uint64_t seed);

// Accelerators of one job as the recorded traces have them.
class SplitMix64;
std::int64_t DrawAcmeJob(SplitMix64& random);

// Returns the requests of a pod of this many slots (BenchCluster::slots).
Resources SlotRequests(const BenchCluster& cluster, std::int64_t slots);

// Returns a level's key by its usual name, whatever the cluster calls it: the lowest level but one
// is the rack, the one above it the row, the second of four or more the block, the first the zone.
const std::string& RackLevel(const BenchCluster& cluster);
const std::string& RowLevel(const BenchCluster& cluster);
const std::string& BlockLevel(const BenchCluster& cluster);
const std::string& ZoneLevel(const BenchCluster& cluster);

}  // namespace espalier
