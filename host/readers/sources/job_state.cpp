#include "host/readers/sources/job_state.hpp"

#include <algorithm>
#include <array>

#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 4> kEnds = {"Complete", "Completed", "Failed", "Succeeded"};
constexpr std::array<std::string_view, 3> kRunningCounts = {"active", "readyReplicas",
                                                            "availableReplicas"};

bool IsOneOf(std::string_view text, const auto& words) {
  return std::ranges::find(words, text) != std::end(words);
}

}  // namespace

void ReadJobState(JsonValue object, const SourceContext& context, GangWorkload& workload) {
  const auto status = ObjectMember(object, "status", context.read);
  if (!status) return;
  for (const Condition& condition : ReadConditions(*status, context.read)) {
    if (condition.status != "True") continue;
    if (IsOneOf(condition.type, kEnds)) {
      workload.head.conditions.push_back({"Finished", "True", condition.reason, condition.message});
      return;
    }
    if (condition.type == "Running") workload.running = true;
  }
  for (const std::string_view count : kRunningCounts) {
    std::int64_t pods = 0;
    const auto value = Member(*status, count);
    if (value && value->get(pods) == simdjson::SUCCESS && pods > 0) workload.running = true;
  }
  std::string_view state;
  if ((*status)["state"].get(state) == simdjson::SUCCESS && state == "ready") {
    workload.running = true;
  }
}

bool IsSuspended(JsonValue object) {
  for (const std::string_view path : {"/spec/suspend", "/spec/runPolicy/suspend"}) {
    bool suspended = false;
    if (object.at_pointer(path).get(suspended) == simdjson::SUCCESS && suspended) return true;
  }
  return false;
}

}  // namespace espalier
