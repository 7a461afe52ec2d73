// Hosts in racks, small enough to try everything with whole numbers alone: an oracle of who has to
// go and of what little would let a gang fit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "host/engine/request.hpp"
#include "host/model/cluster.hpp"

namespace espalier::differential {

struct SmallAmounts {
  std::int64_t devices = 0;
  std::int64_t cpu = 0;
};

struct SmallHost {
  std::string name;
  std::string rack;
  SmallAmounts has;
  bool ready = true;
  bool cordoned = false;

  bool takes_part() const { return ready && !cordoned; }
};

struct SmallWorkload {
  std::string name;
  std::int64_t priority = 0;
  std::vector<SmallAmounts> uses;  // [hosts]
};

// The domain that holds all pods of a gang: one host, one rack, or the whole cluster.
enum class SmallLevel { kHost, kRack, kAnywhere };

struct SmallGang {
  std::int32_t pods = 1;   // whole slices
  std::int32_t slice = 1;  // pods that share a host
  SmallAmounts each;
  SmallLevel level = SmallLevel::kAnywhere;
};

struct SmallRacks {
  std::vector<SmallHost> hosts;
  std::vector<SmallWorkload> running;  // at most 12
  SmallGang gang;

  // Returns what is free on each host, where some of the running workloads, by bit, are gone.
  std::vector<SmallAmounts> Free(std::uint32_t gone) const;
  // Pods of the gang that a host holds, in whole slices.
  std::int64_t RoomOn(const SmallAmounts& free) const;
  // Domains of a level by name, as lists of hosts that take part; one of the name "" for anywhere.
  std::map<std::string, std::vector<std::size_t>> Domains(SmallLevel level) const;
  // Returns whether `pods` fit in one domain of a level.
  bool Fits(const std::vector<SmallAmounts>& free, SmallLevel level, std::int64_t pods) const;

  // Returns the least costs of making room in each domain of the gang's level: of all subsets of
  // the running workloads those of which no other is as good. (priority, number, devices)
  using Cost = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<std::string, std::vector<Cost>> CheapestVictims() const;

  Cluster ToCluster() const;
  WorkloadRequest ToRequest() const;
};

SmallRacks GenerateSmallRacks(std::uint64_t seed);

}  // namespace espalier::differential
