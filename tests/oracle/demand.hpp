// Section 6: what a request asks for, resolved against the topology.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tests/oracle/cluster.hpp"

namespace espalier::oracle {

// A value, or the reason why there is none, in the words of section 18.
template <class T>
using OrReason = tl::expected<T, std::string>;

// R6.9, with what sections 7 to 14 need besides.
struct Demand {
  std::int64_t pods = 0;                      // N
  std::int64_t leaders = 0;                   // nl, 0 or 1
  std::size_t requested_level = 0;            // rl
  std::size_t slice_level = 0;                // sl
  std::int64_t slice_size = 1;                // z
  std::map<std::size_t, std::int64_t> inner;  // INNER: level -> size
  std::vector<SliceConstraint> constraints;   // R6.1
  bool required = false;                      // REQ
  bool unconstrained = false;                 // UNC
  Vector worker_requests;                     // with the pod slot (R5.11)
  Vector leader_requests;                     // the same; empty without a leader
  PodTemplate pod_template;  // after updates, with the flavor's tolerations (R6.11)

  std::int64_t Slices() const { return pods / slice_size; }  // K
};

OrReason<Demand> ResolveDemand(const Cluster& cluster, const OracleInput& input,
                               const PodSetRequest& workers, const PodSetRequest* leader);

// Applies R6.1, R6.2 and R6.4 by themselves; section 17 asks for them too.
std::vector<SliceConstraint> SliceConstraints(const PodSetRequest& request);
OrReason<std::int64_t> SliceSize(const PodSetRequest& request);
std::optional<std::string> LevelKey(const Cluster& cluster, const PodSetRequest& request);

}  // namespace espalier::oracle
