#include "host/readers/sources/sources.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "host/gangs/expand.hpp"
#include "host/gangs/gang_counts.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/asked_by_owner.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/kai_metadata.hpp"
#include "host/readers/sources/kai_min_member.hpp"
#include "host/readers/sources/level_check.hpp"
#include "host/readers/sources/ray_clusters.hpp"
#include "host/readers/sources/sources_reader.hpp"
#include "host/readers/sources/topology_claims.hpp"
#include "host/readers/twins.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

constexpr SourceKind kJobSource = {"Job", "batch", "batch/v1", ReadBatchJob};

}  // namespace

SourcesReader::SourcesReader(const ObjectIndex& index, const Cluster& cluster,
                             const ClusterDefaults& defaults, const SourcesOptions& options,
                             Diagnostics& diagnostics)
    : index_(index),
      cluster_(cluster),
      defaults_(defaults),
      options_(options),
      diagnostics_(diagnostics),
      nodes_(cluster.nodes),
      managed_(cluster, defaults) {
  for (const IndexedObject& job : index.Of(ObjectKind::kJob)) {
    source_objects_.push_back({job, "Job", "batch/v1", &kJobSource});
  }
  for (const SourceObject& source_object : index.source_objects()) {
    if (IsGangWorkload(source_object) && !Member(source_object.object.value, "spec")) {
      ++result_.skipped[Name(source_object)];  // cut to less than says anything
    } else {
      source_objects_.push_back(source_object);
    }
  }
  LeaveOutTwins();
  NoteDescribed();
  owners_.emplace(source_objects_, cluster.workloads);
  find_ = [this](std::string_view kind, std::string_view name_space,
                 std::string_view name) -> std::optional<FoundObject> {
    const SourceObject* source_object = owners_->Find(kind, name_space, name);
    if (source_object == nullptr) return std::nullopt;
    return Found(*source_object);
  };
}

SourcesRead SourcesReader::Run() {
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

ReadContext SourcesReader::ContextOf(const SourceObject& source_object,
                                     Diagnostics& diagnostics) const {
  ReadContext context = index_.ContextOf(source_object, diagnostics);
  context.takes_byte_suffix = true;
  return context;
}

FoundObject SourcesReader::Found(const SourceObject& source_object) const {
  const ReadContext context = ContextOf(source_object, diagnostics_);
  return {source_object.object.value, context.file, source_object.kind, context.number};
}

void SourcesReader::LeaveOutTwins() {
  SeenObjects seen;
  std::erase_if(source_objects_, [&](const SourceObject& source_object) {
    const IndexedObject* first = seen.FindOrAdd(source_object);
    if (first == nullptr) return false;
    Diagnostics findings(diagnostics_.strict());
    const ReadContext context = ContextOf(source_object, findings);
    const bool same =
        ReportTwin(*first, source_object.object, SaySame(first->value, source_object.object.value),
                   index_, context);
    const std::string why = diagnostics_.AppendObject(std::move(findings));
    if (!why.empty()) workloads_.push_back({LeftOut(source_object, why), nullptr});
    return same || !why.empty();
  });
}

std::string_view SourcesReader::NamespaceIn(JsonValue object) {
  const auto metadata = Member(object, "metadata");
  const std::string_view name_space =
      metadata && metadata->is_object() ? TextOf(*metadata, "namespace") : std::string_view();
  return name_space.empty() ? kDefaultNamespace : name_space;
}

void SourcesReader::NoteDescribed() {
  for (const SourceObject& source_object : source_objects_) {
    JsonValue reference;
    if (!IsGangWorkload(source_object) ||
        source_object.object.value["spec"]["controllerRef"].get(reference) != simdjson::SUCCESS ||
        !reference.is_object()) {
      continue;
    }
    described_.insert({NamespaceIn(source_object.object.value), TextOf(reference, "kind"),
                       TextOf(reference, "name")});
  }
}

bool SourcesReader::IsAsKueue(const SourceObject& source_object) const {
  if (!options_.as_kueue) return false;
  const auto metadata = Member(source_object.object.value, "metadata");
  const std::string_view name =
      metadata && metadata->is_object() ? TextOf(*metadata, "name") : std::string_view();
  return !described_.contains({NamespaceIn(source_object.object.value), source_object.kind, name});
}

GangWorkload SourcesReader::LeftOut(const SourceObject& source_object,
                                    const std::string& why) const {
  Diagnostics known;
  return LeftOutObject(source_object.object.value, source_object.version, source_object.kind,
                       ContextOf(source_object, known), why);
}

std::string_view SourcesReader::KnownVersion(const SourceKind& kind) {
  return kind.versions.substr(0, kind.versions.find(' '));
}

bool SourcesReader::IsGangWorkload(const SourceObject& source_object) {
  return source_object.source != nullptr && source_object.source->kind == "Workload";
}

std::string SourcesReader::Name(const SourceObject& source_object) {
  return IsGangWorkload(source_object) ? fmt::format("Workload.{}", source_object.source->group)
                                       : std::string(source_object.kind);
}

std::string SourcesReader::WhyLeftOut(const SourceObject& source_object) const {
  if (owners_->HasWorkload(source_object) && ReplicasWithWorkload(source_object) == 0)
    return "with a Workload";
  if (owners_->IsPartOfAnother(source_object)) return "of another object";
  if (owners_->PodsHaveWorkload(source_object)) return "with a Workload";
  if (owners_->ControllerHasWorkload(source_object.object.value)) return "with a Workload";
  if (source_object.source == &kJobSource && !IsKueueJob(source_object.object.value)) {
    std::int64_t active = 0;
    const bool counted =
        source_object.object.value["status"]["active"].get(active) == simdjson::SUCCESS &&
        active > 0;
    if ((counted || owners_->HasBoundPods(source_object)) &&
        !HasKaiTopology(source_object.object.value)) {
      return "that runs without Kueue";
    }
    if (!Member(source_object.object.value, "spec")) return "without Kueue labels or annotations";
  }
  return "";
}

std::int32_t SourcesReader::ReplicasWithWorkload(const SourceObject& source_object) const {
  if (source_object.source == nullptr || source_object.source->read != ReadLeaderWorkerSet)
    return 0;
  std::int64_t replicas = 1;
  if (source_object.object.value["spec"]["replicas"].get(replicas) != simdjson::SUCCESS) return 0;
  const std::int32_t with_workload = owners_->CountWorkloads(source_object);
  return with_workload < replicas ? with_workload : 0;
}

void SourcesReader::ReadPods() {
  PodMembers pods =
      ReadPodMembers(index_, cluster_, defaults_, *owners_, options_.as_kueue, diagnostics_);
  members_ = std::move(pods.members);
  for (GangWorkload& alone : pods.alone) workloads_.push_back({std::move(alone), nullptr});
  for (const auto& [why, count] : pods.skipped) result_.skipped[why] += count;
  if (options_.on_job) ShowPods();
}

void SourcesReader::ShowPods() {
  const std::vector<GangWorkload> nothing;
  for (const IndexedObject& pod : index_.Of(ObjectKind::kPod)) {
    if (pod.value["spec"]["nodeName"].is_string()) continue;
    Diagnostics said;
    const ReadContext context = index_.ContextOf(ObjectKind::kPod, pod, said);
    options_.on_job({pod.value,
                     SourceContext{context, defaults_, find_, "Pod", "v1", "", options_.as_kueue},
                     nothing, cluster_});
  }
}

void SourcesReader::ReadOwned() {
  for (const SourceObject& source_object : source_objects_) {
    if (source_object.source == nullptr || source_object.source->read == nullptr) continue;
    if (!owners_->HasWorkload(source_object) || owners_->IsPartOfAnother(source_object)) continue;
    const SourceObject* cluster = RayClusterOf(source_object, source_objects_, *owners_);
    for (GangWorkload& job : ReadAdmitted(source_object)) {
      index_.ChargeMade(BytesOf(job));
      Expand(job);
      if (cluster != nullptr) {  // which the autoscaler changes, and not the job (W6.1)
        for (GangWorkload& now : ReadAdmitted(*cluster)) {
          Expand(now);
          TakeCounts(now, job);
        }
      }
      if (Autoscales(source_object) || (cluster != nullptr && Autoscales(*cluster)))
        MarkElastic(job.head);
      if (IsSuspended(source_object.object.value)) {
        job.head.conditions.push_back({"Suspended", "True", "", ""});
      }
      NoteWhatWorkloadsLack(source_object.object.value, job);
      result_.owned.push_back(std::move(job));
    }
  }
}

std::vector<GangWorkload> SourcesReader::ReadAdmitted(const SourceObject& source_object) const {
  Diagnostics findings(false);
  std::vector<GangWorkload> read;
  With(source_object, findings, [&](const SourceContext& context) {
    if (!context.read.HasUnreadableNumber()) {
      source_object.source->read(source_object.object.value, context, read);
    }
  });
  return read;
}

void SourcesReader::ReadAll() {
  std::vector<const SourceObject*> readable;
  for (const SourceObject& source_object : source_objects_) {
    if (source_object.source == nullptr) continue;
    const std::string why = WhyLeftOut(source_object);
    const bool is_job = source_object.source == &kJobSource;
    if (!why.empty()) {
      if (is_job && why == "with a Workload") {
        ++result_.objects["Job"];
      } else {
        ++result_.skipped[fmt::format("{} {}", Name(source_object), why)];
      }
      if (is_job) {
        WithFindings(source_object, [&](const SourceContext& context) {
          CheckKeys(ObjectKind::kJob, source_object.object.value, context.read);
        });
      }
      continue;
    }
    ++result_.objects[Name(source_object)];
    readable.push_back(&source_object);
  }
  std::vector<std::vector<GangWorkload>> read(readable.size());
  std::vector<Diagnostics> findings(readable.size(), Diagnostics(diagnostics_.strict()));
  tbb::parallel_for(std::size_t{0}, readable.size(), [&](std::size_t i) {
    const SourceObject& source_object = *readable[i];
    With(source_object, findings[i], [&](const SourceContext& context) {
      if (context.read.HasUnreadableNumber()) return;
      if (source_object.source == &kJobSource) {
        CheckKeys(ObjectKind::kJob, source_object.object.value, context.read);
      } else {
        CheckRepeatedKeys(source_object.object.value, context.read);
        CheckVersion(source_object.source->kind, source_object.source->versions,
                     source_object.object.value, context.read);
      }
      if (source_object.source->read != nullptr)
        source_object.source->read(source_object.object.value, context, read[i]);
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
      const std::int32_t with_workload = ReplicasWithWorkload(*readable[i]);
      workload.running = with_workload == 0 && (workload.running || runs);
      if (with_workload > 0) {
        workload.notes.push_back(fmt::format("{} of its {} replicas {} a Workload already",
                                             with_workload, workload.replicas.value_or(1),
                                             with_workload == 1 ? "has" : "have"));
      }
      if (readable[i]->source == &kJobSource && !runs && owners_->HasBoundPods(*readable[i])) {
        workload.notes.push_back(
            "pods of it have nodes, although no Workload in the input admits it: they use their "
            "room beside what is placed");
      }
      LeaveOut(why, workload);
      workload.with_workload = with_workload;
      workloads_.push_back({std::move(workload), readable[i]});
    }
  }
}

bool SourcesReader::RunsByItsPods(const SourceObject& source_object) const {
  const bool of_pods =
      source_object.source->read == ReadReplicatedPods ||
      source_object.source->read == ReadStatefulSet ||
      (source_object.source == &kJobSource && !IsKueueJob(source_object.object.value));
  return of_pods && owners_->HasBoundPods(source_object);
}

void SourcesReader::ReadUnknown() {
  for (const SourceObject& source_object : source_objects_) {
    if (source_object.source != nullptr) continue;
    if (const std::string why = WhyLeftOut(source_object); !why.empty()) {
      ++result_.skipped[fmt::format("{} {}", source_object.kind, why)];
      continue;
    }
    Diagnostics findings(diagnostics_.strict());
    const ReadContext context = ContextOf(source_object, findings);
    GangWorkload workload = UnknownObject(source_object, context);
    diagnostics_.AppendObject(std::move(findings));  // it is not placed, whatever is wrong
    ++result_.objects[std::string(source_object.kind)];
    workloads_.push_back({std::move(workload), &source_object});
  }
}

void SourcesReader::Finish() {
  for (SourceRead& read : workloads_) {
    GangWorkload& workload = read.workload;
    NotePrebuilt(workload.head);
    if (options_.managed_only) JudgeManaged(read);
    if (options_.now_seconds) TakeBack(*options_.now_seconds, workload);
    if (read.source_object != nullptr && !IsGangWorkload(*read.source_object) &&
        read.source_object->kind != "PodGroup" && read.source_object->kind != "CompositePodGroup") {
      ApplyKaiTopology(read.source_object->object.value, workload);
      ApplyKaiMinMember(read.source_object->object.value, options_.as_kueue, workload);
      if (workload.running) AddRunningPods(owners_->BoundPods(*read.source_object), workload);
    }
    nodes_.Describe(workload);
    Expand(workload);
    ResolveKeys(cluster_.topologies, workload);
    ResolveClaims(defaults_.claims, workload);
    if (read.source_object != nullptr) {
      Diagnostics findings(diagnostics_.strict());
      CheckLevels(workload, cluster_.topologies, read.source_object->object.value,
                  ContextOf(*read.source_object, findings));
      LeaveOut(diagnostics_.AppendObject(std::move(findings)), workload);
    }
    if (workload.running) NoteRunning(read);
    result_.workloads.push_back(std::move(workload));
    result_.read_from.push_back(read.source_object == nullptr ? std::nullopt
                                                              : std::optional(*read.source_object));
  }
}

void SourcesReader::NoteRunning(SourceRead& read) {
  GangWorkload& workload = read.workload;
  std::int64_t wanted = 0;
  for (const GangGroup& gang : workload.gang_groups) {
    for (const EqGroup* group : GroupsOf(gang)) {
      wanted += group->count.value_or(group->min_count.value_or(0));
    }
  }
  const bool is_told = read.source_object != nullptr && read.source_object->source != &kJobSource &&
                       read.source_object->source != nullptr && RunsByItsPods(*read.source_object);
  const std::int64_t there = is_told ? std::ssize(owners_->BoundPods(*read.source_object)) : wanted;
  if (there >= wanted) {
    workload.notes.push_back("its pods run already");
    return;
  }
  workload.others_wait = fmt::format(
      "{} of its {} pods {}, and no Workload in the input has the others: where they go is not "
      "looked at",
      there, wanted, there == 1 ? "has a node" : "have nodes");
}

void SourcesReader::NotePrebuilt(Workload& head) const {
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

void SourcesReader::JudgeManaged(SourceRead& read) const {
  if (read.source_object == nullptr) {
    if (read.workload.source == "v1 Pod") managed_.Judge("", "Pod", read.workload);
  } else if (read.source_object->source != nullptr && read.source_object->source->read != nullptr) {
    managed_.Judge(read.source_object->source->group, read.source_object->source->kind,
                   read.workload);
  }
}

void SourcesReader::TakeBack(std::int64_t now, GangWorkload& workload) {
  for (GangGroup& gang : workload.gang_groups) {
    for (std::string& name : Requeue(now, gang, workload)) {
      result_.requeued.push_back({workload.head.key.namespace_, std::move(name)});
    }
  }
}

SourcesRead ReadSources(const ObjectIndex& index, const Cluster& cluster,
                        const ClusterDefaults& defaults, const SourcesOptions& options,
                        Diagnostics& diagnostics) {
  return SourcesReader(index, cluster, defaults, options, diagnostics).Run();
}

}  // namespace espalier
