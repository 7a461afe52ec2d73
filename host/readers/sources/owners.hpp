// Finds the owners of the input's objects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// Points into the objects, which must outlive it.
class OwnerIndex {
 public:
  OwnerIndex(const std::vector<SourceObject>& source_objects,
             const std::vector<Workload>& workloads);

  // Returns the object of this kind and name; null when there is none. The kind
  // "HorizontalPodAutoscaler for KIND" finds the autoscaler of the object of that name.
  const SourceObject* Find(std::string_view kind, std::string_view name_space,
                           std::string_view name) const;

  // Returns whether a Kueue Workload in the input stands for the object.
  bool HasWorkload(const SourceObject& source_object) const;
  bool HasWorkload(std::string_view kind, std::string_view name_space, std::string_view name,
                   std::string_view uid) const;

  // Returns whether a Kueue Workload in the input stands for the controller of the object, which
  // need not be in the input itself, as for the Jobs of a JobSet.
  bool ControllerHasWorkload(JsonValue object) const;

  // Returns whether the input has a Kueue Workload of this name.
  bool IsWorkload(std::string_view name_space, std::string_view name) const;

  // Returns whether the input has a Kueue Workload whose chain of slices begins with one of this
  // name.
  bool IsSliceName(std::string_view name_space, std::string_view name) const;

  // Notes for the topmost owner of a pod whether a Workload stands for the pod, and whether it has
  // a node. Jobs of a CronJob are workloads of their own, so that it is none of its.
  void NotePod(JsonValue pod, bool has_workload, bool bound);

  // Notes for the topmost owner of a pod, below a CronJob, that the pod names a pod group, as which
  // it is placed.
  void NoteGroupedPod(JsonValue pod);

  // Returns whether NoteGroupedPod was told of a pod of the object.
  bool PodsAreGrouped(const SourceObject& source_object) const;

  // Returns how many Kueue Workloads in the input stand for the object, as for the replicas of a
  // LeaderWorkerSet (R30.1).
  std::int32_t CountWorkloads(const SourceObject& source_object) const;

  // Returns whether NotePod was told that a Workload stands for another pod of the pod's topmost
  // owner, for which none stands itself.
  bool SiblingsHaveWorkload(JsonValue pod) const;

  // Returns whether the object that controls this one is in the input.
  bool HasController(const SourceObject& source_object) const;

  // Returns whether NotePod was told of a pod of the object that has a Workload (a node).
  bool PodsHaveWorkload(const SourceObject& source_object) const;
  bool HasBoundPods(const SourceObject& source_object) const;

  // Returns the pods of the object that NotePod was told to have a node.
  std::span<const JsonValue> BoundPods(const SourceObject& source_object) const;

  // Returns whether another object of the input makes this one, as a JobSet makes Jobs. Jobs of a
  // CronJob are workloads of their own.
  bool IsPartOfAnother(const SourceObject& source_object) const;

  // Returns whether `owner`, which is an object of the input, controls the object.
  bool IsMadeBy(const SourceObject& source_object, const SourceObject& owner) const;

  // Returns the topmost owner of `object`; nullopt when none is in the input.
  std::optional<JsonValue> TopOwner(JsonValue object) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name

  struct Object {
    const SourceObject* source_object = nullptr;
    bool pods_have_workload = false;
    std::vector<JsonValue> bound_pods = {};
    bool pods_are_grouped = false;
  };
  using Objects = std::map<Key, Object>;

  static Key KeyOf(const SourceObject& source_object, JsonValue metadata);
  const Objects::value_type* FindObject(const SourceObject& source_object) const;
  const Objects::value_type* FindOwner(JsonValue object) const;
  // Without `with_cron_job` the search ends below a CronJob, whose Jobs are workloads of their own.
  const Objects::value_type* FindTopOwner(JsonValue object, bool with_cron_job = true) const;

  Objects objects_;
  std::map<Key, std::int32_t> with_workload_;  // and how many
  std::set<std::string_view> uids_with_workload_;
  // Namespace and name of Workloads; of the first ones of their chains of slices.
  std::set<std::pair<std::string_view, std::string_view>> workloads_;
  std::set<std::pair<std::string_view, std::string_view>> slice_names_;
};

}  // namespace espalier
