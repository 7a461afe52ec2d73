#include "host/engine/nested_request.hpp"

#include <algorithm>

#include "kernels/saturating.hpp"

namespace espalier {

std::string_view Name(NestedStatus status) {
  switch (status) {
    case NestedStatus::kPlaced:
      return "Placed";
    case NestedStatus::kPlacedInPart:
      return "PlacedInPart";
    case NestedStatus::kNotNow:
      return "NotNow";
    case NestedStatus::kNever:
      return "Never";
    case NestedStatus::kUndecided:
      return "Undecided";
    case NestedStatus::kBadRequest:
      break;
  }
  return "BadRequest";
}

const NestedGroup* GroupAt(const NestedGroup& root, std::string_view path) {
  if (path.empty()) return &root;
  const std::string_view name = path.substr(0, path.find('/'));
  const std::string_view rest =
      name.size() == path.size() ? std::string_view() : path.substr(name.size() + 1);
  for (const NestedGroup& child : root.groups) {
    const bool copy = child.copies > 1 && name.size() > child.name.size() &&
                      name.substr(0, child.name.size()) == child.name &&
                      name[child.name.size()] == '[';
    if (copy || (child.copies == 1 && name == child.name)) return GroupAt(child, rest);
  }
  return nullptr;
}

bool RequiresPods(const NestedGroup& group) {
  return (group.pods && group.pods->min_count > 0) ||
         std::ranges::any_of(group.groups, RequiresPods);
}

std::int64_t MostPods(const NestedGroup& group) {
  std::int64_t pods = group.pods ? std::max(group.pods->max_count, 0) : 0;
  for (const NestedGroup& child : group.groups) pods = SaturatingSum(pods, MostPods(child));
  return SaturatingProduct(pods, std::max(group.copies, 0));
}

}  // namespace espalier
