// Reads a text of objects, and tells the units that are placed of it.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"

namespace espalier {

inline ClusterRead Read(const std::string& text) {
  auto read = ReadClusterText("f", text);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : ClusterRead();
}

// Returns a pod of namespace `team` that asks for one core. `spec` has further members of its spec,
// each with a comma after it, and `metadata` those of its metadata, each with one before it.
inline std::string PodText(const std::string& name, const std::string& spec,
                           const std::string& metadata = "") {
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name +
         R"(", "namespace": "team")" + metadata + R"(}, "spec": {)" + spec +
         R"("containers": [{"resources": {"requests": {"cpu": "1"}}}]}})" + "\n";
}

// Returns why a text is refused; "" when it is not.
inline std::string ErrorOf(const std::string& text) {
  const auto read = ReadClusterText("f", text);
  return read ? "" : read.error().message;
}

// Returns of each unit "name: pod set x count, ...", or why it waits.
inline std::vector<std::string> UnitTexts(const ClusterRead& read) {
  std::vector<std::string> units;
  for (const Workload& unit : read.cluster.workloads) {
    std::string text = unit.key.name + ":" + unit.refusal;
    for (const PodSet& pod_set : unit.pod_sets) {
      text += fmt::format(" {} x {}", pod_set.name, pod_set.count);
    }
    units.push_back(text);
  }
  return units;
}

}  // namespace espalier
