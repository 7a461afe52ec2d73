#include "host/conformance/job_difference.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/readers/cluster_files.hpp"
#include "host/webhooks/job_webhooks.hpp"

namespace espalier {
namespace {

// The result of reading the objects of a case.
struct JobRead {
  std::vector<std::string> errors;  // lines of the webhooks
  std::vector<Workload> workloads;
  std::string unreadable;  // errors that the readers found
};

// Namespaces whose jobs Kueue leaves alone.
bool IsSystemNamespace(std::string_view name) {
  return name == "kube-system" || name == "kueue-system";
}

Result<JobRead> ReadJobs(const JobCase& c) {
  JobRead result;
  ReadOptions options;
  options.keep_errors = true;
  options.on_job = [&](const JobObject& job) {
    for (Violation& violation : ValidateJob(job, c.gates)) {
      result.errors.push_back(std::move(violation.text));
    }
  };
  auto read = ReadClusterText("case", c.objects, options);
  if (!read) return tl::unexpected(read.error());
  const std::span workloads(read->cluster.workloads);
  for (Workload& made : workloads.subspan(read->kueue_workloads)) {
    const bool managed = !made.queue_name.empty() && !IsSystemNamespace(made.key.namespace_);
    if (managed && made.refusal.empty() && made.reconcile_error.empty()) {
      result.workloads.push_back(std::move(made));
    }
  }
  result.unreadable = read->diagnostics.RenderErrors();
  return result;
}

// Lines that say what was expected of `what`, and what came.
std::optional<std::string> Differs(std::string_view what, const std::string& expected,
                                   const std::string& got) {
  if (expected == got) return std::nullopt;
  return fmt::format("{}\n  expected {}\n  got      {}", what, expected, got);
}

std::string Text(const std::optional<TopologyRequest>& request) {
  if (!request) return "none";
  std::string text;
  const auto add = [&](std::string_view name, const auto& value) {
    if (value) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, *value);
  };
  add("required", request->required);
  add("preferred", request->preferred);
  add("unconstrained", request->unconstrained);
  add("podIndexLabel", request->pod_index_label);
  add("subGroupIndexLabel", request->sub_group_index_label);
  add("subGroupCount", request->sub_group_count);
  add("podSetGroupName", request->pod_set_group_name);
  add("podSetSliceRequiredTopology", request->slice_topology);
  add("podSetSliceSize", request->slice_size);
  for (const SliceConstraint& constraint : request->slice_constraints) {
    text += fmt::format(", slices of {} in {}", constraint.size, constraint.topology);
  }
  return "{" + text + "}";
}

// A request below 0 is refused by the webhook of Workloads, and none in Kueue's sums.
std::string Text(const Resources& requests) {
  std::vector<std::string> texts;
  for (const auto& [name, amount] : requests) {
    if (amount > 0) texts.push_back(fmt::format("{}: {}", name, amount));
  }
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::optional<std::string> Difference(const PodSet& expected, const PodSet& got) {
  const std::string of = fmt::format("pod set {}: ", expected.name);
  const auto number = [](const auto& count) { return count ? fmt::format("{}", *count) : "none"; };
  const PodTemplate& wanted = expected.pod_template;
  const PodTemplate& made = got.pod_template;
  if (auto difference =
          Differs(of + "count", fmt::format("{}", expected.count), fmt::format("{}", got.count))) {
    return difference;
  }
  if (auto difference =
          Differs(of + "minCount", number(expected.min_count), number(got.min_count))) {
    return difference;
  }
  if (auto difference = Differs(of + "topologyRequest", Text(expected.topology_request),
                                Text(got.topology_request))) {
    return difference;
  }
  if (auto difference =
          Differs(of + "perPodRequests", Text(wanted.requests), Text(made.requests))) {
    return difference;
  }
  if (wanted.node_selector != made.node_selector) return of + "another nodeSelector";
  if (wanted.tolerations != made.tolerations) return of + "other tolerations";
  if (wanted.affinity != made.affinity) return of + "another node affinity";
  return std::nullopt;
}

std::string Names(const std::vector<PodSet>& pod_sets) {
  std::vector<std::string> names;
  for (const PodSet& pod_set : pod_sets) names.push_back(pod_set.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string Lines(const std::vector<std::string>& lines) {
  return lines.empty() ? "none" : fmt::format("{}", fmt::join(lines, "\n           "));
}

std::optional<std::string> Difference(const Workload& expected, const Workload& got) {
  if (auto difference = Differs("pod sets", Names(expected.pod_sets), Names(got.pod_sets))) {
    return difference;
  }
  for (std::size_t i = 0; i < expected.pod_sets.size(); ++i) {
    if (auto difference = Difference(expected.pod_sets[i], got.pod_sets[i])) return difference;
  }
  if (auto difference = Differs("priority", fmt::format("{}", expected.priority),
                                fmt::format("{}", got.priority))) {
    return difference;
  }
  if (auto difference = Differs("queueName", expected.queue_name, got.queue_name)) {
    return difference;
  }
  if (auto difference =
          Differs("workloadErrors", Lines(expected.webhook_errors), Lines(got.webhook_errors))) {
    return difference;
  }
  return Differs("inadmissible", expected.resources_error, got.resources_error);
}

// Returns whether the webhook of Workloads refused what the controller made, so that nothing was
// made; here it is made, with what is wrong.
bool IsRefusedOnItsWay(const JobCase& expected, const JobRead& got) {
  const std::string denied = fmt::format(
      "admission webhook \"vworkload.kb.io\" denied the request: [{}]",
      got.workloads.empty() ? ""
                            : fmt::format("{}", fmt::join(got.workloads[0].webhook_errors, ", ")));
  return expected.reconcile_error == denied;
}

// Such an object was recorded although the schema of its kind refuses it; here the readers do.
bool HasNegativeCount(const Workload& workload) {
  return std::ranges::any_of(workload.pod_sets,
                             [](const PodSet& pod_set) { return pod_set.count < 0; });
}

}  // namespace

std::optional<std::string> JobDifference(const JobCase& expected) {
  const Result<JobRead> got = ReadJobs(expected);
  if (!got) return "the objects cannot be read: " + got.error().message;
  if (auto difference = Differs("jobErrors", Lines(expected.job_errors), Lines(got->errors))) {
    return difference;
  }
  if (HasNegativeCount(expected.workload)) {
    return got->unreadable.empty()
               ? std::optional<std::string>("a negative number of pods is not refused")
               : std::nullopt;
  }
  if (!expected.job_errors.empty() || IsRefusedOnItsWay(expected, *got)) return std::nullopt;
  if (auto difference = Differs("number of workloads", fmt::format("{}", expected.workloads),
                                fmt::format("{}", got->workloads.size()))) {
    if (!got->unreadable.empty()) *difference += "\n" + got->unreadable;
    return difference;
  }
  if (expected.workloads == 0) return std::nullopt;
  if (auto difference = Difference(expected.workload, got->workloads.front())) return difference;
  if (expected.workload.webhook_errors.empty() && !got->unreadable.empty()) {
    return "the readers refuse what Kueue takes:\n" + got->unreadable;
  }
  return std::nullopt;
}

}  // namespace espalier
