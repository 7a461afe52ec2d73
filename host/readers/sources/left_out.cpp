#include "host/readers/sources/left_out.hpp"

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {

std::int64_t BytesOf(const GangWorkload& workload) {
  std::size_t bytes = sizeof(GangWorkload) + sizeof(Workload);
  for (const GangGroup& gang : workload.gang_groups) {
    bytes += sizeof(GangGroup) + gang.ranked_groups.size() * sizeof(RankedGroup);
    for (const RankedGroup& ranked : gang.ranked_groups) {
      bytes += ranked.eq_groups.size() * (sizeof(EqGroup) + sizeof(PodSet));
    }
  }
  return static_cast<std::int64_t>(bytes);
}

void LeaveOut(const std::string& why, GangWorkload& workload) {
  if (why.empty()) return;
  workload.gang_groups.clear();
  workload.running = false;
  workload.waits_for = why;
}

GangWorkload LeftOutObject(JsonValue object, std::string_view version, std::string_view kind,
                           const ReadContext& context, const std::string& why) {
  GangWorkload workload;
  if (context.HasUnreadableNumber()) {
    workload.head.key = ReadObjectKey(object, context);
  } else {
    workload.head = ReadWorkloadHead(object, context);
  }
  workload.source = fmt::format("{} {}", version, kind);
  LeaveOut(why, workload);
  return workload;
}

GangWorkload UnknownObject(const SourceObject& source_object, const ReadContext& context) {
  GangWorkload workload;
  workload.head = ReadWorkloadHead(source_object.object.value, context);
  workload.source = fmt::format("{} {}", source_object.version, source_object.kind);
  const std::size_t slash = source_object.version.find('/');
  workload.true_workload = TrueWorkload{slash == source_object.version.npos
                                            ? ""
                                            : std::string(source_object.version.substr(0, slash)),
                                        std::string(source_object.kind), workload.head.key.name};
  workload.waits_for = fmt::format(
      "{} of {} is not a kind that is read, but it asks for pods ({})", Excerpt(source_object.kind),
      Excerpt(source_object.version.empty() ? "no apiVersion" : source_object.version),
      Excerpt(source_object.pods_at));
  return workload;
}

GangWorkload LeftOutPod(const Pod& pod, const std::string& why) {
  GangWorkload workload;
  workload.head.key = pod.key;
  workload.source = "v1 Pod";
  LeaveOut(why, workload);
  return workload;
}

}  // namespace espalier
