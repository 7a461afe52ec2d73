#include "host/cuda/count_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace espalier {

double ExactInverse(Amount request) {
  const auto divisor = static_cast<double>(request);
  const double inverse = 1.0 / divisor;
  if (std::fma(inverse, divisor, -1.0) >= 0) return inverse;
  return std::nextafter(inverse, std::numeric_limits<double>::infinity());
}

bool FitsTile(const PlacementJob& job) {
  if (job.query.leaders > 0 || !job.assumed.empty() || job.replacement_domain.begin != 0 ||
      job.replacement_domain.end != job.state->snapshot().leaf_count()) {
    return false;
  }
  const RequestVector& workers = job.shape->workers;
  for (std::size_t i = 0; i < workers.amounts.size(); ++i) {
    const Amount amount = workers.amounts[i];
    if (workers.columns[i] < 0 || amount < 0 || amount >= kExactAmount) return false;
    if (job.state->Magnitude(workers.columns[i]) >= kExactAmount) return false;
  }
  return !workers.amounts.empty();
}

CountTile PackTile(std::span<const PlacementJob* const> jobs, const CountRow* rows,
                   CapacityView capacity, Packer& packer) {
  std::vector<std::int32_t> columns;
  for (const PlacementJob* job : jobs) {
    const RequestVector& workers = job->shape->workers;
    columns.insert(columns.end(), workers.columns.begin(), workers.columns.end());
  }
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<double> inverse(columns.size() * kRowsPerBlock, 0.0);
  std::vector<std::int32_t> entry(inverse.size(), -1);
  std::vector<double> slice_inverse(kRowsPerBlock, 0.0);
  for (std::size_t r = 0; r < jobs.size(); ++r) {
    const Shape& shape = *jobs[r]->shape;
    for (std::size_t i = 0; i < shape.workers.amounts.size(); ++i) {
      const Amount amount = shape.workers.amounts[i];
      if (amount == 0) continue;  // never limits
      const auto column = std::ranges::lower_bound(columns, shape.workers.columns[i]);
      const std::size_t at = static_cast<std::size_t>(column - columns.begin()) * kRowsPerBlock + r;
      inverse[at] = ExactInverse(amount);
      entry[at] = static_cast<std::int32_t>(i);
    }
    const bool sliced = shape.slice.level == jobs[r]->state->snapshot().tree().lowest();
    if (sliced && shape.slice.size < kExactAmount) {
      slice_inverse[r] = ExactInverse(shape.slice.size);
    }
  }
  CountTile tile;
  tile.capacity = capacity;
  tile.row_count = static_cast<std::int32_t>(jobs.size());
  tile.column_count = static_cast<std::int32_t>(columns.size());
  tile.column = packer.Add(columns);
  tile.inverse = packer.Add(inverse);
  tile.entry = packer.Add(entry);
  tile.rows = rows;
  tile.slice_inverse = packer.Add(slice_inverse);
  return tile;
}

}  // namespace espalier
