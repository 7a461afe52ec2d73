#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/pod_groups.hpp"
#include "host/readers/sources/sources_reader.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

}  // namespace

bool SourcesReader::IsPodGroup(Kind kind) {
  return kind == Kind::kPodGroup || kind == Kind::kCoschedulingPodGroup ||
         kind == Kind::kVolcanoPodGroup;
}

const SourceObject* SourcesReader::EachOf(std::string_view kind, std::string_view group,
                                          std::size_t& next) const {
  for (; next < source_objects_.size(); ++next) {
    const SourceObject& source_object = source_objects_[next];
    if (source_object.source != nullptr && source_object.source->kind == kind &&
        source_object.source->group.starts_with(group)) {
      return &source_objects_[next++];
    }
  }
  return nullptr;
}

void SourcesReader::ReadGroups() {
  std::size_t next = 0;
  while (const SourceObject* source_object = EachOf("Workload", "scheduling", next)) {
    if (IsGangApiWorkload(source_object->object.value)) continue;
    Add(*source_object, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
      ReadPodGroupWorkload(source_object->object.value, context, members_, read);
    });
  }
  ReadComposites();
  next = 0;
  while (const SourceObject* source_object = EachOf("PodGroup", "scheduling.k8s.io", next)) {
    if (HasParent(source_object->object.value)) continue;
    Add(*source_object, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
      ReadPodGroup(source_object->object.value, context, members_, read);
    });
  }
  next = 0;
  while (const SourceObject* source_object = EachOf("PodGroup", "scheduling.run.ai", next)) {
    Add(*source_object, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
      ReadKaiPodGroup(source_object->object.value, context, members_, read);
    });
  }
  for (const std::string_view group : {"scheduling.x-k8s.io", "scheduling.sigs.k8s.io"}) {
    ReadSchedulerGroups(group, ReadCoschedulingPodGroup);
  }
  ReadSchedulerGroups("scheduling.volcano.sh", ReadVolcanoPodGroup);
  const ReadContext none{diagnostics_, "", JsonValue()};
  std::vector<GangWorkload> labelled;
  AddLabelledGroups({none, defaults_, find_, "Pod", "v1", ""}, members_, labelled);
  for (GangWorkload& workload : labelled) workloads_.push_back({std::move(workload), nullptr});
}

bool SourcesReader::HasParent(JsonValue object) {
  std::string_view parent;
  return object["spec"]["parentCompositePodGroupName"].get(parent) == simdjson::SUCCESS &&
         !parent.empty();
}

void SourcesReader::ReadComposites() {
  ChildGroups groups;
  for (const SourceObject& source_object : source_objects_) {
    if (source_object.source != nullptr && source_object.source->group == "scheduling.k8s.io" &&
        source_object.source->kind.ends_with("PodGroup") && HasParent(source_object.object.value)) {
      std::string why = WithFindings(source_object, [&](const SourceContext& context) {
        AddChildGroup(Found(source_object), context, groups);
      });
      if (!why.empty()) left_out_.emplace(&source_object, std::move(why));
    }
  }
  for (auto& [parent, children] : groups) SortByCreation(children);
  std::set<std::string> below;
  std::size_t next = 0;
  while (const SourceObject* source_object =
             EachOf("CompositePodGroup", "scheduling.k8s.io", next)) {
    if (HasParent(source_object->object.value)) continue;
    Add(*source_object, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
      ReadCompositePodGroup(source_object->object.value, groups, context, members_, below, read);
    });
  }
  for (const std::string_view kind : {"CompositePodGroup", "PodGroup"}) {
    next = 0;
    while (const SourceObject* source_object = EachOf(kind, "scheduling.k8s.io", next)) {
      const JsonValue group = source_object->object.value;
      if (!HasParent(group)) continue;
      Add(*source_object, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        const ObjectKey key = ReadObjectKey(group, context.read);
        if (below.contains(fmt::format("{} {}", kind, key.ToString()))) return;
        const std::string parent =
            TextMember(*Member(group, "spec"), "parentCompositePodGroupName", context.read);
        const bool has_parent = find_("CompositePodGroup", key.namespace_, parent).has_value();
        ReadGroupWithoutRoot(group, has_parent, context, members_, read);
      });
    }
  }
}

void SourcesReader::ReadKueuePodGroups() {
  for (auto it = members_.begin(); it != members_.end();) {
    if (it->first.second.kind != Kind::kKueuePodGroup) {
      ++it;
      continue;
    }
    workloads_.push_back({KueuePodGroup(it->first.first, it->first.second.name, it->second, index_,
                                        defaults_, options_.as_kueue, diagnostics_),
                          nullptr});
    it = members_.erase(it);
  }
}

void SourcesReader::ReportStrays() {
  for (auto& [key, members] : members_) {
    const auto& [name_space, reference] = key;
    GangWorkload workload;
    workload.head.key = {name_space, reference.name};
    workload.source = "v1 Pod";
    if (members.owner_title.empty()) {
      workload.notes.push_back(fmt::format("named by {}", CountedPods(members.Seen())));
    }
    workload.running = members.Seen() > 0 && members.Seen() == members.Bound();
    const bool of_workload =
        reference.kind == Kind::kWorkload || reference.kind == Kind::kWorkloadPodGroup;
    const bool there = of_workload && find_("Workload", name_space, reference.name).has_value();
    const std::int32_t seen = members.Seen();
    const std::string waiting = CountedPods(seen) + (seen == 1 ? " waits" : " wait");
    const bool of_kai_group = reference.kind == Kind::kKaiPodGroup && !reference.part.empty() &&
                              find_("PodGroup", name_space, reference.name).has_value();
    workload.waits_for =
        there ? fmt::format("Workload {} has no pod group {}; {} for it", Excerpt(reference.name),
                            Excerpt(reference.part), waiting)
        : of_kai_group
            ? fmt::format("PodGroup {} has no subgroup {}; {} for it", Excerpt(reference.name),
                          Excerpt(reference.part), waiting)
            : fmt::format("{} {} is not in the input; {} for it",
                          of_workload ? "Workload" : "PodGroup", Excerpt(reference.name), waiting);
    if (!reference.part.empty()) workload.head.key.name += "-" + reference.part;
    if (!reference.replica_key.empty()) workload.head.key.name += "-" + reference.replica_key;
    workloads_.push_back({std::move(workload), nullptr});
  }
}

}  // namespace espalier
