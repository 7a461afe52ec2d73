// Predicts by arithmetic how long a GPU takes for the calls of the back end: instructions of a loop
// by its trips, bytes, dependent steps, launches and waits. Held beside what was measured, it tells
// where time goes that no one accounts for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "host/cuda/device.hpp"

namespace espalier {

// The speeds of a GPU, by its data sheet and by common experience.
struct GpuFigures {
  std::string_view name;
  double processors = 0;
  double cycles_per_second = 0;
  double memory_bytes_per_second = 0;
  double bus_bytes_per_second = 0;  // from and to page-locked memory
  double launch_seconds = 0;        // from one kernel to the next
  double wait_seconds = 0;          // until the host sees that everything is done
  double load_seconds = 0;          // one load that the next step depends on
};

inline constexpr std::array<GpuFigures, 2> kModelledGpus = {{
    {"H100", 132, 1.755e9, 3.35e12, 50e9, 2.5e-6, 7e-6, 0.4e-6},
    {"H200", 132, 1.755e9, 4.8e12, 50e9, 2.5e-6, 7e-6, 0.4e-6},
}};

// Sizes that the host cannot read from the arguments of kernels.
struct ModelSizes {
  std::vector<std::int32_t> level_widths;  // domains of each level, coarsest first
  std::int32_t columns = 1;                // requested by a shape
  double reached_leaves = 0;               // that a decision counts, on average
};

// Returns the seconds that one kernel takes once it runs.
double KernelSeconds(const GpuFigures& gpu, const ModelSizes& sizes, const KernelCall& call);

// The predicted seconds of a sequence of calls.
struct Prediction {
  std::array<double, kKernels> kernels = {};  // by index in KernelCall
  double launches = 0;
  double copies = 0;
  double waits = 0;

  double total() const;
};

// Sums up predictions for all modelled GPUs, in the order of kModelledGpus.
class Predictor {
 public:
  // Starts anew, for calls on a state of these sizes.
  void Start(ModelSizes sizes);

  void AddKernel(const KernelCall& call);
  void AddCopy(std::size_t bytes);
  void AddWait();

  const std::array<Prediction, kModelledGpus.size()>& predictions() const { return predictions_; }

 private:
  ModelSizes sizes_;
  std::array<Prediction, kModelledGpus.size()> predictions_ = {};
};

}  // namespace espalier
