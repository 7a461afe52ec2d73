#include "tests/attack/messages.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "espalier/v1/holds.pb.h"
#include "tests/attack/client.hpp"

namespace espalier::attack {
namespace {

using Strings = google::protobuf::RepeatedPtrField<std::string>;

constexpr int kNodesPerRack = 16;
constexpr int kNodesPerBlock = 256;
constexpr const char* kHostname = "kubernetes.io/hostname";

// All of one length, so that none differs from another at the first glance.
std::string HostName(int index) { return fmt::format("host-{:06}", index); }

// Adds `text` and returns the reference to it.
std::uint32_t Add(Strings& strings, const std::string& text) {
  *strings.Add() = text;
  return static_cast<std::uint32_t>(strings.size());
}

void Set(v1::StringMap& map, std::uint32_t key, std::uint32_t value) {
  map.add_keys(key);
  map.add_values(value);
}

void Set(v1::ResourceVector& vector, std::uint32_t name, std::int64_t amount) {
  vector.add_names(name);
  vector.add_amounts(amount);
}

// Nodes of one chunk.
class NodesWriter {
 public:
  explicit NodesWriter(v1::LoadStateRequest& chunk) : chunk_(chunk) {}

  v1::Node& Write(int index) {
    v1::Node& node = *chunk_.add_nodes();
    const std::uint32_t name = Add(*chunk_.mutable_strings(), HostName(index));
    if (index / kNodesPerRack != rack_ || chunk_.nodes_size() == 1) {
      rack_ = index / kNodesPerRack;
      rack_value_ = Add(*chunk_.mutable_strings(), fmt::format("r{}", rack_));
      block_value_ = Add(*chunk_.mutable_strings(), fmt::format("b{}", index / kNodesPerBlock));
    }
    node.set_name(name);
    Set(*node.mutable_labels(), block_key_, block_value_);
    Set(*node.mutable_labels(), rack_key_, rack_value_);
    Set(*node.mutable_labels(), hostname_key_, name);
    node.set_ready(true);
    Set(*node.mutable_allocatable(), cpu_, 8000);
    Set(*node.mutable_allocatable(), memory_, std::int64_t{64} << 30);
    Set(*node.mutable_allocatable(), pods_, 110);
    return node;
  }

 private:
  v1::LoadStateRequest& chunk_;
  const std::uint32_t block_key_ = Add(*chunk_.mutable_strings(), "block");
  const std::uint32_t rack_key_ = Add(*chunk_.mutable_strings(), "rack");
  const std::uint32_t hostname_key_ = Add(*chunk_.mutable_strings(), kHostname);
  const std::uint32_t cpu_ = Add(*chunk_.mutable_strings(), "cpu");
  const std::uint32_t memory_ = Add(*chunk_.mutable_strings(), "memory");
  const std::uint32_t pods_ = Add(*chunk_.mutable_strings(), "pods");
  int rack_ = -1;
  std::uint32_t rack_value_ = 0;
  std::uint32_t block_value_ = 0;
};

void AddTopology(v1::LoadStateRequest& chunk) {
  Strings& strings = *chunk.mutable_strings();
  v1::Topology& topology = *chunk.add_topologies();
  topology.set_name(Add(strings, "tree"));
  for (const char* level : {"block", "rack", kHostname}) {
    topology.add_levels(Add(strings, level));
  }
}

void AddFlavor(v1::LoadStateRequest& chunk, const std::string& name) {
  v1::ResourceFlavor& flavor = *chunk.add_flavors();
  flavor.set_name(Add(*chunk.mutable_strings(), name));
  flavor.set_topology_name(Add(*chunk.mutable_strings(), "tree"));
}

// A batch whose rows all say the same, to which workloads are added.
class BatchWriter {
 public:
  explicit BatchWriter(v1::PlaceRequest& request) : batch_(*request.mutable_workloads()) {
    request.set_mode(v1::PLACEMENT_MODE_NOMINATE);
    batch_.add_pod_set_offsets(0);
  }

  v1::WorkloadBatch& batch() { return batch_; }
  std::uint32_t String(const std::string& text) { return Add(*batch_.mutable_strings(), text); }

  std::uint32_t Resources(std::int64_t cpu, std::int64_t memory = 0) {
    v1::ResourceVector& row = *batch_.add_resources();
    Set(row, cpu_, cpu);
    if (memory > 0) Set(row, memory_, memory);
    return static_cast<std::uint32_t>(batch_.resources_size());
  }

  void PodSet(std::uint32_t name, int pods, std::uint32_t resources) {
    batch_.add_pod_set_names(name);
    batch_.add_pod_set_flavors(flavor_);
    batch_.add_pod_set_counts(pods);
    batch_.add_pod_set_requests(resources);
    batch_.add_pod_set_topology_requests(1);
  }
  void EndWorkload() {
    batch_.add_pod_set_offsets(static_cast<std::uint32_t>(batch_.pod_set_names_size()));
  }
  // Adds the topology request of all pod sets; an empty level: anything.
  void Topology(const std::string& level) {
    v1::TopologyRequest& topology = *batch_.add_topology_requests();
    if (level.empty()) {
      topology.set_unconstrained(true);
    } else {
      topology.set_required(String(level));
    }
  }

 private:
  v1::WorkloadBatch& batch_;
  const std::uint32_t flavor_ = String("main");
  const std::uint32_t cpu_ = String("cpu");
  const std::uint32_t memory_ = String("memory");
};

}  // namespace

std::vector<v1::LoadStateRequest> UnendedChunks(int nodes, int nodes_per_chunk) {
  std::vector<v1::LoadStateRequest> chunks;
  for (int first = 0; first == 0 || first < nodes; first += nodes_per_chunk) {
    v1::LoadStateRequest& chunk = chunks.emplace_back();
    if (first == 0) {
      AddTopology(chunk);
      AddFlavor(chunk, "main");
    }
    NodesWriter writer(chunk);
    for (int i = first; i < std::min(nodes, first + nodes_per_chunk); ++i) writer.Write(i);
  }
  return chunks;
}

std::vector<v1::LoadStateRequest> Cluster(int nodes, int nodes_per_chunk) {
  auto chunks = UnendedChunks(nodes, nodes_per_chunk);
  SetEnd(chunks);
  return chunks;
}

void SetEnd(std::vector<v1::LoadStateRequest>& chunks) {
  v1::LoadStateEnd end;
  for (const v1::LoadStateRequest& chunk : chunks) {
    end.set_nodes(end.nodes() + chunk.nodes_size());
    end.set_non_tas_usage(end.non_tas_usage() + chunk.non_tas_usage_size());
    end.set_tas_usage(end.tas_usage() + chunk.tas_usage_size());
  }
  *chunks.back().mutable_end() = end;
}

std::vector<std::string> Serialized(const std::vector<v1::LoadStateRequest>& chunks) {
  std::vector<std::string> messages;
  for (const v1::LoadStateRequest& chunk : chunks) messages.push_back(chunk.SerializeAsString());
  return messages;
}

v1::PlaceRequest Gangs(const GangsOptions& options) {
  v1::PlaceRequest request;
  BatchWriter writer(request);
  writer.Topology(options.level);
  const std::uint32_t name = writer.String("workers");
  std::uint32_t resources = writer.Resources(options.cpu);
  for (int g = 0; g < options.gangs; ++g) {
    if (options.distinct) resources = writer.Resources(options.cpu, g + 1);
    writer.PodSet(name, options.pods, resources);
    writer.EndWorkload();
  }
  return request;
}

v1::PlaceRequest Commit(v1::PlaceRequest request, const v1::StatePosition& base,
                        const std::string& token) {
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  *request.mutable_state() = base;
  request.set_commit_token(token);
  return request;
}

v1::PlaceRequest GangWithAffinity(const std::string& key, int values) {
  v1::PlaceRequest request = Gangs({});
  v1::WorkloadBatch& batch = *request.mutable_workloads();
  Strings& strings = *batch.mutable_strings();
  v1::NodeSelectorRequirement& requirement = *batch.add_node_constraints()
                                                  ->mutable_required_affinity()
                                                  ->add_terms()
                                                  ->add_match_expressions();
  requirement.set_key(Add(strings, key));
  requirement.set_operation(Add(strings, "In"));
  for (int i = 0; i < values; ++i) {
    requirement.add_values(Add(strings, HostName(900'000 + i)));
  }
  batch.add_pod_set_node_constraints(1);
  return request;
}

v1::PlaceRequest GangWithResources(int resources) {
  v1::PlaceRequest request = Gangs({});
  v1::WorkloadBatch& batch = *request.mutable_workloads();
  v1::ResourceVector& row = *batch.mutable_resources(0);
  for (int i = resources; i > 0; --i) {  // against the order of the names
    Set(row, Add(*batch.mutable_strings(), fmt::format("example.com/resource-{:06}", i)), 1);
  }
  return request;
}

v1::PlaceRequest WorkloadWithPodSets(int pod_sets) {
  v1::PlaceRequest request;
  BatchWriter writer(request);
  writer.Topology("");
  const std::uint32_t resources = writer.Resources(1);
  for (int i = 0; i < pod_sets; ++i) {
    writer.PodSet(writer.String(fmt::format("pod-set-{}", i)), 1, resources);
  }
  writer.EndWorkload();
  return request;
}

v1::PlaceRequest WorkloadInGroups(int pod_sets) {
  v1::PlaceRequest request = WorkloadWithPodSets(pod_sets);
  v1::WorkloadBatch& batch = *request.mutable_workloads();
  std::uint32_t group = 0;
  for (int i = 0; i < pod_sets; ++i) {
    if (i % 2 == 0) group = Add(*batch.mutable_strings(), fmt::format("group-{}", i / 2));
    batch.add_pod_set_groups(group);
  }
  return request;
}

v1::PlaceRequest WorkloadThatGrows(int pod_sets, int domains) {
  v1::PlaceRequest request = WorkloadWithPodSets(pod_sets);
  (*request.mutable_feature_gates())["ElasticJobsViaWorkloadSlicesWithTAS"] = true;
  v1::WorkloadBatch& batch = *request.mutable_workloads();
  v1::TopologyAssignment& assignment = *batch.add_assignments();
  assignment.add_levels(Add(*batch.mutable_strings(), kHostname));
  for (int i = 0; i < domains; ++i) {
    assignment.add_values(Add(*batch.mutable_strings(), HostName(i)));
    assignment.add_counts(1);
  }
  for (int i = 0; i < pod_sets; ++i) {
    batch.set_pod_set_counts(i, domains + 1);
    batch.add_pod_set_previous_assignments(1);
  }
  return request;
}

v1::PlaceRequest Replacements(int workloads, int domains) {
  v1::PlaceRequest request;
  BatchWriter writer(request);
  writer.Topology("");
  const std::uint32_t name = writer.String("workers");
  const std::uint32_t one_pod = writer.Resources(1);
  const std::uint32_t all_pods = writer.Resources(domains);
  v1::TopologyAssignment& assignment = *writer.batch().add_assignments();
  assignment.add_levels(writer.String(kHostname));
  for (int i = 0; i < domains; ++i) {
    assignment.add_values(writer.String(HostName(i)));
    assignment.add_counts(1);
  }
  const std::uint32_t failed = assignment.values(0);
  const std::uint32_t cpu = writer.String("cpu");
  const std::uint32_t flavor = writer.String("main");
  for (int w = 0; w < workloads; ++w) {
    writer.PodSet(name, domains, one_pod);
    writer.EndWorkload();
    v1::Replacement& replacement = *writer.batch().add_replacements();
    replacement.set_workload(static_cast<std::uint32_t>(w));
    replacement.add_unhealthy_nodes(failed);
    v1::AdmittedPodSet& admitted = *replacement.add_admitted();
    admitted.set_name(name);
    Set(*admitted.mutable_flavors(), cpu, flavor);
    admitted.set_resource_usage(all_pods);
    admitted.set_count(domains);
    admitted.set_assignment(1);
  }
  return request;
}

std::vector<v1::LoadStateRequest> ClusterWithFlavors(int nodes, int flavors) {
  auto chunks = UnendedChunks(nodes);
  for (int i = 1; i < flavors; ++i) AddFlavor(chunks.front(), fmt::format("flavor-{}", i));
  SetEnd(chunks);
  return chunks;
}

std::vector<v1::LoadStateRequest> ClusterWithResources(int nodes) {
  auto chunks = UnendedChunks(nodes);
  for (v1::LoadStateRequest& chunk : chunks) {
    for (v1::Node& node : *chunk.mutable_nodes()) {
      const std::string name = "example.com/of-" + chunk.strings(static_cast<int>(node.name()) - 1);
      Set(*node.mutable_allocatable(), Add(*chunk.mutable_strings(), name), 1);
    }
  }
  SetEnd(chunks);
  return chunks;
}

std::vector<v1::LoadStateRequest> ClusterWithTaints(int nodes) {
  auto chunks = UnendedChunks(nodes);
  int next = 0;
  for (v1::LoadStateRequest& chunk : chunks) {
    const std::uint32_t effect = Add(*chunk.mutable_strings(), "NoSchedule");
    for (v1::Node& node : *chunk.mutable_nodes()) {
      v1::Taint& taint = *node.add_taints();
      taint.set_key(Add(*chunk.mutable_strings(), fmt::format("taint-{}", next++)));
      taint.set_effect(effect);
    }
  }
  SetEnd(chunks);
  return chunks;
}

std::string CycleOfEmptyWorkloads(int workloads) {
  std::string bytes;
  for (int i = 0; i < workloads; ++i) bytes.append("\x62\x00", 2);  // field 12
  return bytes;
}

std::string UngateOfEmptyPods(int pods) {
  std::string bytes = SoundRequest(kUngate);
  for (int i = 0; i < pods; ++i) bytes.append("\x3a\x00", 2);  // field 7
  return bytes;
}

std::string SoundRequest(const std::string& method) {
  if (method == kLoadState) return Cluster(64).front().SerializeAsString();
  if (method == kPlace) {
    return Gangs({.gangs = 4, .pods = 3, .distinct = true, .level = "rack"}).SerializeAsString();
  }
  if (method == kReplace) return Replacements(2, 4).SerializeAsString();
  if (method == kListLeaves) {
    v1::ListLeavesRequest request;
    request.set_flavor("main");
    return request.SerializeAsString();
  }
  if (method == kUpdateState) {
    v1::UpdateStateRequest request;
    request.mutable_base()->set_generation(1);
    Strings& strings = *request.mutable_strings();
    v1::FlavorLeafUsage& usage = *request.add_set_tas_usage();
    usage.set_flavor(Add(strings, "main"));
    usage.set_leaf(Add(strings, HostName(3)));
    Set(*usage.mutable_usage(), Add(strings, "cpu"), 1000);
    request.add_remove_nodes(Add(strings, HostName(7)));
    return request.SerializeAsString();
  }
  if (method == kCycle) {
    v1::CycleRequest request;
    Strings& strings = *request.mutable_strings();
    const std::uint32_t name = Add(strings, "default");
    const std::uint32_t cpu = Add(strings, "cpu");
    v1::ClusterQueue& queue = *request.add_cluster_queues();
    queue.set_name(name);
    queue.set_queueing_strategy(Add(strings, "BestEffortFIFO"));
    queue.mutable_namespace_selector();
    v1::ResourceGroup& group = *queue.add_resource_groups();
    group.add_covered_resources(cpu);
    v1::FlavorQuota& quota = *group.add_flavors();
    quota.set_flavor(Add(strings, "main"));
    Set(*quota.mutable_nominal(), cpu, 100'000);
    v1::LocalQueue& local = *request.add_local_queues();
    local.set_namespace_(name);
    local.set_name(name);
    local.set_cluster_queue(name);
    Set(*request.add_resources(), cpu, 4000);
    request.add_topology_requests()->set_required(Add(strings, "rack"));
    for (int w = 0; w < 3; ++w) {
      v1::Workload& workload = *request.add_workloads();
      workload.set_namespace_(name);
      workload.set_name(Add(strings, fmt::format("workload-{}", w)));
      workload.set_queue_name(name);
      v1::PodSet& pod_set = *workload.add_pod_sets();
      pod_set.set_name(name);
      pod_set.set_count(3);
      pod_set.set_topology_request(1);
      pod_set.set_requests(1);
    }
    return request.SerializeAsString();
  }
  if (method == kUngate) {
    v1::UngateRequest request;
    Strings& strings = *request.mutable_strings();
    const std::uint32_t name = Add(strings, "default");
    v1::TopologyAssignment& assignment = *request.add_assignments();
    assignment.add_levels(Add(strings, kHostname));
    assignment.add_values(Add(strings, HostName(1)));
    assignment.add_counts(2);
    request.add_topology_requests()->set_required(Add(strings, "rack"));
    v1::Workload& workload = *request.mutable_workload();
    workload.set_namespace_(name);
    workload.set_name(name);
    v1::PodSet& pod_set = *workload.add_pod_sets();
    pod_set.set_name(name);
    pod_set.set_count(2);
    pod_set.set_topology_request(1);
    v1::AdmittedPodSet& admitted = *workload.mutable_admission()->add_pod_set_assignments();
    admitted.set_name(name);
    admitted.set_assignment(1);
    v1::Condition& condition = *workload.add_conditions();
    condition.set_type(Add(strings, "Admitted"));
    condition.set_status(Add(strings, "True"));
    for (int p = 0; p < 2; ++p) {
      v1::Pod& pod = *request.add_pods();
      pod.set_namespace_(name);
      pod.set_name(Add(strings, fmt::format("pod-{}", p)));
      Set(*pod.mutable_labels(), Add(strings, "kueue.x-k8s.io/podset"), name);
      Set(*pod.mutable_annotations(), Add(strings, "kueue.x-k8s.io/workload"), name);
      pod.set_gated(true);
    }
    return request.SerializeAsString();
  }
  return {};  // GetStateSummary
}

// Deflated blocks of zeros that end on a byte follow each other like the first; only the last one
// says so.
std::string SoundHoldRequest(const std::string& method, const std::string& hold) {
  if (method == kConfirmHolds) {
    v1::ConfirmHoldsRequest request;
    request.add_ids(hold);
    request.set_reported(true);
    return request.SerializeAsString();
  }
  if (method == kReleaseHolds) {
    v1::ReleaseHoldsRequest request;
    request.add_ids(hold);
    return request.SerializeAsString();
  }
  v1::ExtendHoldsRequest request;
  request.add_ids(hold);
  request.set_hold_seconds(60);
  return request.SerializeAsString();
}

std::string GzipOfZeros(int mebibytes) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::string zeros(kBlock, '\0');
  const auto deflated = [&](int flush, int window_bits) {
    z_stream stream = {};
    if (deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::runtime_error("deflateInit2");
    }
    std::string out(kBlock, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
    stream.avail_in = static_cast<uInt>(zeros.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, flush);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
  };
  const std::string block = deflated(Z_FULL_FLUSH, -MAX_WBITS);
  const uLong block_sum = crc32(0, reinterpret_cast<const Bytef*>(zeros.data()), kBlock);
  std::string bytes("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  uLong sum = 0;
  for (int i = 0; i < mebibytes; ++i) {
    bytes += i + 1 < mebibytes ? block : deflated(Z_FINISH, -MAX_WBITS);
    sum = crc32_combine(sum, block_sum, kBlock);
  }
  const auto size = static_cast<std::uint64_t>(mebibytes) * kBlock;
  for (const std::uint64_t word : {std::uint64_t{sum}, size}) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xff);
  }
  return bytes;
}

}  // namespace espalier::attack
