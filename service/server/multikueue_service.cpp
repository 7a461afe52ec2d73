#include "service/server/multikueue_service.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/multikueue/multikueue_input.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/scale_request.hpp"
#include "service/server/object_text.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/multikueue.hpp"

namespace espalier {
namespace {

// Reads the objects of one cluster. `name` is the field, for messages.
Result<ClusterRead> ReadObjects(const std::string& name, const std::string& text,
                                WorkBudget& budget) {
  if (IsGzip(text)) {
    return BadInput(fmt::format("{}: is gzip; plain JSON or YAML expected", name));
  }
  if (text.empty()) return ClusterRead();  // as of a cluster that is among `workers`
  return ReadObjectText(name, text, {.with_owned_jobs = true}, budget);
}

FlowCluster FlowClusterOf(std::string name, ClusterRead read) {
  auto requests = ReadScaleRequests(name, read.cluster.workloads);
  std::ranges::move(read.gang_workloads, std::back_inserter(read.owned_jobs));
  return {std::move(name), std::move(read.cluster), std::move(read.owned_jobs),
          std::move(requests)};
}

// Fails for a worker cluster whose name is not its own.
Result<void> CheckNames(const v1::PlanFlowRequest& request) {
  std::set<std::string_view> names;
  const auto check = [&](const std::string& field, const std::string& name) -> Result<void> {
    if (name.empty() || name == "manager") {
      return BadInput(
          fmt::format("{}: is \"{}\"; the name of the worker cluster expected", field, name));
    }
    if (names.insert(name).second) return {};
    return BadInput(
        fmt::format("{}: \"{}\" comes twice; distinct ones expected", field, Excerpt(name)));
  };
  if (auto checked = check("worker_name", request.worker_name()); !checked) return checked;
  for (int i = 0; i < request.workers_size(); ++i) {
    auto checked = check(fmt::format("workers[{}].name", i), request.workers(i).name());
    if (!checked) return checked;
  }
  return {};
}

// Returns an error of a field.
Error In(std::string_view field, const Error& error) {
  return {error.error_class, fmt::format("{}: {}", field, error.message)};
}

void AddWarnings(const ClusterRead& read, v1::PlanFlowResponse& response) {
  for (const Diagnostic& error : read.diagnostics.left_out()) {
    response.add_notes("left out, as wrong: " + ToString(error));
  }
  for (const Diagnostic& warning : read.diagnostics.warnings()) {
    response.add_notes(ToString(warning));
  }
}

Result<std::vector<std::pair<std::string, std::int64_t>>> CountsOf(
    const v1::PlanFlowRequest& request) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const auto& [name, count] : request.counts()) {
    if (count < 0 || count > std::numeric_limits<std::int32_t>::max()) {
      return BadInput(fmt::format("counts[{}]: is {}; 0 to {} expected", Excerpt(name), count,
                                  std::numeric_limits<std::int32_t>::max()));
    }
    counts.emplace_back(name, count);
  }
  std::ranges::sort(counts);  // errors name the first
  return counts;
}

}  // namespace

MultiKueueService::MultiKueueService(Calls& calls, std::shared_ptr<Backend> backend,
                                     FeatureGates gates)
    : calls_(calls), backend_(std::move(backend)), gates_(gates) {}

grpc::ServerUnaryReactor* MultiKueueService::PlanFlow(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::PlanFlowRequest, v1::PlanFlowResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::PlanFlowRequest& message, WorkBudget& budget, v1::PlanFlowResponse& answer) {
        return Plan(message, budget, answer);
      });
}

grpc::Status MultiKueueService::Plan(const v1::PlanFlowRequest& request, WorkBudget& budget,
                                     v1::PlanFlowResponse& response) {
  if (const auto checked = CheckNames(request); !checked) return ToStatus(checked.error());
  auto manager = ReadObjects("manager", request.manager(), budget);
  if (!manager) return ToStatus(manager.error());
  FeatureGates defaults = ResizeDefaults(request.feature_gates(), gates_);
  if (const auto& configuration = manager->cluster.configuration) {
    for (const std::string& unknown :
         SetKnownFeatureGates(configuration->feature_gates, defaults)) {
      response.add_notes(fmt::format("{}: {}", configuration->place, unknown));
    }
  }
  const auto gates = ApplyFeatureGates(request.feature_gates(), defaults);
  if (!gates) return ToStatus(gates.error());
  AddWarnings(*manager, response);
  auto worker = ReadObjects("worker", request.worker(), budget);
  if (!worker) return ToStatus(worker.error());
  AddWarnings(*worker, response);
  std::vector<FlowCluster> workers;
  workers.push_back(FlowClusterOf(request.worker_name(), *std::move(worker)));
  for (int i = 0; i < request.workers_size(); ++i) {
    const v1::FlowWorker& more = request.workers(i);
    auto read = ReadObjects(fmt::format("workers[{}].objects", i), more.objects(), budget);
    if (!read) return ToStatus(read.error());
    AddWarnings(*read, response);
    workers.push_back(FlowClusterOf(more.name(), *std::move(read)));
  }
  auto state = MakeMultiKueueState(FlowClusterOf("manager", *std::move(manager)),
                                   std::move(workers), request.job());
  if (!state) {
    // A kNotFound error is about which job is meant; any other names the object that is wrong.
    const bool is_job = state.error().error_class == ErrorClass::kNotFound;
    return ToStatus(is_job ? In("job", state.error()) : state.error());
  }
  const auto counts = CountsOf(request);
  if (!counts) return ToStatus(counts.error());
  if (const auto set = SetWantedCounts(*counts, *state); !set) {
    return ToStatus(In("counts", set.error()));
  }
  const auto steps = espalier::PlanFlow(*std::move(state), Engine(backend_, *gates, budget));
  if (!steps) return ToStatus(steps.error());
  v1::PlanFlowResponse planned = ToProto(*steps);
  planned.mutable_notes()->Swap(response.mutable_notes());
  response = std::move(planned);
  return grpc::Status::OK;
}

}  // namespace espalier
