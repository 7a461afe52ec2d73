#include "host/gangs/gang_workload.hpp"

#include <fmt/format.h>

namespace espalier {

std::string_view ToString(ReplicaMode mode) {
  switch (mode) {
    case ReplicaMode::kUnreplicated:
      return "Unreplicated";
    case ReplicaMode::kReplicatedPods:
      return "ReplicatedPods";
    case ReplicaMode::kReplicatedGangs:
      return "ReplicatedGangs";
  }
  return "";
}

std::string_view ToString(GangMode mode) { return mode == GangMode::kGang ? "Gang" : "Off"; }

std::string LabelFieldPath(std::string_view key) {
  return fmt::format("metadata.labels['{}']", key);
}

}  // namespace espalier
