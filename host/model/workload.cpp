#include "host/model/workload.hpp"

namespace espalier {

const Condition* FindCondition(const Workload& workload, std::string_view type) {
  for (const Condition& condition : workload.conditions) {
    if (condition.type == type) return condition.status == "True" ? &condition : nullptr;
  }
  return nullptr;
}

}  // namespace espalier
