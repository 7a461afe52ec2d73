// Reads the gang API's own Workload: API revision 1 and the later one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Labels that pods of a part have, by the part's path: "gg", "gg/rg" or "gg/rg/template".
using PartSelectors = std::map<std::string, StringMap>;

struct GangApiWorkload {
  GangWorkload workload;
  PartSelectors selectors;
  std::string replica_key;  // label whose value is the replica of a pod; empty: not said
};

// Returns whether a Workload of group scheduling or scheduling.k8s.io is one of the gang API: it
// has none of the fields of the API that has pod groups.
bool IsGangApiWorkload(JsonValue object);

// Reads the Workload as it is written; what it leaves out is not filled in.
GangApiWorkload ReadGangApiWorkload(JsonValue object, const SourceContext& context);

// Reads a topologyRequest by level, by claim or both. A text instead of an object gets a note and
// requests nothing.
GroupTopologyRequest ReadGroupTopologyRequest(JsonValue parent, const std::string& of,
                                              const ReadContext& context,
                                              std::vector<std::string>& notes);

}  // namespace espalier
