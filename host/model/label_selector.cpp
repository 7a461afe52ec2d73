#include "host/model/label_selector.hpp"

#include <algorithm>
#include <string>

namespace espalier {
namespace {

bool Holds(const NodeSelectorRequirement& requirement, const StringMap& labels) {
  const std::string* value = labels.Find(requirement.key);
  const bool listed =
      value != nullptr && std::ranges::find(requirement.values, *value) != requirement.values.end();
  if (requirement.operation == "In") return listed;
  if (requirement.operation == "NotIn") return !listed;
  if (requirement.operation == "Exists") return value != nullptr;
  return requirement.operation == "DoesNotExist" && value == nullptr;
}

}  // namespace

bool Selects(const LabelSelector& selector, const StringMap& labels) {
  for (const auto& [key, wanted] : selector.match_labels) {
    const std::string* value = labels.Find(key);
    if (value == nullptr || *value != wanted) return false;
  }
  return std::ranges::all_of(
      selector.match_expressions,
      [&](const NodeSelectorRequirement& requirement) { return Holds(requirement, labels); });
}

}  // namespace espalier
