#include "service/wire/ungating.hpp"

#include <map>
#include <utility>

#include "service/wire/objects.hpp"
#include "service/wire/shared_rows.hpp"

namespace espalier {
namespace {

// Returns the position of each pod; of two of one name that of the first.
std::map<ObjectKey, std::uint32_t> Positions(std::span<const Pod> pods) {
  std::map<ObjectKey, std::uint32_t> positions;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    positions.emplace(pods[i].key, static_cast<std::uint32_t>(i));
  }
  return positions;
}

}  // namespace

Result<WorkloadToUngate> FromProto(const v1::UngateRequest& message, WorkBudget& budget) {
  Decoder decoder(message.strings(), budget);
  const FieldPath root("");
  const WorkloadTables tables(message, root, decoder);
  ObjectReader reader(tables, decoder);
  WorkloadToUngate request;
  request.workload = reader.Read(message.workload(), FieldPath(root, "workload"));
  request.pods = reader.ReadList<Pod>(message.pods(), root, "pods");
  // The answer names pods by position.
  CheckKeys(request.pods, "pod", root, "pods", decoder);
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return request;
}

Result<v1::UngateRequest> ToProto(const Workload& workload, std::span<const Pod> pods) {
  v1::UngateRequest message;
  WorkloadTablesWriter tables(message);
  *message.mutable_workload() = ToProto(workload, tables);
  for (const Pod& pod : pods) *message.add_pods() = ToProto(pod, tables);
  if (tables.error()) return tl::unexpected(*tables.error());
  return message;
}

v1::UngateResponse ToProto(std::span<const UngatedPod> ungated, std::span<const Pod> pods) {
  v1::UngateResponse message;
  StringTable strings(message.mutable_strings());
  const std::map<ObjectKey, std::uint32_t> positions = Positions(pods);
  for (const UngatedPod& pod : ungated) {
    v1::UngatedPod& row = *message.add_pods();
    row.set_pod(positions.at(pod.pod));
    row.set_domain(strings.Ref(pod.domain));
    *row.mutable_node_selector() = ToProto(pod.node_selector, strings);
    for (const std::string& gate : pod.gates) row.add_gates(strings.Ref(gate));
  }
  return message;
}

Result<std::vector<UngatedPod>> FromProto(const v1::UngateResponse& message,
                                          std::span<const Pod> pods, WorkBudget& budget) {
  Decoder decoder(message.strings(), budget);
  const FieldPath root("ungated");
  std::vector<UngatedPod> ungated;
  for (int i = 0; i < message.pods_size() && decoder.ok(); ++i) {
    const v1::UngatedPod& row = message.pods(i);
    const FieldPath path(root, "pods", i);
    decoder.Charge(sizeof(UngatedPod), path);
    if (row.pod() >= pods.size()) {
      decoder.Fail(FieldPath(path, "pod"), "is {}; there are only {}", row.pod(), pods.size());
      break;
    }
    ungated.push_back({pods[row.pod()].key,
                       decoder.String(row.domain(), FieldPath(path, "domain")),
                       FromProto(row.node_selector(), FieldPath(path, "node_selector"), decoder),
                       {}});
    for (int j = 0; j < row.gates_size() && decoder.ok(); ++j) {
      ungated.back().gates.push_back(decoder.String(row.gates(j), FieldPath(path, "gates", j)));
    }
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return ungated;
}

}  // namespace espalier
