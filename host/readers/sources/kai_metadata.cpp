#include "host/readers/sources/kai_metadata.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/parse_integer.hpp"

namespace espalier {
namespace {

// A label, or else an annotation.
std::string_view Marked(JsonValue object, std::string_view key) {
  const std::string_view label = LabelOf(object, key);
  return label.empty() ? AnnotationOf(object, key) : label;
}

// The first of the objects that is marked so says it.
std::string_view FirstMarked(const std::vector<JsonValue>& objects, std::string_view key) {
  for (const JsonValue object : objects) {
    if (const auto text = Marked(object, key); !text.empty()) return text;
  }
  return "";
}

// Runs of so many pods in one domain each (W4.6).
void ApplyKaiSegments(const std::vector<JsonValue>& chain, GangWorkload& workload) {
  const std::string_view size = FirstMarked(chain, "kai.scheduler/segment-size");
  const std::string_view level =
      FirstMarked(chain, "kai.scheduler/segment-topology-required-placement");
  if (!FirstMarked(chain, "kai.scheduler/segment-topology-preferred-placement").empty()) {
    workload.notes.push_back(
        "annotation kai.scheduler/segment-topology-preferred-placement is not honoured");
  }
  if (size.empty()) {
    if (level.empty()) return;
    workload.notes.push_back(
        "annotation kai.scheduler/segment-topology-required-placement is not honoured without "
        "kai.scheduler/segment-size");
    return;
  }
  const auto pods = ParseInteger<std::int32_t>(size);
  if (!pods || *pods < 1) {
    workload.notes.push_back(
        fmt::format("annotation kai.scheduler/segment-size is {}: it is not honoured, as that is "
                    "no number of pods",
                    Excerpt(size)));
  } else if (level.empty()) {
    workload.notes.push_back(
        "annotation kai.scheduler/segment-size is not honoured without "
        "kai.scheduler/segment-topology-required-placement");
  } else {
    workload.topology_request.segments = SliceConstraint{std::string(level), *pods};
  }
}

// Levels that the first of the objects with any asks for, unless the request asks for some.
void ApplyKaiLevels(const std::vector<JsonValue>& chain, GroupTopologyRequest& request) {
  const auto required = FirstMarked(chain, "kai.scheduler/topology-required-placement");
  const auto preferred = FirstMarked(chain, "kai.scheduler/topology-preferred-placement");
  if (AsksForLevels(request) || !request.claims.empty()) return;
  if (required.empty() && preferred.empty()) return;
  if (!request.levels) request.levels.emplace();
  if (!required.empty()) request.levels->required = required;
  if (!preferred.empty()) request.levels->preferred = preferred;
}

}  // namespace

void TakeQueue(const std::vector<JsonValue>& chain, Workload& head) {
  for (const std::string_view key : {kQueueNameLabel, std::string_view("kai.scheduler/queue")}) {
    if (const auto queue = FirstMarked(chain, key); !queue.empty()) {
      head.queue_name = queue;
      return;
    }
  }
}

void TakeQueueOfPods(const PartMembers& members, Workload& head) {
  if (!head.queue_name.empty()) return;
  std::vector<JsonValue> chain;
  if (members.owner) chain.push_back(*members.owner);
  if (members.pod != nullptr) chain.push_back(members.pod->value);
  TakeQueue(chain, head);
}

void ApplyKaiMetadata(JsonValue described_by, const PartMembers* members,
                      const SourceContext& context, GangWorkload& workload) {
  std::vector<JsonValue> chain = {described_by};
  if (members != nullptr && members->owner) chain.push_back(*members->owner);
  const std::size_t without_pod = chain.size();
  if (members != nullptr && members->pod != nullptr) chain.push_back(members->pod->value);
  TakeQueue(chain, workload.head);
  if (const auto name = FirstMarked(chain, "priorityClassName"); !name.empty()) {
    workload.head.priority_class = name;
  } else if (members != nullptr && members->pod != nullptr &&
             workload.head.priority_class.empty()) {
    const auto spec = Member(members->pod->value, "spec");
    if (spec) workload.head.priority_class = TextMember(*spec, "priorityClassName", context.read);
  }
  workload.head.priority =
      context.defaults.PriorityOf(workload.head.priority_class).value_or(workload.head.priority);
  if (const auto text = FirstMarked(chain, "kai.scheduler/preemptibility"); !text.empty()) {
    workload.preemptibility = text;
  }
  ApplyKaiSegments(chain, workload);
  chain.resize(without_pod, described_by);
  workload.head.topology_name = FirstMarked(chain, "kai.scheduler/topology");
  ApplyKaiLevels(chain, workload.topology_request);
}

void ApplyKaiTopology(JsonValue object, GangWorkload& workload) {
  const std::vector<JsonValue> chain = {object};
  ApplyKaiSegments(chain, workload);
  if (const auto name = FirstMarked(chain, "kai.scheduler/topology"); !name.empty()) {
    workload.head.topology_name = name;
  }
  if (workload.replica_mode == ReplicaMode::kReplicatedGangs) {  // each replica is a group
    for (GangGroup& gang : workload.gang_groups) ApplyKaiLevels(chain, gang.topology_request);
    return;
  }
  if (workload.replica_mode != ReplicaMode::kReplicatedPods || workload.whole) {
    return ApplyKaiLevels(chain, workload.topology_request);
  }
  for (GangGroup& gang : workload.gang_groups) {  // each pod is a group of its own
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) ApplyKaiLevels(chain, group.topology_request);
    }
  }
}

bool HasKaiTopology(JsonValue object) {
  GroupTopologyRequest request;
  ApplyKaiLevels({object}, request);
  return AsksForLevels(request);
}

}  // namespace espalier
