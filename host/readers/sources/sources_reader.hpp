// Reads the gang workloads of an input step by step; ReadSources is its only user.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/readers/sources/gang_api_join.hpp"
#include "host/readers/sources/job_object.hpp"
#include "host/readers/sources/left_out.hpp"
#include "host/readers/sources/managed_jobs.hpp"
#include "host/readers/sources/owners.hpp"
#include "host/readers/sources/pod_members.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/sources/sources.hpp"

namespace espalier {

// A gang workload and the object that it comes from.
struct SourceRead {
  GangWorkload workload;
  const SourceObject* source_object = nullptr;
  bool taken = false;  // a Workload of the user's takes its place
};

// See ReadSources.
class SourcesReader {
 public:
  SourcesReader(const ObjectIndex& index, const Cluster& cluster, const ClusterDefaults& defaults,
                const SourcesOptions& options, Diagnostics& diagnostics);

  SourcesRead Run();

 private:
  ReadContext ContextOf(const SourceObject& source_object, Diagnostics& diagnostics) const;

  FoundObject Found(const SourceObject& source_object) const;

  // Leaves out all but the first of objects with the same identity.
  void LeaveOutTwins();

  // The name of an object: namespace, kind and name.
  using ObjectName = std::tuple<std::string_view, std::string_view, std::string_view>;

  static std::string_view NamespaceIn(JsonValue object);

  // Notes the objects that Workloads of the gang API describe.
  void NoteDescribed();

  // Returns whether the object is read as Kueue does (R30.1), where the options say so: with a
  // Workload of the gang API its gangs count.
  bool IsAsKueue(const SourceObject& source_object) const;

  // Returns a workload that stands for an object that is left out.
  GangWorkload LeftOut(const SourceObject& source_object, const std::string& why) const;

  // Does as With. Returns why the object is left out; "" when it is not.
  template <class ReadOne>
  std::string WithFindings(const SourceObject& source_object, ReadOne read) {
    Diagnostics findings(diagnostics_.strict());
    With(source_object, findings, read);
    const auto known = left_out_.find(&source_object);
    return known != left_out_.end() ? known->second
                                    : diagnostics_.AppendObject(std::move(findings));
  }

  // Reads what an object describes, with `read(context, workloads)`.
  template <class ReadOne>
  void Add(const SourceObject& source_object, ReadOne read) {
    std::vector<GangWorkload> workloads;
    const std::string why = WithFindings(
        source_object, [&](const SourceContext& context) { read(context, workloads); });
    if (!why.empty() && workloads.empty()) workloads.push_back(LeftOut(source_object, why));
    for (GangWorkload& workload : workloads) {
      LeaveOut(why, workload);
      workloads_.push_back({std::move(workload), &source_object});
    }
  }

  // Calls `read(context)` for one object, unless reading was stopped.
  template <class ReadOne>
  void With(const SourceObject& source_object, Diagnostics& diagnostics, ReadOne read) const {
    if (index_.abandoned()) return;
    const ReadContext context = ContextOf(source_object, diagnostics);
    read(SourceContext{
        context, defaults_, find_, source_object.source->kind,
        source_object.version.empty() ? KnownVersion(*source_object.source) : source_object.version,
        source_object.source->group, IsAsKueue(source_object)});
  }

  static std::string_view KnownVersion(const SourceKind& kind);

  static bool IsGangWorkload(const SourceObject& source_object);

  // Returns the kind of an object, for people, with its group where it is a Workload of another.
  static std::string Name(const SourceObject& source_object);

  // Returns why an object is not read by itself; empty: it is.
  std::string WhyLeftOut(const SourceObject& source_object) const;

  // Returns how many replicas of a LeaderWorkerSet have Workloads where others have none; else 0.
  std::int32_t ReplicasWithWorkload(const SourceObject& source_object) const;

  void ReadPods();

  // Shows `on_job` the pods that are yet to be placed.
  void ShowPods();

  // Reads what jobs and the like that a Workload of Kueue's stands for ask for now.
  void ReadOwned();

  // Reads an object that was admitted: what is wrong with it is Kueue's affair.
  std::vector<GangWorkload> ReadAdmitted(const SourceObject& source_object) const;

  void ReadAll();

  // Says whether pods of a Deployment or the like have nodes. Kueue makes Workloads of its pods, so
  // that its status may know of none that is ready yet. So it says of a Job that is none of
  // Kueue's.
  bool RunsByItsPods(const SourceObject& source_object) const;

  // Names objects of kinds that are not known but ask for pods; they are not placed.
  void ReadUnknown();

  // Has pods whose template says that they are part of another description placed as that says, and
  // leaves out what is placed as the groups that its pods name.
  void MoveTemplatesToParts();

  // Returns whether pods name an object that is a group of them.
  static bool IsPodGroup(PartReference::Kind kind);

  bool MoveToParts(SourceRead& read);

  const SourceObject* EachOf(std::string_view kind, std::string_view group,
                             std::size_t& next) const;

  void ReadGangApiWorkloads();

  // Lets pods whose template names what is not in the input, or what does not take them, wait for
  // it: they are never placed without it (W3.5, W4.4).
  void HoldBackTemplates();

  void HoldBack(const EqGroup& group, GangWorkload& workload) const;

  // The object that a workload refers to, by namespace: a true workload, by its group, kind and
  // name, or the user's own Workload, by its name alone.
  using Reference = std::tuple<std::string, std::string, std::string, std::string>;
  using Referring = std::multimap<Reference, std::size_t>;

  static Reference ReferenceTo(const std::string& name_space, const TrueWorkload& of);

  // Adds what the workload at the index refers to.
  void NoteReferences(std::size_t index, Referring& referring) const;

  // Puts the user's own Workload in the place of what its true workload would give.
  void TakeTheDefault(GangWorkload& user, const Referring& referring);

  // Gives an object of a kind that is not known the pods of the templates that it holds.
  void ReadItsTemplates(SourceRead& read) const;

  void ReadGroups();

  // Reads the pod groups of another scheduler. One of which no pod is there is what the object that
  // made it asks for, where that is in the input.
  template <class ReadGroup>
  void ReadSchedulerGroups(std::string_view group, ReadGroup read_group) {
    std::size_t next = 0;
    while (const SourceObject* source_object = EachOf("PodGroup", group, next)) {
      Add(*source_object, [&](const SourceContext& context, std::vector<GangWorkload>& read) {
        read_group(source_object->object.value, context, members_, read);
      });
      GangWorkload& added = workloads_.back().workload;
      const bool has_pods = !added.gang_groups.empty() &&
                            !added.gang_groups.front().ranked_groups.empty() &&
                            !added.gang_groups.front().ranked_groups.front().eq_groups.empty();
      if (workloads_.back().source_object != source_object || has_pods ||
          !owners_->HasController(*source_object))
        continue;
      workloads_.pop_back();
      ++result_.skipped["PodGroup of another object"];
    }
  }

  static bool HasParent(JsonValue object);

  void ReadComposites();

  void ReadKueuePodGroups();

  // Reports pods that name what is not in the input and stay pending, in one line for each thing
  // that they name.
  void ReportStrays();

  void Finish();

  // Says that the pods of a workload run already. Of a Deployment or the like pods may have no node
  // yet: they are a row that is not placed.
  void NoteRunning(SourceRead& read);

  // Lets a job that names the Workload that stands for it wait for that one. Of kinds whose
  // Workloads Kueue makes by rules of their own the name is not looked at.
  void NotePrebuilt(Workload& head) const;

  // Tells whether Kueue manages a job; descriptions of gangs that are no jobs of its integrations
  // are nobody's to manage.
  void JudgeManaged(SourceRead& read) const;

  void TakeBack(std::int64_t now, GangWorkload& workload);

  const ObjectIndex& index_;
  const Cluster& cluster_;
  const ClusterDefaults& defaults_;
  const SourcesOptions options_;
  Diagnostics& diagnostics_;
  std::vector<SourceObject> source_objects_;
  std::set<ObjectName> described_;
  std::optional<OwnerIndex> owners_;
  FindObject find_;
  NodeLabels nodes_;
  ManagedJobs managed_;
  Members members_;
  // Why objects are left out whose gangs are read after that was found.
  std::map<const SourceObject*, std::string> left_out_;
  std::vector<SourceRead> workloads_;
  SourcesRead result_;
};

}  // namespace espalier
