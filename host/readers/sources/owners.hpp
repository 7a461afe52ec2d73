// Finds the owners of the input's objects.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// Points into the objects, which must outlive it.
class OwnerIndex {
 public:
  OwnerIndex(const std::vector<PodAsker>& askers, const std::vector<Workload>& workloads);

  // Returns the object of this kind and name; nullopt when there is none. The kind
  // "HorizontalPodAutoscaler for KIND" finds the autoscaler of the object of that name.
  std::optional<JsonValue> Find(std::string_view kind, std::string_view name_space,
                                std::string_view name) const;

  // Returns whether a Kueue Workload in the input stands for the object.
  bool HasWorkload(const PodAsker& asker) const;
  bool HasWorkload(std::string_view kind, std::string_view name_space, std::string_view name,
                   std::string_view uid) const;

  // Returns whether another object of the input makes this one, as a JobSet makes Jobs. Jobs of a
  // CronJob are workloads of their own.
  bool IsPartOfAnother(const PodAsker& asker) const;

  // Returns the topmost owner of `object`; nullopt when none is in the input.
  std::optional<JsonValue> TopOwner(JsonValue object) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name

  std::optional<JsonValue> OwnerOf(JsonValue object) const;

  std::map<Key, JsonValue> objects_;
  std::set<Key> with_workload_;
  std::set<std::string_view> uids_with_workload_;
};

}  // namespace espalier
