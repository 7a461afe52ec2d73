#include "host/cuda/shape_batch.hpp"

#include <algorithm>
#include <vector>

#include "host/engine/leaf_input.hpp"
#include "host/packing/reciprocals.hpp"

namespace espalier {

bool FitsShapeBatch(const PlacementJob& job) {
  if (job.query.leaders > 0 || !job.assumed.empty() || IsPartial(job)) return false;
  const RequestVector& workers = job.shape->workers;
  for (std::size_t i = 0; i < workers.amounts.size(); ++i) {
    const Amount amount = workers.amounts[i];
    if (workers.columns[i] < 0 || amount < 0 || amount >= kExactAmount) return false;
    if (job.state->Magnitude(workers.columns[i]) >= kExactAmount) return false;
  }
  return !workers.amounts.empty();
}

bool FitsClasses(const PlacementJob& job) {
  const FlavorState& state = *job.state;
  if (state.classes() == nullptr || job.simulate_empty || NeedsLeaves(job)) return false;
  if (!job.assumed.empty() || IsPartial(job)) return false;
  const auto fits = [&](const RequestVector& request, const Amount* beside) {
    for (std::size_t i = 0; i < request.amounts.size(); ++i) {
      const Amount leader = beside == nullptr ? 0 : beside[i];
      if (request.columns[i] < 0) continue;  // no leaf has any
      if (request.amounts[i] < 0 || leader < 0 ||
          !IsWholeUnits(state.tiles(), request.columns[i], request.amounts[i], leader)) {
        return false;
      }
    }
    return true;
  };
  const PodShape& shape = *job.shape;
  const bool led = !shape.leader.amounts.empty();
  return fits(shape.workers, led ? shape.leader_on_workers.data() : nullptr) &&
         fits(shape.leader, nullptr);
}

double InverseOf(Amount request) { return request == 0 ? 0 : Reciprocal<double>(request); }

double SliceInverseOf(const PlacementJob& job) {
  const SliceRule& slice = job.shape->slice;
  const bool sliced = slice.level == job.state->snapshot().tree().lowest();
  return sliced && slice.size < kExactAmount ? Reciprocal<double>(slice.size) : 0;
}

ShapeBatch PackShapeBatch(std::span<const PlacementJob* const> jobs,
                          const ResidentShape* const* shapes, CapacityView capacity,
                          Packer& packer) {
  std::vector<std::int32_t> columns;
  for (const PlacementJob* job : jobs) {
    const RequestVector& workers = job->shape->workers;
    columns.insert(columns.end(), workers.columns.begin(), workers.columns.end());
  }
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<double> inverse(columns.size() * kShapesPerBlock, 0.0);
  std::vector<double> slice_inverse(kShapesPerBlock, 0.0);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const PodShape& shape = *jobs[j]->shape;
    for (std::size_t i = 0; i < shape.workers.amounts.size(); ++i) {
      const auto column = std::ranges::lower_bound(columns, shape.workers.columns[i]);
      const std::size_t at =
          static_cast<std::size_t>(column - columns.begin()) * kShapesPerBlock + j;
      inverse[at] = InverseOf(shape.workers.amounts[i]);
    }
    slice_inverse[j] = SliceInverseOf(*jobs[j]);
  }
  ShapeBatch batch;
  batch.capacity = capacity;
  batch.shape_count = static_cast<std::int32_t>(jobs.size());
  batch.column_count = static_cast<std::int32_t>(columns.size());
  batch.column = packer.Add(columns);
  batch.inverse = packer.Add(inverse);
  batch.shapes = shapes;
  batch.slice_inverse = packer.Add(slice_inverse);
  return batch;
}

}  // namespace espalier
