#include "host/kueue/planning/exclusive_domains.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/planning/drain.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/jobset_keys.hpp"
#include "host/model/pod_phase.hpp"

namespace espalier {
namespace {

// A JobSet, where some of its pods are: values of labels, and whether it holds one exclusively.
struct JobSetPlace {
  ObjectKey job_set;
  const StringMap* labels = nullptr;  // of its node
  std::string exclusive_level;        // empty: none
};

std::optional<ObjectKey> JobSetOf(const Workload& workload) {
  for (const OwnerReference& owner : workload.owners) {
    if (owner.kind == "JobSet") return ObjectKey{workload.key.namespace_, owner.name};
  }
  return std::nullopt;
}

std::string TextOf(const StringMap& map, std::string_view key) {
  const std::string* text = map.Find(key);
  return text == nullptr ? "" : *text;
}

// Returns where pods of JobSets run.
std::vector<JobSetPlace> RunningPlaces(const Cluster& cluster, std::span<const Node> nodes) {
  std::unordered_map<std::string_view, const Node*> by_name;
  for (const Node& node : nodes) by_name.emplace(node.name, &node);
  std::vector<JobSetPlace> places;
  for (const Pod& pod : cluster.pods) {
    if (HasEnded(pod) || pod.node_name.empty() || !pod.labels.Contains(kJobSetJobKey)) continue;
    const auto node = by_name.find(pod.node_name);
    if (node == by_name.end()) continue;
    places.push_back({{pod.key.namespace_, TextOf(pod.labels, kJobSetName)},
                      &node->second->labels,
                      TextOf(pod.annotations, kExclusiveTopology)});
  }
  return places;
}

// Finds the nodes of domains.
class NodesOfDomains {
 public:
  explicit NodesOfDomains(std::span<const Node> nodes) : nodes_(nodes) {}

  const std::vector<const Node*>& Of(const std::vector<std::string>& levels,
                                     const std::vector<std::string>& values) {
    const auto [known, is_new] = by_levels_.try_emplace(levels);
    if (is_new) {
      for (const Node& node : nodes_) known->second[LevelValues(node, levels)].push_back(&node);
    }
    return known->second[values];
  }

 private:
  using ByValues = std::map<std::vector<std::string>, std::vector<const Node*>>;
  std::span<const Node> nodes_;
  std::map<std::vector<std::string>, ByValues> by_levels_;
};

// Adds the nodes of the domains that a workload is placed in; `level` is that of which it has each
// to itself.
void AddPlaces(const std::string& level, const ObjectKey& job_set, const WorkloadAnswer& answer,
               NodesOfDomains& nodes, std::vector<JobSetPlace>& places) {
  for (const PodSetAnswer& placed : answer.pod_sets) {
    if (!placed.assignment) continue;
    for (const TopologyDomainAssignment& domain : placed.assignment->domains) {
      for (const Node* node : nodes.Of(placed.assignment->levels, domain.values)) {
        places.push_back({job_set, &node->labels, level});
      }
    }
  }
}

void Close(const std::string& level, const JobSetPlace& place, ClosedDomains& closed) {
  const std::string* value = place.labels->Find(level);
  if (value != nullptr) closed[level].insert(*value);
}

// Returns what the places of others keep a workload out of.
ClosedDomains ClosedTo(const std::string& level, const ObjectKey& job_set,
                       const std::vector<JobSetPlace>& places) {
  ClosedDomains closed;
  for (const JobSetPlace& place : places) {
    if (place.job_set == job_set) continue;
    if (!level.empty()) Close(level, place, closed);
    if (!place.exclusive_level.empty()) Close(place.exclusive_level, place, closed);
  }
  return closed;
}

// Adds to what is not honoured of a workload the closed domains that it is placed in.
void NoteBroken(const ClosedDomains& closed, const WorkloadAnswer& answer, NodesOfDomains& nodes,
                Workload& workload) {
  if (closed.empty()) return;
  std::vector<JobSetPlace> places;
  AddPlaces("", workload.key, answer, nodes, places);
  std::set<std::string> said;
  for (const JobSetPlace& place : places) {
    for (const auto& [level, values] : closed) {
      const std::string* value = place.labels->Find(level);
      if (value == nullptr || !values.contains(*value) || !said.insert(*value).second) continue;
      workload.not_honoured.push_back(
          fmt::format("{} {} is not free of pods of other JobSets (annotation {})", Excerpt(level),
                      Excerpt(*value), kExclusiveTopology));
    }
  }
}

// A term without conditions matches no node, and stays as it is.
bool IsEmpty(const NodeSelectorTerm& term) {
  return term.match_expressions.empty() && term.match_fields.empty();
}

void Apply(const ClosedDomains& closed, PodTemplate& pods) {
  const auto apply = [&](NodeSelectorTerm& term) {
    for (const auto& [level, values] : closed) {
      term.match_expressions.push_back({level, "NotIn", {values.begin(), values.end()}});
    }
  };
  if (!pods.affinity.required) {
    apply(pods.affinity.required.emplace(1).front());
    return;
  }
  for (NodeSelectorTerm& term : *pods.affinity.required) {
    if (!IsEmpty(term)) apply(term);
  }
}

// Undoes Apply.
void Lift(const ClosedDomains& closed, PodTemplate& pods) {
  auto& terms = *pods.affinity.required;
  for (NodeSelectorTerm& term : terms) {
    if (IsEmpty(term)) continue;
    term.match_expressions.resize(term.match_expressions.size() - closed.size());
    if (IsEmpty(term)) {
      pods.affinity.required.reset();
      return;
    }
  }
}

// Apply or Lift.
using Change = void(const ClosedDomains& closed, PodTemplate& pods);

void ChangePods(const ClosedDomains& closed, Change& change, NestedGroup& group) {
  if (group.pods) change(closed, group.pods->pod_template);
  for (NestedGroup& below : group.groups) ChangePods(closed, change, below);
}

// Changes all pods of a request.
void ChangePods(const ClosedDomains& closed, Change& change, WorkloadRequest& request) {
  if (closed.empty()) return;
  for (PodSetRequest& pod_set : request.pod_sets) change(closed, pod_set.pod_template);
  if (request.tree) {
    NestedRequest tree = *request.tree;
    ChangePods(closed, change, tree.root);
    request.tree = std::move(tree);
  }
}

// Lets the pods of a workload go to no node of closed domains, on whatever flavors.
void KeepOut(const ClosedDomains& closed, PlannedWorkload& planned) {
  if (auto* request = std::get_if<WorkloadRequest>(&planned.plan)) KeepOut(closed, *request);
  for (WorkloadRequest& other : planned.others) KeepOut(closed, other);
}

// Returns whether a pod or a workload asks for a domain to itself; else nothing is kept apart.
bool AnyExclusive(const PlacementPlan& plan, const Cluster& cluster) {
  return std::ranges::any_of(
             cluster.pods,
             [](const Pod& pod) { return pod.annotations.Contains(kExclusiveTopology); }) ||
         std::ranges::any_of(plan.workloads, [&](const PlannedWorkload& planned) {
           return cluster.workloads[planned.index].annotations.Contains(kExclusiveTopology);
         });
}

// Answers a plan again and again, until what is closed follows from what is placed. What is
// closed to a workload follows from those before it, so that this ends.
class ApartSearch {
 public:
  ApartSearch(PlacementPlan& plan, Cluster& cluster, std::span<const Node> nodes, bool in_order)
      : plan_(plan),
        cluster_(cluster),
        in_order_(in_order),
        nodes_(nodes),
        running_(RunningPlaces(cluster, nodes)),
        planned_(plan.workloads) {
    for (std::size_t i = 0; i < planned_.size(); ++i) positions_.emplace(WorkloadAt(i).key, i);
  }

  Result<PlannedAnswers> Run(const Nominate& place, const Nominate& on_empty) {
    std::vector<ClosedDomains> applied = ClosedToAll({});
    while (true) {
      plan_.workloads = planned_;
      for (std::size_t i = 0; i < applied.size(); ++i) KeepOut(applied[i], plan_.workloads[i]);
      // On empty nodes no JobSet runs.
      const auto on_free = [&](std::vector<WorkloadRequest> requests) {
        for (WorkloadRequest& request : requests) {
          if (const auto found = positions_.find(request.key); found != positions_.end()) {
            LetIn(applied[found->second], request);
          }
        }
        return on_empty(std::move(requests));
      };
      auto answers = AnswerPlan(plan_, place, on_free);
      if (!answers) return answers;
      std::vector<ClosedDomains> wanted = ClosedToAll(answers->answers);
      if (wanted == applied) {
        NoteAllBroken(applied, answers->answers);
        return answers;
      }
      applied = std::move(wanted);
    }
  }

 private:
  const Workload& WorkloadAt(std::size_t i) const { return cluster_.workloads[planned_[i].index]; }

  // `answers` of all workloads, or of none.
  std::vector<ClosedDomains> ClosedToAll(const std::vector<WorkloadAnswer>& answers) {
    std::vector<ClosedDomains> closed(planned_.size());
    std::vector<JobSetPlace> places = running_;
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      const Workload& workload = WorkloadAt(i);
      const auto job_set = JobSetOf(workload);
      if (!job_set) continue;
      const std::string level = TextOf(workload.annotations, kExclusiveTopology);
      closed[i] = ClosedTo(level, *job_set, places);
      const bool placed = !answers.empty() && Fits(answers[i]);
      if (placed && in_order_) AddPlaces(level, *job_set, answers[i], nodes_, places);
    }
    return closed;
  }

  void NoteAllBroken(const std::vector<ClosedDomains>& closed,
                     const std::vector<WorkloadAnswer>& answers) {
    for (std::size_t i = 0; i < closed.size(); ++i) {
      if (!Fits(answers[i])) continue;
      NoteBroken(closed[i], answers[i], nodes_, cluster_.workloads[planned_[i].index]);
    }
  }

  PlacementPlan& plan_;
  Cluster& cluster_;
  const bool in_order_;
  NodesOfDomains nodes_;
  const std::vector<JobSetPlace> running_;
  const std::vector<PlannedWorkload> planned_;
  std::map<ObjectKey, std::size_t> positions_;
};

}  // namespace

std::vector<ClosedDomains> KeepApart(PlacementPlan& plan, const Cluster& cluster,
                                     std::span<const Node> nodes) {
  std::vector<ClosedDomains> closed(plan.workloads.size());
  std::optional<std::vector<JobSetPlace>> places;  // found when a workload is of a JobSet
  for (std::size_t i = 0; i < closed.size(); ++i) {
    const Workload& workload = cluster.workloads[plan.workloads[i].index];
    const auto job_set = JobSetOf(workload);
    if (!job_set) continue;
    if (!places) places = RunningPlaces(cluster, nodes);
    closed[i] = ClosedTo(TextOf(workload.annotations, kExclusiveTopology), *job_set, *places);
    KeepOut(closed[i], plan.workloads[i]);
  }
  return closed;
}

void KeepOut(const ClosedDomains& closed, WorkloadRequest& request) {
  ChangePods(closed, Apply, request);
}

void LetIn(const ClosedDomains& closed, WorkloadRequest& request) {
  ChangePods(closed, Lift, request);
}

Result<PlannedAnswers> AnswerPlanApart(PlacementPlan& plan, Cluster& cluster,
                                       std::span<const Node> nodes, bool in_order,
                                       const Nominate& place, const Nominate& on_empty) {
  if (!AnyExclusive(plan, cluster)) return AnswerPlan(plan, place, on_empty);
  return ApartSearch(plan, cluster, nodes, in_order).Run(place, on_empty);
}

void NoteSharedDomains(std::span<const PlacedWorkload> placed, std::span<const Node> nodes,
                       Cluster& cluster) {
  std::map<ObjectKey, std::string> levels;  // of the JobSets that are placed
  for (const PlacedWorkload& one : placed) {
    const Workload& workload = cluster.workloads[one.index];
    const auto job_set = JobSetOf(workload);
    if (job_set) levels.emplace(*job_set, TextOf(workload.annotations, kExclusiveTopology));
  }
  if (levels.empty()) return;
  std::vector<JobSetPlace> places = RunningPlaces(cluster, nodes);
  for (const JobSetPlace& place : places) {  // Kueue's Workloads do not say it
    const auto level = levels.find(place.job_set);
    if (level != levels.end() && level->second.empty()) level->second = place.exclusive_level;
  }
  std::erase_if(places, [&](const JobSetPlace& place) { return levels.contains(place.job_set); });
  NodesOfDomains in_domains(nodes);
  for (const PlacedWorkload& one : placed) {
    Workload& workload = cluster.workloads[one.index];
    const auto job_set = JobSetOf(workload);
    if (!job_set || !Fits(*one.answer)) continue;
    const std::string& level = levels.at(*job_set);
    NoteBroken(ClosedTo(level, *job_set, places), *one.answer, in_domains, workload);
    AddPlaces(level, *job_set, *one.answer, in_domains, places);
  }
}

}  // namespace espalier
