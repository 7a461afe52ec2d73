// MPIJobs and the kinds of Kubeflow's training operator.
#pragma once

#include <array>
#include <string_view>

namespace espalier {

// A kind, the field that holds its replica specs, and their types in Kueue's order.
struct TrainingKind {
  std::string_view kind;
  std::string_view field;
  std::array<std::string_view, 5> types;  // empty ones stand for none
};

// Returns the row of the kind, which must be one of them.
const TrainingKind& TrainingKindOf(std::string_view kind);

}  // namespace espalier
