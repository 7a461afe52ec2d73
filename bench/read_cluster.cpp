// Cold load of a kubectl dump: JSON parsing alone against the whole read into the model, of a text
// in memory and of a file. Reports bytes per second; the others should stay close to the first.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/readers/cluster_files.hpp"

namespace {

constexpr int kImages = 3;

// Returns a field that tells who wrote what, as `--show-managed-fields` or a client of the API
// server leaves it in.
const std::string& ManagedFields() {
  static const std::string fields = [] {
    std::string json;
    for (const char* part : {"metadata", "spec", "status"}) {
      fmt::format_to(std::back_inserter(json), R"({0}                    {{
                        "apiVersion": "v1",
                        "fieldsType": "FieldsV1",
                        "fieldsV1": {{
                            "f:{1}": {{
)",
                     json.empty() ? "" : ",\n", part);
      constexpr int kFields = 12;
      for (int field = 0; field < kFields; ++field) {
        fmt::format_to(std::back_inserter(json),
                       R"(                                "f:{}-{}": {{}}{}
)",
                       part, field, field + 1 < kFields ? "," : "");
      }
      json += R"(                            }
                        },
                        "manager": "kubelet",
                        "operation": "Update",
                        "time": "2026-01-01T00:00:00Z"
                    })";
    }
    return json;
  }();
  return fields;
}

// One node as `kubectl get nodes -o json` indents it, with the fields that a cluster fills in: 8
// KB.
void AppendNode(std::string& json, std::int64_t index) {
  const std::string name = fmt::format("gpu-b{}-r{}-n{}", index / 320, index / 16 % 20, index % 16);
  fmt::format_to(std::back_inserter(json), R"(        {{
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {{
                "annotations": {{
                    "csi.volume.kubernetes.io/nodeid": "{{\"ebs.csi.aws.com\":\"i-{3:017}\"}}",
                    "node.alpha.kubernetes.io/ttl": "0",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true"
                }},
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {{
                    "beta.kubernetes.io/arch": "amd64",
                    "beta.kubernetes.io/os": "linux",
                    "example.com/topology-block": "b{0}",
                    "example.com/topology-rack": "b{0}-r{1}",
                    "kubernetes.io/arch": "amd64",
                    "kubernetes.io/hostname": "{2}",
                    "kubernetes.io/os": "linux",
                    "node-pool": "gpu",
                    "node.kubernetes.io/instance-type": "p5.48xlarge",
                    "nvidia.com/gpu.present": "true",
                    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                    "topology.kubernetes.io/zone": "zone-a"
                }},
                "managedFields": [
{4}
                ],
                "name": "{2}",
                "resourceVersion": "{3}",
                "uid": "8d534a20-5704-4613-8a52-{3:012}"
            }},
            "spec": {{
                "providerID": "aws:///zone-a/i-{3:012}",
                "taints": [
                    {{
                        "effect": "NoSchedule",
                        "key": "nvidia.com/gpu",
                        "value": "present"
                    }}
                ]
            }},
            "status": {{
                "addresses": [
                    {{
                        "address": "10.1.200.10",
                        "type": "InternalIP"
                    }},
                    {{
                        "address": "{2}",
                        "type": "Hostname"
                    }}
                ],
                "allocatable": {{
                    "cpu": "191450m",
                    "ephemeral-storage": "494772390604",
                    "hugepages-1Gi": "0",
                    "hugepages-2Mi": "0",
                    "memory": "2063392Mi",
                    "nvidia.com/gpu": "8",
                    "pods": "110"
                }},
                "capacity": {{
                    "cpu": "192",
                    "ephemeral-storage": "524276Mi",
                    "memory": "2Ti",
                    "nvidia.com/gpu": "8",
                    "pods": "110"
                }},
                "conditions": [
)",
                 index / 320, index / 16 % 20, name, index, ManagedFields());
  for (const char* condition : {"NetworkUnavailable", "MemoryPressure", "DiskPressure"}) {
    fmt::format_to(std::back_inserter(json), R"(                    {{
                        "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                        "message": "kubelet has no {0}",
                        "reason": "KubeletHasNo{0}",
                        "status": "False",
                        "type": "{0}"
                    }},
)",
                   condition);
  }
  json += R"(                    {
                        "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                        "message": "kubelet is posting ready status",
                        "reason": "KubeletReady",
                        "status": "True",
                        "type": "Ready"
                    }
                ],
                "images": [
)";
  for (int image = 0; image < kImages; ++image) {
    fmt::format_to(std::back_inserter(json), R"(                    {{
                        "names": [
                            "registry.example.com/team/image-{0}@sha256:{1:064x}",
                            "registry.example.com/team/image-{0}:v{0}"
                        ],
                        "sizeBytes": {1}
                    }}{2}
)",
                   image, (image + 1) * 104'729'000, image + 1 < kImages ? "," : "");
  }
  json += R"(                ],
                "nodeInfo": {
                    "architecture": "amd64",
                    "containerRuntimeVersion": "containerd://2.1.4",
                    "kernelVersion": "6.8.0-1036-aws",
                    "kubeletVersion": "v1.36.3",
                    "operatingSystem": "linux",
                    "osImage": "Ubuntu 24.04.3 LTS"
                }
            }
        })";
}

constexpr const char* kListBegin = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n";
constexpr const char* kListEnd = "\n    ],\n    \"kind\": \"List\"\n}\n";

std::string NodeDump(std::int64_t nodes) {
  std::string json = kListBegin;
  for (std::int64_t i = 0; i < nodes; ++i) {
    if (i > 0) json += ",\n";
    AppendNode(json, i);
  }
  json += kListEnd;
  return json;
}

void ParseOnly(benchmark::State& state) {
  const std::string json = NodeDump(state.range(0));
  for (auto _ : state) {
    // Each parse starts as cold as the reader: with a new parser, and a copy of the text that may
    // be overwritten.
    std::string text;
    text.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    text = json;
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(text).get(root) != simdjson::SUCCESS) state.SkipWithError("not valid JSON");
    benchmark::DoNotOptimize(root);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(json.size()));
}

void ReadCluster(benchmark::State& state) {
  const std::string json = NodeDump(state.range(0));
  double parse_seconds = 0;
  double convert_seconds = 0;
  for (auto _ : state) {
    std::string text;
    text.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    text = json;
    const auto read = espalier::ReadClusterText("nodes.json", std::move(text));
    if (!read || static_cast<std::int64_t>(read->cluster.nodes.size()) != state.range(0)) {
      state.SkipWithError("the dump was not read");
      break;
    }
    parse_seconds += read->facts.parse_seconds;
    convert_seconds += read->facts.convert_seconds;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(json.size()));
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["parse_s"] = parse_seconds / rounds;
  state.counters["convert_s"] = convert_seconds / rounds;
}

// From a file, in pieces. `peak_MiB` is of the process: run it alone.
void ReadFile(benchmark::State& state) {
  const std::string path = fmt::format("/tmp/espalier-bench-{}.json", ::getpid());
  {
    std::ofstream file(path);
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      std::string node;
      AppendNode(node, i);
      file << (i == 0 ? kListBegin : ",\n") << node;
    }
    file << kListEnd;
  }
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    const auto read = espalier::ReadClusterFiles({path});
    if (!read || static_cast<std::int64_t>(read->cluster.nodes.size()) != state.range(0)) {
      state.SkipWithError("the dump was not read");
      break;
    }
    bytes += read->facts.bytes;
  }
  std::filesystem::remove(path);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

BENCHMARK(ReadFile)->Arg(5000)->Arg(131072)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ParseOnly)->Arg(5000)->Arg(131072)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ReadCluster)->Arg(5000)->Arg(131072)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
