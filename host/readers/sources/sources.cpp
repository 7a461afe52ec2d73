#include "host/readers/sources/sources.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "host/gangs/expand.hpp"
#include "host/gangs/placement_units.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/gang_api_join.hpp"
#include "host/readers/sources/level_check.hpp"
#include "host/readers/sources/owners.hpp"
#include "host/readers/sources/pod_members.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

constexpr SourceKind kJobSource = {"Job", "batch", "batch/v1", ReadBatchJob};

// A gang workload and the object that it comes from.
struct Read {
  GangWorkload workload;
  const PodAsker* asker = nullptr;
  bool taken = false;  // a Workload of the user's takes its place
};

// Returns what a workload takes, and the units that are made of it, texts aside.
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

// Says whether the job is told to have no pods.
bool IsSuspended(JsonValue object) {
  for (const std::string_view path : {"/spec/suspend", "/spec/runPolicy/suspend"}) {
    bool suspended = false;
    if (object.at_pointer(path).get(suspended) == simdjson::SUCCESS && suspended) return true;
  }
  return false;
}

class SourcesReader {
 public:
  SourcesReader(const ObjectIndex& index, const Cluster& cluster, const ClusterDefaults& defaults,
                Trees trees, Diagnostics& diagnostics)
      : index_(index),
        cluster_(cluster),
        defaults_(defaults),
        trees_(trees),
        diagnostics_(diagnostics) {
    for (const IndexedObject& job : index.Of(ObjectKind::kJob)) {
      askers_.push_back({job, "Job", "batch/v1", &kJobSource});
    }
    for (const PodAsker& asker : index.pod_askers()) {
      if (IsGangWorkload(asker) && !Member(asker.object.value, "spec")) {
        ++result_.skipped[Name(asker)];  // cut to less than says anything
      } else {
        askers_.push_back(asker);
      }
    }
    owners_.emplace(askers_, cluster.workloads);
    find_ = [this](std::string_view kind, std::string_view name_space,
                   std::string_view name) -> std::optional<FoundObject> {
      const PodAsker* asker = owners_->Find(kind, name_space, name);
      if (asker == nullptr) return std::nullopt;
      return Found(*asker);
    };
  }

  SourcesRead Run(bool with_owned) {
    if (with_owned) ReadOwned();
    ReadPods();
    ReadAll();
    ReadUnknown();
    MoveTemplatesToParts();
    ReadGangApiWorkloads();
    ReadGroups();
    ReadKueuePodGroups();
    ReportStrays();
    Finish();
    return std::move(result_);
  }

 private:
  ReadContext ContextOf(const PodAsker& asker, Diagnostics& diagnostics) const {
    ReadContext context = asker.source == &kJobSource
                              ? index_.ContextOf(ObjectKind::kJob, asker.object, diagnostics)
                              : index_.ContextOf(asker, diagnostics);
    context.takes_byte_suffix = true;
    return context;
  }

  FoundObject Found(const PodAsker& asker) const {
    const ReadContext context = ContextOf(asker, diagnostics_);
    return {asker.object.value, context.file, asker.kind, context.number};
  }

  // Calls `read(context)` for one object, unless reading was stopped.
  template <class ReadOne>
  void With(const PodAsker& asker, Diagnostics& diagnostics, ReadOne read) const {
    if (index_.abandoned()) return;
    const ReadContext context = ContextOf(asker, diagnostics);
    read(SourceContext{context, defaults_, find_, asker.source->kind,
                       asker.version.empty() ? KnownVersion(*asker.source) : asker.version,
                       asker.source->group});
  }

  static std::string_view KnownVersion(const SourceKind& kind) {
    return kind.versions.substr(0, kind.versions.find(' '));
  }

  static bool IsGangWorkload(const PodAsker& asker) {
    return asker.source != nullptr && asker.source->kind == "Workload";
  }

  // Workloads of Kueue's are just that.
  static std::string Name(const PodAsker& asker) {
    return IsGangWorkload(asker) ? fmt::format("Workload.{}", asker.source->group)
                                 : std::string(asker.kind);
  }

  // Why an object is not read by itself; empty: it is.
  std::string WhyLeftOut(const PodAsker& asker) const {
    if (owners_->HasWorkload(asker)) return "with a Workload";
    if (owners_->IsPartOfAnother(asker)) return "of another object";
    if (owners_->PodsHaveWorkload(asker)) return "with a Workload";
    if (owners_->ControllerHasWorkload(asker.object.value)) return "with a Workload";
    if (asker.source == &kJobSource && !IsKueueJob(asker.object.value)) {
      std::int64_t active = 0;
      if (asker.object.value["status"]["active"].get(active) == simdjson::SUCCESS && active > 0) {
        return "that runs without Kueue";
      }
      if (!Member(asker.object.value, "spec")) return "without Kueue labels or annotations";
    }
    return "";
  }

  void ReadPods() {
    PodMembers pods = ReadPodMembers(index_, cluster_, defaults_, *owners_, diagnostics_);
    members_ = std::move(pods.members);
    for (GangWorkload& alone : pods.alone) workloads_.push_back({std::move(alone), nullptr});
    for (const auto& [why, count] : pods.skipped) result_.skipped[why] += count;
  }

  // Jobs and the like that a Workload of Kueue's stands for: what they ask for now.
  void ReadOwned() {
    for (const PodAsker& asker : askers_) {
      if (asker.source == nullptr || asker.source->read == nullptr) continue;
      if (!owners_->HasWorkload(asker) || owners_->IsPartOfAnother(asker)) continue;
      Diagnostics findings(false);  // what is wrong with it is Kueue's affair: it was admitted
      std::vector<GangWorkload> read;
      With(asker, findings, [&](const SourceContext& context) {
        if (!context.read.HasUnreadableNumber()) {
          asker.source->read(asker.object.value, context, read);
        }
      });
      for (GangWorkload& job : read) {
        index_.ChargeMade(BytesOf(job));
        Expand(job);
        if (IsSuspended(asker.object.value)) {
          job.head.conditions.push_back({"Suspended", "True", "", ""});
        }
        result_.owned.push_back(std::move(job));
      }
    }
  }

  void ReadAll() {
    std::vector<const PodAsker*> readable;
    for (const PodAsker& asker : askers_) {
      if (asker.source == nullptr) continue;
      const std::string why = WhyLeftOut(asker);
      const bool is_job = asker.source == &kJobSource;
      if (!why.empty()) {
        if (is_job && why == "with a Workload") {
          ++result_.objects["Job"];
        } else {
          ++result_.skipped[fmt::format("{} {}", Name(asker), why)];
        }
        if (is_job) {
          CheckKeys(ObjectKind::kJob, asker.object.value, ContextOf(asker, diagnostics_));
        }
        continue;
      }
      ++result_.objects[Name(asker)];
      readable.push_back(&asker);
    }
    std::vector<std::vector<GangWorkload>> read(readable.size());
    std::vector<Diagnostics> findings(readable.size(), Diagnostics(diagnostics_.strict()));
    tbb::parallel_for(std::size_t{0}, readable.size(), [&](std::size_t i) {
      const PodAsker& asker = *readable[i];
      With(asker, findings[i], [&](const SourceContext& context) {
        if (context.read.HasUnreadableNumber()) return;
        if (asker.source == &kJobSource) {
          CheckKeys(ObjectKind::kJob, asker.object.value, context.read);
        } else {
          CheckRepeatedKeys(asker.object.value, context.read);
          CheckVersion(asker.source->kind, asker.source->versions, asker.object.value,
                       context.read);
        }
        if (asker.source->read != nullptr) asker.source->read(asker.object.value, context, read[i]);
      });
      for (const GangWorkload& workload : read[i]) index_.ChargeMade(BytesOf(workload));
    });
    for (std::size_t i = 0; i < readable.size(); ++i) {
      diagnostics_.Append(std::move(findings[i]));
      const bool runs = RunsByItsPods(*readable[i]);
      for (GangWorkload& workload : read[i]) {
        workload.running = workload.running || runs;
        workloads_.push_back({std::move(workload), readable[i]});
      }
    }
  }

  // Says whether pods of a Deployment or the like have nodes. Kueue makes Workloads of its pods, so
  // that its status may know of none that is ready yet.
  bool RunsByItsPods(const PodAsker& asker) const {
    const bool of_pods =
        asker.source->read == ReadReplicatedPods || asker.source->read == ReadStatefulSet;
    return of_pods && owners_->HasBoundPods(asker);
  }

  // An object of a kind that is not known but asks for pods is named, and not placed.
  void ReadUnknown() {
    for (const PodAsker& asker : askers_) {
      if (asker.source != nullptr) continue;
      if (const std::string why = WhyLeftOut(asker); !why.empty()) {
        ++result_.skipped[fmt::format("{} {}", asker.kind, why)];
        continue;
      }
      const ReadContext context = ContextOf(asker, diagnostics_);
      GangWorkload workload;
      workload.head = ReadWorkloadHead(asker.object.value, context);
      workload.source = fmt::format("{} {}", asker.version, asker.kind);
      const std::size_t slash = asker.version.find('/');
      workload.true_workload = TrueWorkload{
          slash == asker.version.npos ? "" : std::string(asker.version.substr(0, slash)),
          std::string(asker.kind), workload.head.key.name};
      workload.waits_for = fmt::format(
          "{} of {} is not a kind that is read, but it asks for pods ({})", Excerpt(asker.kind),
          Excerpt(asker.version.empty() ? "no apiVersion" : asker.version), Excerpt(asker.pods_at));
      ++result_.objects[std::string(asker.kind)];
      workloads_.push_back({std::move(workload), &asker});
    }
  }

  // Pods whose template says that they are part of another description are placed as that says.
  void MoveTemplatesToParts() {
    std::vector<Read> left;
    for (Read& read : workloads_) {
      if (!MoveToParts(read)) left.push_back(std::move(read));
    }
    workloads_ = std::move(left);
  }

  bool MoveToParts(Read& read) {
    GangWorkload& workload = read.workload;
    std::vector<EqGroup*> groups;
    for (GangGroup& gang : workload.gang_groups) {
      for (RankedGroup& ranked : gang.ranked_groups) {
        for (EqGroup& group : ranked.eq_groups) groups.push_back(&group);
      }
    }
    const bool names_parts =
        !groups.empty() && std::ranges::all_of(groups, [](const EqGroup* group) {
          return group->part_of.kind == Kind::kWorkloadPodGroup ||
                 group->part_of.kind == Kind::kPodGroup;
        });
    if (!names_parts || read.asker == nullptr) return false;
    std::set<PartReference> with_pods;
    for (const auto& [key, value] : members_) with_pods.insert(key.second);
    for (EqGroup* group : groups) {
      if (with_pods.contains(group->part_of)) continue;
      PartMembers& members = members_[{workload.head.key.namespace_, group->part_of}];
      MemberPods pods{*group};
      if (workload.replicas && !workload.whole) {
        pods.group.max_count = pods.group.max_count.value_or(1) * *workload.replicas;
      }
      members.owner = read.asker->object.value;
      members.owner_title = fmt::format("{} {}", read.asker->kind, workload.head.key.ToString());
      members.pods.push_back(std::move(pods));
    }
    return true;
  }

  const PodAsker* EachOf(std::string_view kind, std::string_view group, std::size_t& next) const {
    for (; next < askers_.size(); ++next) {
      const PodAsker& asker = askers_[next];
      if (asker.source != nullptr && asker.source->kind == kind &&
          asker.source->group.starts_with(group)) {
        return &askers_[next++];
      }
    }
    return nullptr;
  }

  void ReadGangApiWorkloads() {
    Referring referring;
    for (std::size_t i = 0; i < workloads_.size(); ++i) NoteReferences(i, referring);
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("Workload", "scheduling", next)) {
      if (!IsGangApiWorkload(asker->object.value)) continue;
      With(*asker, diagnostics_, [&](const SourceContext& context) {
        GangApiWorkload user = ReadGangApiWorkload(asker->object.value, context);
        TakeTheDefault(user.workload, referring);
        JoinPods(user, members_);
        workloads_.push_back({std::move(user.workload), asker});
        NoteReferences(workloads_.size() - 1, referring);
      });
    }
    std::erase_if(workloads_, [](const Read& read) { return read.taken; });
  }

  // What workloads refer to, by namespace: a true workload, by its group, kind and name, or the
  // user's own Workload, by its name alone.
  using Reference = std::tuple<std::string, std::string, std::string, std::string>;
  using Referring = std::multimap<Reference, std::size_t>;

  static Reference ReferenceTo(const std::string& name_space, const TrueWorkload& of) {
    return {name_space, of.api_group, of.kind, of.name};
  }

  // Adds what the workload at the index refers to.
  void NoteReferences(std::size_t index, Referring& referring) const {
    const Read& read = workloads_[index];
    if (read.asker == nullptr) return;
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

  // The user's own Workload takes the place of what its true workload would give.
  void TakeTheDefault(GangWorkload& user, const Referring& referring) {
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
    Read& of_default = workloads_[first];
    if (!user.true_workload) user.true_workload = of_default.workload.true_workload;
    AdoptDefaults(user, of_default.workload);
    of_default.taken = true;
  }

  void ReadGroups() {
    std::vector<GangWorkload> read;
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("Workload", "scheduling", next)) {
      if (IsGangApiWorkload(asker->object.value)) continue;
      With(*asker, diagnostics_, [&](const SourceContext& context) {
        ReadPodGroupWorkload(asker->object.value, context, members_, read);
      });
    }
    ReadComposites(read);
    next = 0;
    while (const PodAsker* asker = EachOf("PodGroup", "scheduling.k8s.io", next)) {
      if (HasParent(asker->object.value)) continue;
      With(*asker, diagnostics_, [&](const SourceContext& context) {
        ReadPodGroup(asker->object.value, context, members_, read);
      });
    }
    next = 0;
    while (const PodAsker* asker = EachOf("PodGroup", "scheduling.run.ai", next)) {
      With(*asker, diagnostics_, [&](const SourceContext& context) {
        ReadKaiPodGroup(asker->object.value, context, members_, read);
      });
    }
    for (GangWorkload& workload : read) workloads_.push_back({std::move(workload), nullptr});
  }

  static bool HasParent(JsonValue object) {
    std::string_view parent;
    return object["spec"]["parentCompositePodGroupName"].get(parent) == simdjson::SUCCESS &&
           !parent.empty();
  }

  void ReadComposites(std::vector<GangWorkload>& read) {
    ChildGroups groups;
    for (const PodAsker& asker : askers_) {
      if (asker.source != nullptr && asker.source->group == "scheduling.k8s.io" &&
          asker.source->kind.ends_with("PodGroup") && HasParent(asker.object.value)) {
        With(asker, diagnostics_,
             [&](const SourceContext& context) { AddChildGroup(Found(asker), context, groups); });
      }
    }
    for (auto& [parent, children] : groups) SortByCreation(children);
    std::set<std::string> below;
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("CompositePodGroup", "scheduling.k8s.io", next)) {
      if (HasParent(asker->object.value)) continue;
      With(*asker, diagnostics_, [&](const SourceContext& context) {
        ReadCompositePodGroup(asker->object.value, groups, context, members_, below, read);
      });
    }
    for (const std::string_view kind : {"CompositePodGroup", "PodGroup"}) {
      next = 0;
      while (const PodAsker* asker = EachOf(kind, "scheduling.k8s.io", next)) {
        const JsonValue group = asker->object.value;
        if (!HasParent(group)) continue;
        With(*asker, diagnostics_, [&](const SourceContext& context) {
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

  void ReadKueuePodGroups() {
    for (auto it = members_.begin(); it != members_.end();) {
      if (it->first.second.kind != Kind::kKueuePodGroup) {
        ++it;
        continue;
      }
      workloads_.push_back({KueuePodGroup(it->first.first, it->first.second.name, it->second,
                                          index_, defaults_, diagnostics_),
                            nullptr});
      it = members_.erase(it);
    }
  }

  // Pods that name what is not in the input stay pending, in one line for each thing they name.
  void ReportStrays() {
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
      const bool there = of_workload && HasWorkload(name_space, reference.name);
      const std::int32_t seen = members.Seen();
      const std::string waiting = CountedPods(seen) + (seen == 1 ? " waits" : " wait");
      const bool of_kai_group = reference.kind == Kind::kKaiPodGroup && !reference.part.empty() &&
                                find_("PodGroup", name_space, reference.name).has_value();
      workload.waits_for =
          there ? fmt::format("Workload {} has no pod group {}; {} for it", Excerpt(reference.name),
                              Excerpt(reference.part), waiting)
          : of_kai_group ? fmt::format("PodGroup {} has no subgroup {}; {} for it",
                                       Excerpt(reference.name), Excerpt(reference.part), waiting)
                         : fmt::format("{} {} is not in the input; {} for it",
                                       of_workload ? "Workload" : "PodGroup",
                                       Excerpt(reference.name), waiting);
      if (!reference.part.empty()) workload.head.key.name += "-" + reference.part;
      if (!reference.replica_key.empty()) workload.head.key.name += "-" + reference.replica_key;
      workloads_.push_back({std::move(workload), nullptr});
    }
  }

  bool HasWorkload(const std::string& name_space, const std::string& name) const {
    return find_("Workload", name_space, name).has_value();
  }

  void Finish() {
    for (Read& read : workloads_) {
      GangWorkload& workload = read.workload;
      Expand(workload);
      if (read.asker != nullptr) {
        CheckLevels(workload, cluster_.topologies, read.asker->object.value,
                    ContextOf(*read.asker, diagnostics_));
      }
      if (workload.running) {
        workload.notes.push_back("its pods run already");
      } else if (!HasCondition(workload.head, "Finished")) {
        AddUnits(read);
      }
      result_.workloads.push_back(std::move(workload));
    }
  }

  void AddUnits(Read& read) {
    if (IsTree(read.workload)) {
      result_.trees.push_back({result_.units.size(), result_.workloads.size()});
      result_.units.push_back(TreeUnit(read.workload));
    } else if (HasRoom(read)) {
      std::ranges::move(PlacementUnits(read.workload), std::back_inserter(result_.units));
    }
  }

  bool IsTree(const GangWorkload& workload) const {
    switch (trees_) {
      case Trees::kNone:
        return false;
      case Trees::kNested:
        return IsNested(workload);
      case Trees::kAll:
        return workload.waits_for.empty() && !workload.gang_groups.empty();
    }
    return false;
  }

  // Whether the units of a workload may take the memory that they need.
  bool HasRoom(const Read& read) {
    constexpr std::int64_t kAlwaysRoom = 64;
    // With its template, its texts and what is answered.
    constexpr std::size_t kBytesOfAUnit = std::size_t{8} << 10;
    const std::int64_t units = CountUnits(read.workload);
    if (units <= kAlwaysRoom || read.asker == nullptr) return true;
    const ReadContext context = ContextOf(*read.asker, diagnostics_);
    return context.Charge(read.asker->object.value, static_cast<std::size_t>(units), kBytesOfAUnit);
  }

  const ObjectIndex& index_;
  const Cluster& cluster_;
  const ClusterDefaults& defaults_;
  const Trees trees_;
  Diagnostics& diagnostics_;
  std::vector<PodAsker> askers_;
  std::optional<OwnerIndex> owners_;
  FindObject find_;
  Members members_;
  std::vector<Read> workloads_;
  SourcesRead result_;
};

}  // namespace

SourcesRead ReadSources(const ObjectIndex& index, const Cluster& cluster,
                        const ClusterDefaults& defaults, bool with_owned, Trees trees,
                        Diagnostics& diagnostics) {
  return SourcesReader(index, cluster, defaults, trees, diagnostics).Run(with_owned);
}

}  // namespace espalier
