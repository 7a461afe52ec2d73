#include "host/model/workload.hpp"

namespace espalier {

bool HasCondition(const Workload& workload, std::string_view type) {
  for (const Condition& condition : workload.conditions) {
    if (condition.type == type) return condition.status == "True";
  }
  return false;
}

}  // namespace espalier
