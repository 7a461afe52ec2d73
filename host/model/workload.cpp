#include "host/model/workload.hpp"

#include <algorithm>

#include "host/model/kueue_keys.hpp"

namespace espalier {

std::string_view SliceName(const Workload& workload) {
  const std::string* name = workload.annotations.Find(kSliceNameAnnotation);
  return name != nullptr && !name->empty() ? *name : workload.key.name;
}

const Condition* FindCondition(const Workload& workload, std::string_view type) {
  for (const Condition& condition : workload.conditions) {
    if (condition.type == type) return condition.status == "True" ? &condition : nullptr;
  }
  return nullptr;
}

void DropWithdrawnAdmission(Workload& workload) {
  const auto is_withdrawal = [](const Condition& condition) {
    return condition.type == "QuotaReserved" && condition.status == "False";
  };
  if (std::ranges::any_of(workload.conditions, is_withdrawal)) workload.admission.reset();
}

}  // namespace espalier
