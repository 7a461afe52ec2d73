#include "host/kueue/cycle/flavor_match.hpp"

#include <algorithm>

#include "host/packing/node_match.hpp"

namespace espalier {

const Taint* UntoleratedFlavorTaint(const ResourceFlavor& flavor, const PodTemplate& pod) {
  for (const Taint& taint : flavor.node_taints) {
    if (!RepelsPods(taint)) continue;
    const auto tolerates = [&](const Toleration& toleration) {
      return Tolerates(toleration, taint);
    };
    if (std::ranges::none_of(pod.tolerations, tolerates) &&
        std::ranges::none_of(flavor.tolerations, tolerates)) {
      return &taint;
    }
  }
  return nullptr;
}

bool MatchesFlavorLabels(const ResourceFlavor& flavor, const PodTemplate& pod) {
  for (const auto& [key, value] : flavor.node_labels) {
    const std::string* wanted = pod.node_selector.Find(key);
    if (wanted != nullptr && *wanted != value) return false;
  }
  if (!pod.affinity.required || pod.affinity.required->empty()) return true;
  // A term that names no label of the flavor leaves every node possible, and terms are OR-ed.
  return std::ranges::any_of(*pod.affinity.required, [&](const NodeSelectorTerm& term) {
    return std::ranges::all_of(term.match_expressions, [&](const NodeSelectorRequirement& wanted) {
      const std::string* value = flavor.node_labels.Find(wanted.key);
      return value == nullptr || RequirementHolds(wanted, value);
    });
  });
}

}  // namespace espalier
