// The canonical keys of the shapes of gangs, by which they are cached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "espalier/v1/workload.pb.h"
#include "host/engine/feature_gates.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// Reads the canonical keys of the shapes of a batch's workloads: equal for shapes that mean the
// same, in any two messages.
class ShapeKeyReader {
 public:
  // Reads from `message`, whose columns must be valid. Keys are charged to `budget`; both must
  // outlive this.
  ShapeKeyReader(const v1::WorkloadBatch& message, const FeatureGates& gates, WorkBudget& budget);

  // Sets `key` to the canonical key of the shape of workload `w`, without its numbers of pods.
  // Returns false when something is wrong with it, or the work must stop.
  bool Read(int w, std::string& key);

  // Returns whether the workloads read so far use every row of every table, as rows that they do
  // not use were not checked.
  bool UsedAllRows() const;

 private:
  // The key of a row by reference; nullopt when something is wrong with it.
  using Rows = std::unordered_map<std::uint32_t, std::optional<std::string>>;

  bool Add(std::string_view part, std::string& key);
  bool AddString(std::uint32_t reference, std::string& key);
  template <class Table>
  bool AddRow(const Table& table, std::uint32_t reference, Rows& rows, std::string& key);
  std::optional<std::string> KeyOf(const v1::ResourceVector& row);
  std::optional<std::string> KeyOf(const v1::TopologyRequest& row);
  std::optional<std::string> KeyOf(const v1::NodeConstraints& row);

  const v1::WorkloadBatch& message_;
  WorkBudget& budget_;
  std::string gates_;
  Rows resources_;
  Rows topology_requests_;
  Rows node_constraints_;
};

}  // namespace espalier
