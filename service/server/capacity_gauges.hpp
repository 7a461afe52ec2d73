// Counts how many more gangs of given shapes fit, once for each state.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/live/state_store.hpp"
#include "service/server/capacity_shape.hpp"

namespace espalier {

// Gauges of capacity. Thread-safe.
class CapacityGauges {
 public:
  // Keeps a reference to `store`, which must outlive the gauges.
  CapacityGauges(const StateStore& store, std::vector<CapacityShape> shapes, FeatureGates gates,
                 std::shared_ptr<Backend> backend)
      : store_(store), shapes_(std::move(shapes)), gates_(gates), backend_(std::move(backend)) {}

  struct Value {
    std::string shape;
    std::string flavor;
    std::string level;  // label key; empty: anywhere in the flavor
    std::int64_t gangs = 0;
  };
  // Returns one value for each shape, flavor with a topology and level of the current state; counts
  // again only when the state has changed. Empty before the first load.
  std::vector<Value> Values() const;

 private:
  const StateStore& store_;
  const std::vector<CapacityShape> shapes_;
  const FeatureGates gates_;
  const std::shared_ptr<Backend> backend_;
  mutable std::mutex mutex_;  // guards all below
  mutable StatePosition counted_{};
  mutable std::vector<Value> values_;
};

}  // namespace espalier
