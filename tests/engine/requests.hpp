// Requests for tests: workloads of pod sets on the flavor `tas`, one `gpu` per pod.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/engine/request.hpp"

namespace espalier {

inline PodSetRequest MakePodSet(std::int32_t count, TopologyRequest topology = {},
                                std::string name = "main") {
  PodSetRequest pod_set;
  pod_set.name = std::move(name);
  pod_set.flavor = "tas";
  pod_set.count = count;
  pod_set.requests = {{"gpu", 1}};
  pod_set.topology_request = std::move(topology);
  return pod_set;
}

inline TopologyRequest Required(std::string level, std::vector<SliceConstraint> slices = {}) {
  TopologyRequest request;
  request.required = std::move(level);
  request.slice_constraints = std::move(slices);
  return request;
}
inline TopologyRequest Preferred(std::string level) {
  TopologyRequest request;
  request.preferred = std::move(level);
  return request;
}
inline TopologyRequest Unconstrained(bool value = true) {
  TopologyRequest request;
  request.unconstrained = value;
  return request;
}
inline TopologyRequest SliceOnly(std::vector<SliceConstraint> slices) {
  TopologyRequest request;
  request.slice_constraints = std::move(slices);
  return request;
}

inline PodSetRequest InGroup(PodSetRequest pod_set, std::string group) {
  pod_set.group = std::move(group);
  return pod_set;
}

inline WorkloadRequest MakeWorkload(std::vector<PodSetRequest> pod_sets) {
  WorkloadRequest request;
  request.key = {"team", "job"};
  request.pod_sets = std::move(pod_sets);
  return request;
}

inline TopologyAssignment OnHosts(std::vector<std::pair<std::string, std::int32_t>> hosts) {
  TopologyAssignment assignment{{std::string(kHostnameLabel)}, {}};
  for (auto& [host, count] : hosts) assignment.domains.push_back({{std::move(host)}, count});
  return assignment;
}

// Returns "x1:2 x3:4", the reason of a failure, or "-" when there is neither.
inline std::string Text(const PodSetAnswer& answer) {
  if (answer.failure) return answer.failure->reason;
  if (!answer.assignment) return "-";
  std::string text;
  for (const TopologyDomainAssignment& domain : answer.assignment->domains) {
    if (!text.empty()) text += ' ';
    for (std::size_t i = 0; i < domain.values.size(); ++i) {
      if (i > 0) text += ',';
      text += domain.values[i];
    }
    text += ':';
    text += std::to_string(domain.count);
  }
  return text;
}

// Returns one text per pod set that has an answer: "name -> text".
inline std::vector<std::string> Texts(const WorkloadAnswer& answer) {
  std::vector<std::string> texts;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    std::string text = pod_set.name;
    text += " -> ";
    text += Text(pod_set);
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace espalier
