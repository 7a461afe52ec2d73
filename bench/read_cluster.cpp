// Cold load of a kubectl dump in memory: JSON parsing alone against the whole read into the model.
// Reports bytes per second; the second should stay close to the first.
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "host/readers/cluster_files.hpp"

namespace {

// One node as `kubectl get nodes -o json` indents it, with the fields a kubelet fills in.
void AppendNode(std::string& json, std::int64_t index) {
  const std::string name = fmt::format("gpu-b{}-r{}-n{}", index / 320, index / 16 % 20, index % 16);
  fmt::format_to(std::back_inserter(json), R"(        {{
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {{
                "annotations": {{
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
                 index / 320, index / 16 % 20, name, index);
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

std::string NodeDump(std::int64_t nodes) {
  std::string json = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n";
  for (std::int64_t i = 0; i < nodes; ++i) {
    if (i > 0) json += ",\n";
    AppendNode(json, i);
  }
  json += "\n    ],\n    \"kind\": \"List\"\n}\n";
  return json;
}

void ParseOnly(benchmark::State& state) {
  const std::string json = NodeDump(state.range(0));
  for (auto _ : state) {
    // As cold as the reader: a new parser, a copy of the text that may be overwritten.
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

BENCHMARK(ParseOnly)->Arg(5000)->Arg(131072)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ReadCluster)->Arg(5000)->Arg(131072)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
