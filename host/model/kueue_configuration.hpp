// Kueue's Configuration, as far as it says what is placed, and what quota looks at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/label_selector.hpp"
#include "host/model/quantity.hpp"

namespace espalier {

// The resources that quota counts in the place of one that a pod requests, or besides it.
struct ResourceTransformation {
  std::string input;          // resource that a pod requests
  bool retain = true;         // quota counts the input too (strategy Retain)
  std::string multiply_by;    // resource whose request multiplies the outputs; empty: none does
  FlatMap<Quantity> outputs;  // per unit of the input, a core for cpu; may be negative
  bool operator==(const ResourceTransformation&) const = default;
};

// The resource as which quota counts the devices of some DeviceClasses (R30.7).
struct DeviceClassMapping {
  std::string resource;
  std::vector<std::string> device_classes;  // each in one mapping
  // True where quota counts a counter or a capacity of the devices, not how many they are.
  bool has_sources = false;
  bool operator==(const DeviceClassMapping&) const = default;
};

struct KueueConfiguration {
  // Its source: "cluster.json, object 3: ConfigMap kueue-system/kueue-manager-config".
  std::string place;
  std::string json;  // the Configuration itself, as JSON

  std::vector<std::string> excluded_prefixes;           // of resources that quota does not look at
  std::vector<ResourceTransformation> transformations;  // each input once
  std::vector<DeviceClassMapping> device_classes;       // each resource once
  // True where quota leaves out resources that a ClusterQueue does not cover.
  bool ignore_undeclared = false;

  std::map<std::string, bool> feature_gates;  // by name, also those that are not known here

  std::vector<std::string> frameworks;           // integrations that are on
  std::vector<std::string> external_frameworks;  // "Kind.version.group"
  bool manage_jobs_without_queue_name = false;
  LabelSelector managed_namespaces;  // those whose jobs Kueue manages

  bool operator==(const KueueConfiguration&) const = default;
};

}  // namespace espalier
