#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/sources/replicas.hpp"
#include "host/readers/sources/sources_reader.hpp"
#include "host/readers/sources/template_source.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

// Returns why pods of the workload cannot be placed whose shape nothing says; "" where there are
// none.
std::string WhyWithoutShape(const GangWorkload& workload) {
  for (const GangGroup& gang : workload.gang_groups) {
    for (const EqGroup* group : GroupsOf(gang)) {
      if (group->pod_template || group->max_count.value_or(1) == 0) continue;
      return fmt::format(
          "the shape of the pods of eqGroup {} is not known: it has no template, and neither its "
          "true workload nor pods of it in the input have one",
          Excerpt(group->name));
    }
  }
  return "";
}

}  // namespace

void SourcesReader::MoveTemplatesToParts() {
  std::vector<SourceRead> left;
  for (SourceRead& read : workloads_) {
    if (MoveToParts(read)) continue;
    if (read.source_object != nullptr && owners_->PodsAreGrouped(*read.source_object)) {
      ++result_.skipped[Name(*read.source_object) + " whose pods are a pod group"];
    } else {
      left.push_back(std::move(read));
    }
  }
  workloads_ = std::move(left);
}

bool SourcesReader::MoveToParts(SourceRead& read) {
  GangWorkload& workload = read.workload;
  std::vector<EqGroup*> groups;
  for (GangGroup& gang : workload.gang_groups) {
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) groups.push_back(&group);
    }
  }
  const bool names_parts = !groups.empty() && std::ranges::all_of(groups, [](const EqGroup* group) {
    return group->part_of.kind == Kind::kWorkloadPodGroup || IsPodGroup(group->part_of.kind);
  });
  if (!names_parts || read.source_object == nullptr) return false;
  std::set<PartReference> with_pods;
  for (const auto& [key, value] : members_) with_pods.insert(key.second);
  for (EqGroup* group : groups) {
    if (with_pods.contains(group->part_of)) continue;
    PartMembers& members = members_[{workload.head.key.namespace_, group->part_of}];
    MemberPods pods{*group};
    const bool of_one = !workload.whole || workload.replica_mode == ReplicaMode::kReplicatedGangs;
    if (workload.replicas && of_one) {
      pods.group.max_count = pods.group.max_count.value_or(1) * *workload.replicas;
    }
    members.owner = read.source_object->object.value;
    members.owner_title =
        fmt::format("{} {}", read.source_object->kind, workload.head.key.ToString());
    members.pods.push_back(std::move(pods));
  }
  return true;
}

void SourcesReader::ReadGangApiWorkloads() {
  Referring referring;
  for (std::size_t i = 0; i < workloads_.size(); ++i) NoteReferences(i, referring);
  std::vector<std::pair<GangApiWorkload, const SourceObject*>> users;
  std::size_t next = 0;
  while (const SourceObject* source_object = EachOf("Workload", "scheduling", next)) {
    if (!IsGangApiWorkload(source_object->object.value)) continue;
    const std::string why = WithFindings(*source_object, [&](const SourceContext& context) {
      users.emplace_back(ReadGangApiWorkload(source_object->object.value, context), source_object);
    });
    if (why.empty() || users.empty() || users.back().second != source_object) {
      if (!why.empty()) workloads_.push_back({LeftOut(*source_object, why), source_object});
      continue;
    }
    LeaveOut(why, users.back().first.workload);
  }
  // An owner has one Workload (003): that which its template names, else the oldest.
  std::ranges::sort(users, {}, [&](const auto& user) {
    const Workload& head = user.first.workload.head;
    const bool is_named = referring.contains(Reference(head.key.namespace_, "", "", head.key.name));
    return std::tuple(!is_named, head.creation_seconds, head.key);
  });
  std::map<Reference, std::string> described;  // true workload -> its Workload
  for (auto& [user, source_object] : users) {
    GangWorkload& workload = user.workload;
    const ObjectKey& key = workload.head.key;
    const auto& of = workload.true_workload;
    if (of && described.contains(ReferenceTo(key.namespace_, *of))) {
      workload.waits_for =
          fmt::format("Workload {} describes {} {}, which has one Workload, already",
                      described[ReferenceTo(key.namespace_, *of)], of->kind, of->name);
    } else {
      TakeTheDefault(workload, referring);
      if (of) described.emplace(ReferenceTo(key.namespace_, *of), key.name);
    }
    With(*source_object, diagnostics_, [&](const SourceContext& context) {
      TakeQueueAndPriority(members_, context, workload.head);
    });
    for (GangWorkload& joined : JoinReplicas(std::move(user), members_)) {
      if (joined.waits_for.empty()) joined.waits_for = WhyWithoutShape(joined);
      workloads_.push_back({std::move(joined), source_object});
    }
  }
  std::erase_if(workloads_, [](const SourceRead& read) { return read.taken; });
}

void SourcesReader::HoldBackTemplates() {
  for (SourceRead& read : workloads_) {
    GangWorkload& workload = read.workload;
    if (read.source_object == nullptr || IsGangWorkload(*read.source_object)) continue;
    if (read.source_object->kind.ends_with("PodGroup")) continue;  // which took what names it
    for (const GangGroup& gang : workload.gang_groups) {
      for (const EqGroup* group : GroupsOf(gang)) HoldBack(*group, workload);
    }
  }
}

void SourcesReader::HoldBack(const EqGroup& group, GangWorkload& workload) const {
  const PartReference& part = group.part_of;
  const bool of_workload = part.kind == Kind::kWorkload || part.kind == Kind::kWorkloadPodGroup;
  if (!workload.waits_for.empty() || (!of_workload && !IsPodGroup(part.kind))) return;
  const std::string_view kind = of_workload ? "Workload" : "PodGroup";
  const bool there = find_(kind, workload.head.key.namespace_, part.name).has_value();
  workload.waits_for = fmt::format(
      "its template names {} {}, which {}; its pods wait for it", kind, Excerpt(part.name),
      there ? "does not describe all of its pods" : "is not in the input");
}

SourcesReader::Reference SourcesReader::ReferenceTo(const std::string& name_space,
                                                    const TrueWorkload& of) {
  return {name_space, of.api_group, of.kind, of.name};
}

void SourcesReader::NoteReferences(std::size_t index, Referring& referring) const {
  const SourceRead& read = workloads_[index];
  if (read.source_object == nullptr) return;
  const std::string& name_space = read.workload.head.key.namespace_;
  if (const auto& of = read.workload.true_workload) {
    referring.emplace(ReferenceTo(name_space, *of), index);
  }
  for (const GangGroup& gang : read.workload.gang_groups) {
    for (const RankedGroup& ranked : gang.ranked_groups) {
      for (const EqGroup& group : ranked.eq_groups) {
        if (group.part_of.kind != Kind::kWorkload) continue;
        referring.emplace(Reference(name_space, "", "", group.part_of.name), index);
      }
    }
  }
}

void SourcesReader::TakeTheDefault(GangWorkload& user, const Referring& referring) {
  const std::string& name_space = user.head.key.namespace_;
  std::size_t first = workloads_.size();
  const auto look_at = [&](const Reference& reference) {
    const auto [begin, end] = referring.equal_range(reference);
    for (auto it = begin; it != end; ++it) {
      if (!workloads_[it->second].taken) first = std::min(first, it->second);
    }
  };
  look_at(Reference(name_space, "", "", user.head.key.name));
  if (user.true_workload) look_at(ReferenceTo(name_space, *user.true_workload));
  if (first == workloads_.size()) return;
  SourceRead& of_default = workloads_[first];
  if (of_default.source_object->source == nullptr) ReadItsTemplates(of_default);
  if (!user.true_workload) user.true_workload = of_default.workload.true_workload;
  AdoptDefaults(user, of_default.workload);
  of_default.taken = true;
}

void SourcesReader::ReadItsTemplates(SourceRead& read) const {
  const SourceObject& source_object = *read.source_object;
  const ReadContext context = ContextOf(source_object, diagnostics_);
  if (context.HasUnreadableNumber()) return;
  GangWorkload& workload = read.workload;
  ReadByTemplates(source_object.object.value,
                  {context, defaults_, find_, source_object.kind, source_object.version,
                   workload.true_workload->api_group},
                  workload);
  workload.running = owners_->HasBoundPods(source_object);
}

}  // namespace espalier
