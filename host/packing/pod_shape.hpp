// A shape: what makes two pod sets equal for counting, so that a queue of thousands is counted as
// dozens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/model/resources.hpp"
#include "host/packing/node_filter.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A request vector bound to a snapshot's columns, in byte-wise order of the names (R5.10).
struct RequestVector {
  std::vector<std::string> names;
  std::vector<std::int32_t> columns;  // -1: no node has the resource
  std::vector<Amount> amounts;        // per pod; the pod slot is included (R5.11)

  bool operator==(const RequestVector&) const = default;
};

struct PodShape {
  RequestVector workers;
  RequestVector leader;                   // empty: no leader
  std::vector<Amount> leader_on_workers;  // what the leader takes of each worker resource
  SliceRule slice;
  // Constraints on nodes; null: none (R7.1). The leaves that pass depend on the state.
  std::shared_ptr<const NodeConstraints> constraints;
  std::string constraints_key;  // NodeConstraints::Key

  // Returns a text that is equal for equal shapes only.
  std::string Key() const;
  // Returns the bytes of memory that it takes, those of the constraints by their key.
  std::int64_t Bytes() const;
};

}  // namespace espalier
