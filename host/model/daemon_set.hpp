// Describes a pod that runs on every node it matches.
#pragma once

#include "host/model/workload.hpp"

namespace espalier {

struct DaemonSet {
  ObjectKey key;
  PodTemplate pod_template;
  bool operator==(const DaemonSet&) const = default;
};

}  // namespace espalier
