#include "host/readers/sources/replicas.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/sources/gang_api_join.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

constexpr std::string_view kGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view kSize = "leaderworkerset.sigs.k8s.io/size";  // annotation: pods of one

// The pods of a gang's equivalence groups; nullopt where one of them does not say how many.
std::optional<std::int64_t> PodsOf(const GangGroup& gang) {
  std::int64_t pods = 0;
  for (const RankedGroup& ranked : gang.ranked_groups) {
    for (const EqGroup& group : ranked.eq_groups) {
      if (!group.min_count) return std::nullopt;
      pods += *group.min_count;
    }
  }
  return pods > 0 ? std::optional(pods) : std::nullopt;
}

bool CanDivide(const GangGroup& gang, std::int64_t by) {
  return std::ranges::all_of(gang.ranked_groups, [&](const RankedGroup& ranked) {
    return std::ranges::all_of(ranked.eq_groups, [&](const EqGroup& group) {
      return group.min_count.value_or(0) % by == 0 && group.max_count.value_or(0) % by == 0;
    });
  });
}

std::string LabelOf(const PodTemplate& pod, std::string_view key) {
  const std::string* value = pod.labels.Find(std::string(key));
  return value == nullptr ? std::string() : *value;
}

// Returns the key of the replica that pods are of; empty: they do not say.
std::string ReplicaKeyOf(const PartReference& reference, const PodTemplate& pod,
                         std::string_view label) {
  if (!reference.replica_key.empty()) return reference.replica_key;
  if (!label.empty()) return LabelOf(pod, label);
  const std::string key = LabelOf(pod, kGroupKey);
  return key.empty() ? LabelOf(pod, kGroupIndex) : key;
}

// The pods of one replica.
struct Replica {
  std::string key;
  std::string index;  // its label; empty: none
  Members members;
  std::int64_t pods = 0;
  std::int64_t bound = 0;
};

bool IsBefore(const Replica& a, const Replica& b) {
  const auto number_of = [](const Replica& one) {
    return ParseInteger<std::int32_t>(one.index.empty() ? one.key : one.index);
  };
  const auto first = number_of(a);
  const auto second = number_of(b);
  if (first && second && *first != *second) return *first < *second;
  return std::tie(a.index, a.key) < std::tie(b.index, b.key);
}

// The pods that name a Workload, by replica.
struct PodsOfReplicas {
  std::vector<Replica> replicas;  // in order of index, else of key
  std::int64_t without_key = 0;   // pods
  std::int64_t size = 0;          // pods of a replica as its pods say it; 0: they do not
};

PodsOfReplicas TakeReplicas(const GangApiWorkload& user, Members& members) {
  PodsOfReplicas taken;
  std::map<std::string, Replica> by_key;
  const ObjectKey& workload = user.workload.head.key;
  auto it = members.lower_bound({workload.namespace_, {Kind::kWorkload, workload.name}});
  while (it != members.end() && it->first.first == workload.namespace_ &&
         it->first.second.kind == Kind::kWorkload && it->first.second.name == workload.name) {
    for (MemberPods& pods : it->second.pods) {
      const PodTemplate& shape = *pods.group.pod_template;
      const std::int64_t count = pods.group.max_count.value_or(0);
      const std::string key = ReplicaKeyOf(it->first.second, shape, user.replica_key);
      if (key.empty()) {
        taken.without_key += count;
        continue;
      }
      if (const std::string* size = shape.annotations.Find(std::string(kSize))) {
        taken.size = ParseInteger<std::int32_t>(*size).value_or(0);
      }
      Replica& replica = by_key[key];
      replica.key = key;
      if (replica.index.empty()) replica.index = LabelOf(shape, kGroupIndex);
      replica.pods += count;
      replica.bound += RunningPodsOf(pods.group);
      PartMembers& part = replica.members[it->first];
      if (part.pods.empty()) {
        part.pod = it->second.pod;
        part.owner = it->second.owner;
        part.owner_title = it->second.owner_title;
      }
      part.pods.push_back(std::move(pods));
    }
    it = members.erase(it);
  }
  for (auto& [key, replica] : by_key) taken.replicas.push_back(std::move(replica));
  std::ranges::sort(taken.replicas, IsBefore);
  return taken;
}

// Names replicas by their index as long as no two have the same.
std::string NameOf(const Replica& replica, const std::vector<Replica>& all) {
  const auto same = std::ranges::count(all, replica.index, &Replica::index);
  return replica.index.empty() || same > 1 ? replica.key : replica.index;
}

// The replica as a workload of its own.
GangWorkload JoinOne(const GangApiWorkload& user, Replica replica, const std::string& name) {
  GangApiWorkload one = user;
  GangWorkload& workload = one.workload;
  workload.replica_mode = ReplicaMode::kUnreplicated;
  workload.replicas.reset();
  workload.head.key.name += "-" + name;
  workload.head.uid.clear();
  Members members;
  for (auto& [part, pods] : replica.members) {
    auto [name_space, reference] = part;
    reference.name = workload.head.key.name;
    members.emplace(std::pair(name_space, reference), std::move(pods));
  }
  JoinPods(one, members);
  return std::move(one.workload);
}

// Makes each replica a gang of its own of the workload, whose topology request is for all of them.
void Unite(std::vector<GangWorkload> replicas, GangWorkload& workload) {
  workload.replica_mode = ReplicaMode::kUnreplicated;
  workload.replicas.reset();
  workload.gang_groups.clear();
  workload.running = true;
  for (GangWorkload& replica : replicas) {
    const std::string name = replica.head.key.name.substr(workload.head.key.name.size() + 1);
    for (GangGroup& gang : replica.gang_groups) {  // there is one
      gang.name = name;
      if (gang.waits_for.empty()) gang.waits_for = std::move(replica.waits_for);
      workload.gang_groups.push_back(std::move(gang));
    }
    workload.running = workload.running && replica.running;
    for (const std::string& note : replica.notes) {
      if (std::ranges::find(workload.notes, note) != workload.notes.end()) continue;
      workload.notes.push_back(fmt::format("replica {}: {}", name, note));
    }
  }
}

}  // namespace

void CountPerReplica(GangWorkload& workload, std::int64_t size) {
  if (workload.replica_mode != ReplicaMode::kReplicatedGangs || size < 1) return;
  if (workload.gang_groups.size() != 1) return;
  GangGroup& gang = workload.gang_groups[0];
  std::int64_t all = std::int64_t{workload.replicas.value_or(0)} * size;  // 0: not known
  if (const auto pods = PodsOf(gang); pods && *pods != size) {
    const std::int64_t replicas = *pods / size;
    const bool of_all =
        *pods % size == 0 && (all == 0 || *pods == all) && CanDivide(gang, replicas);
    if (of_all) {
      all = *pods;
      for (RankedGroup& ranked : gang.ranked_groups) {
        for (EqGroup& group : ranked.eq_groups) {
          for (auto* count : {&group.min_count, &group.max_count}) {
            if (*count) **count /= static_cast<std::int32_t>(replicas);
          }
        }
      }
      workload.notes.push_back(
          fmt::format("gangGroup {}: its eqGroups count the {} pods of all its {} replicas, of "
                      "which each has {}",
                      gang.name, *pods, replicas, size));
    } else {
      workload.notes.push_back(
          fmt::format("gangGroup {}: its eqGroups have {} pods, but a replica has {}{}", gang.name,
                      *pods, size, all == 0 ? "" : fmt::format(", and all of them {}", all)));
    }
  }
  if (all == size) return;
  for (auto* count : {&gang.min_count, &gang.max_count}) {
    if (*count && **count == all) *count = static_cast<std::int32_t>(size);
  }
}

std::vector<GangWorkload> JoinReplicas(GangApiWorkload user, Members& members) {
  GangWorkload& workload = user.workload;
  const bool of_gangs = workload.replica_mode == ReplicaMode::kReplicatedGangs &&
                        workload.gang_groups.size() == 1 && user.workload.replicas != 1;
  std::vector<GangWorkload> joined;
  if (!of_gangs) {
    JoinPods(user, members);
    joined.push_back(std::move(workload));
    return joined;
  }
  PodsOfReplicas pods = TakeReplicas(user, members);
  if (pods.without_key > 0) {
    std::string note = fmt::format(
        "{} no replica: want the label {}, or that which the Workload names as replicaKey",
        CountedPods(static_cast<std::int32_t>(pods.without_key)) +
            (pods.without_key == 1 ? " names" : " name"),
        user.replica_key.empty() ? kGroupKey : user.replica_key);
    if (pods.replicas.empty()) {
      workload.waits_for = std::move(note);
    } else {
      workload.notes.push_back(std::move(note));
    }
  }
  if (pods.replicas.empty()) {
    joined.push_back(std::move(workload));
    return joined;
  }
  if (pods.size == 0 && !workload.replicas && pods.replicas.size() > 1) {
    pods.size = std::ranges::max(pods.replicas, {}, &Replica::pods).pods;
  }
  CountPerReplica(workload, pods.size);
  GangGroup& gang = workload.gang_groups[0];
  if (const auto least = PodsOf(gang); !gang.min_count && least && gang.mode == GangMode::kGang) {
    gang.min_count = static_cast<std::int32_t>(*least);
  }
  const auto there = static_cast<std::int32_t>(pods.replicas.size());
  if (workload.replicas && *workload.replicas > there) {
    workload.notes.push_back(
        fmt::format("{} of its {} replicas have pods: the others are placed once theirs are there",
                    there, *workload.replicas));
  }
  bool is_alike = true;
  for (std::int32_t i = 0; i < there; ++i) {
    Replica& replica = pods.replicas[static_cast<std::size_t>(i)];
    const std::string name = NameOf(replica, pods.replicas);
    const bool is_new = replica.bound == 0;
    joined.push_back(JoinOne(user, std::move(replica), name));
    const bool waits = !joined.back().waits_for.empty() ||
                       std::ranges::any_of(joined.back().gang_groups, [](const GangGroup& one) {
                         return !one.waits_for.empty();
                       });
    is_alike = is_alike && is_new && !waits && name == fmt::to_string(i) &&
               joined.back().gang_groups == joined.front().gang_groups &&
               joined.back().notes == joined.front().notes;
  }
  if (is_alike) {
    workload.gang_groups = std::move(joined.front().gang_groups);
    workload.notes = std::move(joined.front().notes);
    workload.replicas = there;
    joined.assign(1, std::move(workload));
  } else if (joined.size() > 1 && !workload.topology_request.empty()) {
    Unite(std::move(joined), workload);
    joined.assign(1, std::move(workload));
  }
  return joined;
}

}  // namespace espalier
