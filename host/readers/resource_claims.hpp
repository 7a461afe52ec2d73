// Reads claims of dynamic resource allocation, as far as they say where pods go (W8.2).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// The place where the pods that share a claim may go.
struct ClaimedPlace {
  // The level of a Topology that its device classes or attributes name: the pods share a domain of
  // it. Empty: they name none.
  std::string level;
  // The nodes that have the claim's devices as its attributes say, OR-ed; absent: any node may.
  std::optional<std::vector<NodeSelectorTerm>> nodes;
  // The same as it is allocated, which ends with the last of the pods that it is reserved for.
  std::optional<std::vector<NodeSelectorTerm>> allocated_nodes;
  bool allocated = false;
  std::vector<std::string> reserved_for;  // names of pods; of other users none
  bool reserved_for_others = false;       // than pods, such as pod groups
  // Why the claim is no topology request that is understood; empty when it is one.
  std::string problem;
  // The problem is that it names no level at all, as claims of devices of one node.
  bool names_nothing = false;
};

// The claims and claim templates of the input by namespace and name.
struct ResourceClaims {
  std::map<ObjectKey, ClaimedPlace> claims;
  std::map<ObjectKey, ClaimedPlace> templates;

  // Returns the claim of that name, or else the template; null when it is not in the input.
  const ClaimedPlace* Find(const std::string& name_space, const std::string& claim,
                           const std::string& claim_template) const;
};

// A DeviceClass, by what tells its devices from others.
struct DeviceClass {
  std::string name;
  std::vector<std::string> selectors;  // CEL expressions, AND-ed
  std::string extended_resource = {};  // resource by which pods ask for its devices; empty: none
  std::int64_t creation_seconds = 0;   // Unix seconds
};

DeviceClass ReadDeviceClass(JsonValue object, const ReadContext& context);

// The device classes and topologies that claims are read against.
struct ClaimSurroundings {
  std::span<const DeviceClass> classes;
  std::vector<std::string> levels;  // of all topologies
  bool has_host_level = true;       // nodes can be told apart in some topology (R7.1)
};

// Returns what claims are read against in a cluster of these topologies; points to `classes`.
ClaimSurroundings SurroundingsOf(const std::vector<DeviceClass>& classes,
                                 const std::vector<Topology>& topologies);

// Reads a ResourceClaim or, with `is_template`, a ResourceClaimTemplate. A level is named by
// `matchAttribute`, by a device class of the level's name, with or without its domain, and by
// selectors of requests and classes that are a conjunction of
// `has(device.attributes[DOMAIN].NAME)`, `NAME in device.attributes[DOMAIN]` and
// `device.attributes[DOMAIN].NAME == VALUE`, where DOMAIN/NAME is the level's key; `_` stands for
// `-` there.
ClaimedPlace ReadResourceClaim(JsonValue object, bool is_template, const ClaimSurroundings& around,
                               const ReadContext& context);

// Returns the terms that both lists let pass, each of which is OR-ed.
std::vector<NodeSelectorTerm> BothTerms(const std::vector<NodeSelectorTerm>& a,
                                        const std::vector<NodeSelectorTerm>& b);

}  // namespace espalier
