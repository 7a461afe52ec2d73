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
#include "host/gangs/gang_counts.hpp"
#include "host/gangs/placement_units.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/gang_api_join.hpp"
#include "host/readers/sources/job_object.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/kai_min_member.hpp"
#include "host/readers/sources/left_out.hpp"
#include "host/readers/sources/level_check.hpp"
#include "host/readers/sources/managed_jobs.hpp"
#include "host/readers/sources/owners.hpp"
#include "host/readers/sources/pod_members.hpp"
#include "host/readers/sources/ray_clusters.hpp"
#include "host/readers/sources/replicas.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/template_source.hpp"
#include "host/readers/sources/topology_claims.hpp"
#include "host/readers/twins.hpp"
#include "host/readers/workload_webhook.hpp"

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

class SourcesReader {
 public:
  SourcesReader(const ObjectIndex& index, const Cluster& cluster, const ClusterDefaults& defaults,
                const SourcesOptions& options, Diagnostics& diagnostics)
      : index_(index),
        cluster_(cluster),
        defaults_(defaults),
        options_(options),
        diagnostics_(diagnostics),
        nodes_(cluster.nodes),
        managed_(cluster, defaults) {
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
    LeaveOutTwins();
    NoteDescribed();
    owners_.emplace(askers_, cluster.workloads);
    find_ = [this](std::string_view kind, std::string_view name_space,
                   std::string_view name) -> std::optional<FoundObject> {
      const PodAsker* asker = owners_->Find(kind, name_space, name);
      if (asker == nullptr) return std::nullopt;
      return Found(*asker);
    };
  }

  SourcesRead Run() {
    if (options_.with_owned) ReadOwned();
    ReadPods();
    ReadAll();
    ReadUnknown();
    MoveTemplatesToParts();
    ReadGangApiWorkloads();
    ReadGroups();
    ReadKueuePodGroups();
    HoldBackTemplates();
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

  // Of objects with the same identity only the first is read.
  void LeaveOutTwins() {
    SeenObjects seen;
    std::erase_if(askers_, [&](const PodAsker& asker) {
      const IndexedObject* first = seen.FindOrAdd(asker);
      if (first == nullptr) return false;
      Diagnostics findings(diagnostics_.strict());
      const ReadContext context = ContextOf(asker, findings);
      const bool same = ReportTwin(*first, asker.object, SaySame(first->value, asker.object.value),
                                   index_, context);
      const std::string why = diagnostics_.AppendObject(std::move(findings));
      if (!why.empty()) workloads_.push_back({LeftOut(asker, why), nullptr});
      return same || !why.empty();
    });
  }

  // What names an object: namespace, kind and name.
  using ObjectName = std::tuple<std::string_view, std::string_view, std::string_view>;

  static std::string_view NamespaceIn(JsonValue object) {
    const auto metadata = Member(object, "metadata");
    const std::string_view name_space =
        metadata && metadata->is_object() ? TextOf(*metadata, "namespace") : std::string_view();
    return name_space.empty() ? kDefaultNamespace : name_space;
  }

  // Notes the objects that Workloads of the gang API describe.
  void NoteDescribed() {
    for (const PodAsker& asker : askers_) {
      JsonValue reference;
      if (!IsGangWorkload(asker) ||
          asker.object.value["spec"]["controllerRef"].get(reference) != simdjson::SUCCESS ||
          !reference.is_object()) {
        continue;
      }
      described_.insert(
          {NamespaceIn(asker.object.value), TextOf(reference, "kind"), TextOf(reference, "name")});
    }
  }

  // Returns whether the object is read as Kueue does (R30.1): with a Workload of the gang API its
  // gangs count.
  bool IsAsKueue(const PodAsker& asker) const {
    if (!AsKueue()) return false;
    const auto metadata = Member(asker.object.value, "metadata");
    const std::string_view name =
        metadata && metadata->is_object() ? TextOf(*metadata, "name") : std::string_view();
    return !described_.contains({NamespaceIn(asker.object.value), asker.kind, name});
  }

  // A workload that stands for an object that is left out.
  GangWorkload LeftOut(const PodAsker& asker, const std::string& why) const {
    Diagnostics known;
    return LeftOutObject(asker.object.value, asker.version, asker.kind, ContextOf(asker, known),
                         why);
  }

  // As With. Returns why the object is left out; "" when it is not.
  template <class ReadOne>
  std::string WithFindings(const PodAsker& asker, ReadOne read) {
    Diagnostics findings(diagnostics_.strict());
    With(asker, findings, read);
    const auto known = left_out_.find(&asker);
    return known != left_out_.end() ? known->second
                                    : diagnostics_.AppendObject(std::move(findings));
  }

  // Reads what an object describes, with `read(context, workloads)`.
  template <class ReadOne>
  void Add(const PodAsker& asker, ReadOne read) {
    std::vector<GangWorkload> workloads;
    const std::string why =
        WithFindings(asker, [&](const SourceContext& context) { read(context, workloads); });
    if (!why.empty() && workloads.empty()) workloads.push_back(LeftOut(asker, why));
    for (GangWorkload& workload : workloads) {
      LeaveOut(why, workload);
      workloads_.push_back({std::move(workload), &asker});
    }
  }

  // Calls `read(context)` for one object, unless reading was stopped.
  template <class ReadOne>
  void With(const PodAsker& asker, Diagnostics& diagnostics, ReadOne read) const {
    if (index_.abandoned()) return;
    const ReadContext context = ContextOf(asker, diagnostics);
    read(SourceContext{context, defaults_, find_, asker.source->kind,
                       asker.version.empty() ? KnownVersion(*asker.source) : asker.version,
                       asker.source->group, IsAsKueue(asker)});
  }

  // As in SourceContext.
  bool AsKueue() const { return options_.trees == Trees::kNone; }

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
    if (owners_->PodsAreGrouped(asker)) return "whose pods are a pod group";
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
    PodMembers pods =
        ReadPodMembers(index_, cluster_, defaults_, *owners_, AsKueue(), diagnostics_);
    members_ = std::move(pods.members);
    for (GangWorkload& alone : pods.alone) workloads_.push_back({std::move(alone), nullptr});
    for (const auto& [why, count] : pods.skipped) result_.skipped[why] += count;
    if (options_.on_job) ShowPods();
  }

  // Shows `on_job` the pods that are yet to be placed.
  void ShowPods() {
    const std::vector<GangWorkload> nothing;
    for (const IndexedObject& pod : index_.Of(ObjectKind::kPod)) {
      if (pod.value["spec"]["nodeName"].is_string()) continue;
      Diagnostics said;
      const ReadContext context = index_.ContextOf(ObjectKind::kPod, pod, said);
      options_.on_job({pod.value,
                       SourceContext{context, defaults_, find_, "Pod", "v1", "", AsKueue()},
                       nothing, cluster_});
    }
  }

  // Jobs and the like that a Workload of Kueue's stands for: what they ask for now.
  void ReadOwned() {
    for (const PodAsker& asker : askers_) {
      if (asker.source == nullptr || asker.source->read == nullptr) continue;
      if (!owners_->HasWorkload(asker) || owners_->IsPartOfAnother(asker)) continue;
      const PodAsker* cluster = RayClusterOf(asker, askers_, *owners_);
      for (GangWorkload& job : ReadAdmitted(asker)) {
        index_.ChargeMade(BytesOf(job));
        Expand(job);
        if (cluster != nullptr) {  // which the autoscaler changes, and not the job (W6.1)
          for (GangWorkload& now : ReadAdmitted(*cluster)) {
            Expand(now);
            TakeCounts(now, job);
          }
        }
        if (Autoscales(asker) || (cluster != nullptr && Autoscales(*cluster)))
          MarkElastic(job.head);
        if (IsSuspended(asker.object.value)) {
          job.head.conditions.push_back({"Suspended", "True", "", ""});
        }
        result_.owned.push_back(std::move(job));
      }
    }
  }

  // Reads an object that was admitted: what is wrong with it is Kueue's affair.
  std::vector<GangWorkload> ReadAdmitted(const PodAsker& asker) const {
    Diagnostics findings(false);
    std::vector<GangWorkload> read;
    With(asker, findings, [&](const SourceContext& context) {
      if (!context.read.HasUnreadableNumber()) {
        asker.source->read(asker.object.value, context, read);
      }
    });
    return read;
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
          WithFindings(asker, [&](const SourceContext& context) {
            CheckKeys(ObjectKind::kJob, asker.object.value, context.read);
          });
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
    if (options_.on_job) {
      for (std::size_t i = 0; i < readable.size(); ++i) {
        Diagnostics said;
        With(*readable[i], said, [&](const SourceContext& context) {
          options_.on_job({readable[i]->object.value, context, read[i], cluster_});
        });
      }
    }
    for (std::size_t i = 0; i < readable.size(); ++i) {
      std::string why = diagnostics_.AppendObject(std::move(findings[i]));
      if (readable[i]->source->read == nullptr) {
        if (!why.empty()) left_out_.emplace(readable[i], std::move(why));  // read later
        continue;
      }
      const bool runs = RunsByItsPods(*readable[i]);
      if (!why.empty() && read[i].empty()) read[i].push_back(LeftOut(*readable[i], why));
      for (GangWorkload& workload : read[i]) {
        workload.running = workload.running || runs;
        LeaveOut(why, workload);
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
      Diagnostics findings(diagnostics_.strict());
      const ReadContext context = ContextOf(asker, findings);
      GangWorkload workload = UnknownObject(asker, context);
      diagnostics_.AppendObject(std::move(findings));  // it is not placed, whatever is wrong
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

  // Returns whether pods name an object that is a group of them.
  static bool IsPodGroup(Kind kind) {
    return kind == Kind::kPodGroup || kind == Kind::kCoschedulingPodGroup ||
           kind == Kind::kVolcanoPodGroup;
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
          return group->part_of.kind == Kind::kWorkloadPodGroup || IsPodGroup(group->part_of.kind);
        });
    if (!names_parts || read.asker == nullptr) return false;
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
    std::vector<std::pair<GangApiWorkload, const PodAsker*>> users;
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("Workload", "scheduling", next)) {
      if (!IsGangApiWorkload(asker->object.value)) continue;
      const std::string why = WithFindings(*asker, [&](const SourceContext& context) {
        users.emplace_back(ReadGangApiWorkload(asker->object.value, context), asker);
      });
      if (why.empty() || users.empty() || users.back().second != asker) {
        if (!why.empty()) workloads_.push_back({LeftOut(*asker, why), asker});
        continue;
      }
      LeaveOut(why, users.back().first.workload);
    }
    // An owner has one Workload (003): that which its template names, else the oldest.
    std::ranges::sort(users, {}, [&](const auto& user) {
      const Workload& head = user.first.workload.head;
      const bool is_named =
          referring.contains(Reference(head.key.namespace_, "", "", head.key.name));
      return std::tuple(!is_named, head.creation_seconds, head.key);
    });
    std::map<Reference, std::string> described;  // true workload -> its Workload
    for (auto& [user, asker] : users) {
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
      for (GangWorkload& joined : JoinReplicas(std::move(user), members_)) {
        workloads_.push_back({std::move(joined), asker});
      }
    }
    std::erase_if(workloads_, [](const Read& read) { return read.taken; });
  }

  // Pods whose template names what is not in the input, or what does not take them, wait for it:
  // they are never placed without it (W3.5, W4.4).
  void HoldBackTemplates() {
    for (Read& read : workloads_) {
      GangWorkload& workload = read.workload;
      if (read.asker == nullptr || IsGangWorkload(*read.asker)) continue;
      for (const GangGroup& gang : workload.gang_groups) {
        for (const EqGroup* group : GroupsOf(gang)) HoldBack(*group, workload);
      }
    }
  }

  void HoldBack(const EqGroup& group, GangWorkload& workload) const {
    const PartReference& part = group.part_of;
    const bool of_workload = part.kind == Kind::kWorkload || part.kind == Kind::kWorkloadPodGroup;
    if (!workload.waits_for.empty() || (!of_workload && !IsPodGroup(part.kind))) return;
    const std::string_view kind = of_workload ? "Workload" : "PodGroup";
    const bool there = find_(kind, workload.head.key.namespace_, part.name).has_value();
    workload.waits_for = fmt::format(
        "its template names {} {}, which {}; its pods wait for it", kind, Excerpt(part.name),
        there ? "does not describe all of its pods" : "is not in the input");
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
    if (of_default.asker->source == nullptr) ReadItsTemplates(of_default);
    if (!user.true_workload) user.true_workload = of_default.workload.true_workload;
    AdoptDefaults(user, of_default.workload);
    of_default.taken = true;
  }

  // An object of a kind that is not known has the pods of the templates that it holds.
  void ReadItsTemplates(Read& read) const {
    const PodAsker& asker = *read.asker;
    const ReadContext context = ContextOf(asker, diagnostics_);
    if (context.HasUnreadableNumber()) return;
    GangWorkload& workload = read.workload;
    ReadByTemplates(
        asker.object.value,
        {context, defaults_, find_, asker.kind, asker.version, workload.true_workload->api_group},
        workload);
    workload.running = owners_->HasBoundPods(asker);
  }

  void ReadGroups() {
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("Workload", "scheduling", next)) {
      if (IsGangApiWorkload(asker->object.value)) continue;
      Add(*asker, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        ReadPodGroupWorkload(asker->object.value, context, members_, read);
      });
    }
    ReadComposites();
    next = 0;
    while (const PodAsker* asker = EachOf("PodGroup", "scheduling.k8s.io", next)) {
      if (HasParent(asker->object.value)) continue;
      Add(*asker, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        ReadPodGroup(asker->object.value, context, members_, read);
      });
    }
    next = 0;
    while (const PodAsker* asker = EachOf("PodGroup", "scheduling.run.ai", next)) {
      Add(*asker, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        ReadKaiPodGroup(asker->object.value, context, members_, read);
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

  // Reads the pod groups of another scheduler. One of which no pod is there is what the object that
  // made it asks for, where that is in the input.
  template <class ReadGroup>
  void ReadSchedulerGroups(std::string_view group, ReadGroup read_group) {
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("PodGroup", group, next)) {
      Add(*asker, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        read_group(asker->object.value, context, members_, read);
      });
      GangWorkload& added = workloads_.back().workload;
      const bool has_pods = !added.gang_groups.empty() &&
                            !added.gang_groups.front().ranked_groups.empty() &&
                            !added.gang_groups.front().ranked_groups.front().eq_groups.empty();
      if (workloads_.back().asker != asker || has_pods || !owners_->HasController(*asker)) continue;
      workloads_.pop_back();
      ++result_.skipped["PodGroup of another object"];
    }
  }

  static bool HasParent(JsonValue object) {
    std::string_view parent;
    return object["spec"]["parentCompositePodGroupName"].get(parent) == simdjson::SUCCESS &&
           !parent.empty();
  }

  void ReadComposites() {
    ChildGroups groups;
    for (const PodAsker& asker : askers_) {
      if (asker.source != nullptr && asker.source->group == "scheduling.k8s.io" &&
          asker.source->kind.ends_with("PodGroup") && HasParent(asker.object.value)) {
        std::string why = WithFindings(asker, [&](const SourceContext& context) {
          AddChildGroup(Found(asker), context, groups);
        });
        if (!why.empty()) left_out_.emplace(&asker, std::move(why));
      }
    }
    for (auto& [parent, children] : groups) SortByCreation(children);
    std::set<std::string> below;
    std::size_t next = 0;
    while (const PodAsker* asker = EachOf("CompositePodGroup", "scheduling.k8s.io", next)) {
      if (HasParent(asker->object.value)) continue;
      Add(*asker, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        ReadCompositePodGroup(asker->object.value, groups, context, members_, below, read);
      });
    }
    for (const std::string_view kind : {"CompositePodGroup", "PodGroup"}) {
      next = 0;
      while (const PodAsker* asker = EachOf(kind, "scheduling.k8s.io", next)) {
        const JsonValue group = asker->object.value;
        if (!HasParent(group)) continue;
        Add(*asker, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
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
                                          index_, defaults_, AsKueue(), diagnostics_),
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
      const bool there = of_workload && find_("Workload", name_space, reference.name).has_value();
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

  void Finish() {
    for (Read& read : workloads_) {
      GangWorkload& workload = read.workload;
      NotePrebuilt(workload.head);
      if (options_.managed_only) JudgeManaged(read);
      if (options_.now_seconds) TakeBack(*options_.now_seconds, workload);
      nodes_.Describe(workload);
      if (read.asker != nullptr && !IsGangWorkload(*read.asker) && read.asker->kind != "PodGroup" &&
          read.asker->kind != "CompositePodGroup") {
        ApplyKaiTopology(read.asker->object.value, workload);
        ApplyKaiMinMember(read.asker->object.value, AsKueue(), workload);
      }
      Expand(workload);
      ResolveKeys(cluster_.topologies, workload);
      ResolveClaims(defaults_.claims, workload);
      if (read.asker != nullptr) {
        Diagnostics findings(diagnostics_.strict());
        CheckLevels(workload, cluster_.topologies, read.asker->object.value,
                    ContextOf(*read.asker, findings));
        LeaveOut(diagnostics_.AppendObject(std::move(findings)), workload);
      }
      if (workload.running) {
        workload.notes.push_back("its pods run already");
      } else if (!HasCondition(workload.head, "Finished")) {
        AddUnits(read);
      }
      result_.workloads.push_back(std::move(workload));
    }
  }

  // A job that names the Workload that stands for it waits for that one. Of kinds whose Workloads
  // Kueue makes by rules of their own the name is not looked at.
  void NotePrebuilt(Workload& head) const {
    constexpr std::string_view kWithout[] = {"Deployment", "ReplicaSet", "StatefulSet",
                                             "LeaderWorkerSet"};
    if (!head.owners.empty() &&
        std::ranges::find(kWithout, head.owners.back().kind) != std::end(kWithout)) {
      return;
    }
    const std::string* name = head.labels.Find(kPrebuiltWorkload);
    if (name == nullptr) name = head.annotations.Find(kPrebuiltWorkload);
    if (name == nullptr || owners_->IsWorkload(head.key.namespace_, *name)) return;
    head.reconcile_error = "prebuilt workload not found";
  }

  // Descriptions of gangs that are no jobs of Kueue's integrations are nobody's to manage.
  void JudgeManaged(Read& read) const {
    if (read.asker == nullptr) {
      if (read.workload.source == "v1 Pod") managed_.Judge("", "Pod", read.workload);
    } else if (read.asker->source != nullptr && read.asker->source->read != nullptr) {
      managed_.Judge(read.asker->source->group, read.asker->source->kind, read.workload);
    }
  }

  void TakeBack(std::int64_t now, GangWorkload& workload) {
    for (GangGroup& gang : workload.gang_groups) {
      for (std::string& name : Requeue(now, gang, workload)) {
        result_.requeued.push_back({workload.head.key.namespace_, std::move(name)});
      }
    }
  }

  void AddUnits(Read& read) {
    std::vector<Workload> units;
    if (IsTree(read.workload, options_.trees)) {
      units = TreeUnits(read.workload);
    } else if (HasRoom(read)) {
      units = PlacementUnits(read.workload);
    }
    for (Workload& unit : units) {
      std::ranges::move(SliceSizeErrors(unit.pod_sets), std::back_inserter(unit.webhook_errors));
      std::ranges::sort(unit.webhook_errors);
      result_.units.push_back(std::move(unit));
    }
  }

  // Returns whether the units of a workload may take the memory that they need.
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
  const SourcesOptions options_;
  Diagnostics& diagnostics_;
  std::vector<PodAsker> askers_;
  std::set<ObjectName> described_;
  std::optional<OwnerIndex> owners_;
  FindObject find_;
  NodeLabels nodes_;
  ManagedJobs managed_;
  Members members_;
  // Why objects are left out whose gangs are read after that was found.
  std::map<const PodAsker*, std::string> left_out_;
  std::vector<Read> workloads_;
  SourcesRead result_;
};

}  // namespace

SourcesRead ReadSources(const ObjectIndex& index, const Cluster& cluster,
                        const ClusterDefaults& defaults, const SourcesOptions& options,
                        Diagnostics& diagnostics) {
  return SourcesReader(index, cluster, defaults, options, diagnostics).Run();
}

}  // namespace espalier
