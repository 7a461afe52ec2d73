#include "host/readers/sources/kai_min_member.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

constexpr std::string_view kMinMember = "kai.scheduler/batch-min-member";

}  // namespace

void ApplyKaiMinMember(JsonValue job, bool as_kueue, GangWorkload& workload) {
  const std::string_view text = AnnotationOf(job, kMinMember);
  if (text.empty()) return;
  const auto note = [&](std::string_view why) {
    workload.notes.push_back(fmt::format("annotation {} is {}: it is not honoured, as {}",
                                         kMinMember, Excerpt(text), why));
  };
  const auto least = ParseInteger<std::int32_t>(text);
  if (!least || *least < 1) return note("that is no number of pods");
  if (as_kueue) return note("Kueue places all pods of a job");
  if (workload.source != "batch/v1 Job") return note("it is looked at on Jobs alone");
  if (workload.gang_groups.empty()) return;  // it has no pods
  GangGroup& gang = workload.gang_groups.front();
  EqGroup& group = gang.ranked_groups.front().eq_groups.front();
  const std::int32_t pods = group.max_count.value_or(0);
  if (*least > pods) {
    workload.waits_for =
        fmt::format("annotation {} wants {} pods, and it has {}", kMinMember, *least, pods);
    return;
  }
  gang.mode = GangMode::kGang;
  gang.min_count = *least;
  gang.max_count = pods;
  group.min_count = *least;
  group.count = pods;
  workload.whole = false;
}

}  // namespace espalier
