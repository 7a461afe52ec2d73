// Makes the pods of a SparkApplication as Kueue counts them: by the fields of its driver and its
// executor, and not by their pod templates, of which only the metadata is taken.
#pragma once

#include <string>
#include <string_view>

#include "host/readers/sources/made_objects.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// The pods of one role.
struct SparkRole {
  std::string_view name;       // of its field and its pod set
  std::string_view container;  // that Spark runs in
  // The first container of this name, sidecars included, has the resources that the role asks for;
  // the first of all where there is none.
  std::string_view with_resources;
};

inline constexpr SparkRole kSparkDriver = {"driver", "spark-kubernetes-driver",
                                           "spark-kubernetes-driver"};
inline constexpr SparkRole kSparkExecutor = {"executor", "spark-kubernetes-executor", "executor"};

// Begins the names of volumes that the operator does not mount as such.
inline constexpr std::string_view kSparkLocalDirectory = "spark-local-dir-";

// A quantity that a role asks for as a text.
struct SparkQuantity {
  std::string_view field;     // of the role
  std::string_view resource;  // cpu or memory
  bool is_limit;
  bool is_memory;          // as of a Java virtual machine, such as 512m
  std::string_view title;  // in Kueue's errors
};

inline constexpr SparkQuantity kSparkQuantities[] = {
    {"coreRequest", "cpu", false, false, "CPU requests"},
    {"coreLimit", "cpu", true, false, "CPU limit"},
    {"memory", "memory", false, true, "memory requests"},
    {"memoryLimit", "memory", true, true, "memory limit"},
};

// Returns a quantity of Kubernetes, if it is one, for the text that a role has for `quantity`.
std::string KubernetesText(const SparkQuantity& quantity, std::string_view text);

// Returns the template of a role's pods in the namespace. `spec` is that of the application.
// Reports nothing.
JsonValue MadeSparkPods(std::string_view name_space, JsonValue spec, JsonValue role_spec,
                        const SparkRole& role, MadeObjects& made);

}  // namespace espalier
