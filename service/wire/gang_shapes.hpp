// Shapes of gangs that were resolved before, kept by their words: controllers ask about the same
// few shapes again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "espalier/v1/workload.pb.h"
#include "host/engine/feature_gates.hpp"
#include "host/engine/gang_batch.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// Of one set of nodes: of a state and those that only differ from it in usage. Holds so many shapes
// and bytes of words at most, and starts over when they are reached. All functions may be called
// from several threads at once.
class KnownGangShapes {
 public:
  static constexpr std::size_t kMostShapes = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // Null when the words are not known.
  std::shared_ptr<const ResolvedGangShape> Find(const std::string& words) const;
  void Keep(std::string words, std::shared_ptr<const ResolvedGangShape> shape);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::unordered_map<std::string, std::shared_ptr<const ResolvedGangShape>> shapes_;
  std::size_t bytes_ = 0;
};

// The words of a batch's workloads as texts: equal for what means the same, in any two messages.
class ShapeWords {
 public:
  // `message` has sound columns. Texts are charged to `budget`; both outlive this.
  ShapeWords(const v1::WorkloadBatch& message, const FeatureGates& gates, WorkBudget& budget);

  // Makes `text` what makes the shape of workload `w`, numbers of pods apart. False when something
  // is wrong with it, or the work is to stop.
  bool Read(int w, std::string& text);

  // Whether the workloads asked for used every row of every table: the others were not looked at.
  bool UsedAllRows() const;

 private:
  // By reference: the text of a row; nullopt when something is wrong with it.
  using Rows = std::unordered_map<std::uint32_t, std::optional<std::string>>;

  bool Add(std::string_view part, std::string& text);
  bool AddString(std::uint32_t reference, std::string& text);
  template <class Table>
  bool AddRow(const Table& table, std::uint32_t reference, Rows& rows, std::string& text);
  std::optional<std::string> Text(const v1::ResourceVector& row);
  std::optional<std::string> Text(const v1::TopologyRequest& row);
  std::optional<std::string> Text(const v1::NodeConstraints& row);

  const v1::WorkloadBatch& message_;
  WorkBudget& budget_;
  std::string gates_;
  Rows resources_;
  Rows topology_requests_;
  Rows node_constraints_;
};

}  // namespace espalier
