// A selector of objects by their labels.
#pragma once

#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/node.hpp"

namespace espalier {

// Labels that an object must have; an empty selector selects every object.
struct LabelSelector {
  StringMap match_labels;
  std::vector<NodeSelectorRequirement> match_expressions;  // In, NotIn, Exists, DoesNotExist
  bool operator==(const LabelSelector&) const = default;
};

// Returns whether an object of these labels is selected. An operator that does not exist selects
// nothing.
bool Selects(const LabelSelector& selector, const StringMap& labels);

}  // namespace espalier
