// The answers of a back end one by one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "host/engine/backend.hpp"

namespace espalier {

struct Evaluated {
  PlacementStatus status = PlacementStatus::kDoesNotFit;
  std::int32_t level = 0;
  std::vector<LeafShare> shares;
  std::optional<FailedPlacement> failed;  // its row is 0

  bool operator==(const Evaluated&) const = default;

  PlacementResult Result() const { return {status, level, shares, failed ? &*failed : nullptr}; }
};

inline Evaluated EvaluatedRow(const PlacementColumns& columns, std::size_t row) {
  const PlacementResult result = columns.At(row);
  Evaluated one{result.status, result.level, {result.shares.begin(), result.shares.end()}, {}};
  if (result.failed != nullptr) {
    one.failed = *result.failed;
    one.failed->row = 0;
  }
  return one;
}

// Evaluates all jobs together.
inline std::vector<Evaluated> Evaluate(Backend& backend, std::span<const PlacementJob> jobs) {
  std::vector<Evaluation> asked;
  for (const PlacementJob& job : jobs) {
    asked.push_back({static_cast<std::int32_t>(asked.size()), job.query.pods});
  }
  PlacementColumns columns;
  backend.Evaluate(jobs, asked, columns);
  std::vector<Evaluated> all;
  for (std::size_t row = 0; row < columns.size(); ++row) all.push_back(EvaluatedRow(columns, row));
  return all;
}

inline Evaluated Evaluate(Backend& backend, const PlacementJob& job) {
  return Evaluate(backend, {&job, 1}).front();
}

}  // namespace espalier
