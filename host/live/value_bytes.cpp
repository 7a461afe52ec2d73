#include "host/live/value_bytes.hpp"

#include <string>

#include "host/packing/bytes_of.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kBytesOfIndexEntry = 96;

std::int64_t BytesOfLabels(const StringMap& labels) {
  std::int64_t bytes = 0;
  for (const auto& [key, value] : labels) bytes += BytesOf(key) + BytesOf(value);
  return bytes;
}

std::int64_t BytesOfAmounts(const Resources& amounts) {
  std::int64_t bytes = 0;
  for (const auto& [name, amount] : amounts) {
    bytes += BytesOf(name) + static_cast<std::int64_t>(sizeof(amount));
  }
  return bytes;
}

}  // namespace

std::int64_t BytesOf(const Node& node) {
  std::int64_t bytes = kBytesOfIndexEntry + static_cast<std::int64_t>(sizeof(Node));
  bytes += 2 * BytesOf(node.name) + BytesOfLabels(node.labels) + BytesOfAmounts(node.allocatable);
  for (const Taint& taint : node.taints) {
    bytes += BytesOf(taint.key) + BytesOf(taint.value) + BytesOf(taint.effect);
  }
  return bytes;
}

std::int64_t BytesOf(const NodeUsage& usage) {
  return kBytesOfIndexEntry + 2 * BytesOf(usage.node) + BytesOfAmounts(usage.usage) +
         BytesOfAmounts(usage.lasting);
}

std::int64_t BytesOf(const FlavorLeafUsage& usage) {
  return kBytesOfIndexEntry + 2 * (BytesOf(usage.flavor) + BytesOf(usage.leaf)) +
         BytesOfAmounts(usage.usage);
}

std::int64_t BytesOf(const Topology& topology) {
  std::int64_t bytes = kBytesOfIndexEntry + BytesOf(topology.name);
  for (const std::string& level : topology.levels) bytes += BytesOf(level);
  return bytes;
}

std::int64_t BytesOf(const ResourceFlavor& flavor) {
  std::int64_t bytes =
      kBytesOfIndexEntry + BytesOf(flavor.name) + BytesOfLabels(flavor.node_labels);
  for (const Taint& taint : flavor.node_taints) {
    bytes += BytesOf(taint.key) + BytesOf(taint.value) + BytesOf(taint.effect);
  }
  for (const Toleration& toleration : flavor.tolerations) {
    bytes += BytesOf(toleration.key) + BytesOf(toleration.operation) + BytesOf(toleration.value) +
             BytesOf(toleration.effect);
  }
  return bytes;
}

std::int64_t BytesOf(const AdmittedUsage& workload) {
  std::int64_t bytes = static_cast<std::int64_t>(sizeof(AdmittedUsage)) + kBytesOfIndexEntry +
                       BytesOf(workload.key.namespace_) + BytesOf(workload.key.name) +
                       BytesOf(workload.job);
  if (!workload.job.empty()) {  // among the slices of its job
    bytes += 2 * kBytesOfIndexEntry + BytesOf(workload.key.namespace_) + BytesOf(workload.job) +
             BytesOf(workload.key.name);
  }
  for (const FlavorLeafUsage& usage : workload.usage) bytes += 2 * BytesOf(usage);
  return bytes;
}

std::int64_t BytesOf(const Hold& hold) {
  std::int64_t bytes = static_cast<std::int64_t>(sizeof(Hold)) + kBytesOfIndexEntry +
                       2 * BytesOf(hold.id) + BytesOf(hold.workload.namespace_) +
                       BytesOf(hold.workload.name) + BytesOf(hold.owner) + BytesOf(hold.maker);
  for (const FlavorLeafUsage& usage : hold.usage) bytes += 2 * BytesOf(usage);
  return bytes;
}

}  // namespace espalier
