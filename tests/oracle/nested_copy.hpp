// Copies of the groups of a nested gang (R25.1, R25.5), and where their pods went.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "tests/oracle/cluster.hpp"

namespace espalier::oracle {

// Pods on leaves, in the order in which they were placed.
using Takes = std::vector<std::pair<Path, std::int64_t>>;

// The properties by which two pod sets are equal.
struct NestedShape {
  Vector requests;
  PodTemplate pod_template;
  bool operator==(const NestedShape&) const = default;
};

// --- R25.1, R25.5 --------------------------------------------------------------------------------

// One copy of a group.
struct Copy {
  const NestedGroup* group = nullptr;
  int number = 0;
  bool optional = false;
  Copy* around = nullptr;
  std::vector<std::unique_ptr<Copy>> inside;  // in the order of placing

  bool placed = false;
  Path where;  // empty: the whole cluster
  Takes required;
  Takes more;
};

inline std::int64_t RequiredPods(const NestedGroup& group) {
  if (group.pods) return group.pods->min_count;
  std::int64_t pods = 0;
  for (const NestedGroup& child : group.groups) pods += child.min_copies * RequiredPods(child);
  return pods;
}

inline std::unique_ptr<Copy> MakeCopy(const NestedGroup& group, int number, Copy* around,
                                      NestedProfile profile) {
  auto copy = std::make_unique<Copy>();
  copy->group = &group;
  copy->number = number;
  copy->around = around;
  copy->optional = around != nullptr && number >= group.min_copies;
  std::vector<const NestedGroup*> order;
  for (const NestedGroup& child : group.groups) order.push_back(&child);
  if (!group.in_order && profile == NestedProfile::kEspalier) {
    std::stable_sort(order.begin(), order.end(), [](const NestedGroup* a, const NestedGroup* b) {
      if (a->required.has_value() != b->required.has_value()) return a->required.has_value();
      return RequiredPods(*a) > RequiredPods(*b);
    });
  }
  for (const NestedGroup* child : order) {
    for (int c = 0; c < child->copies; ++c) {
      copy->inside.push_back(MakeCopy(*child, c, copy.get(), profile));
    }
  }
  return copy;
}

// Visits everything in a copy, itself first, in the order of placing.
inline void Walk(Copy& copy, const auto& visit) {
  visit(copy);
  for (auto& inner : copy.inside) Walk(*inner, visit);
}

}  // namespace espalier::oracle
