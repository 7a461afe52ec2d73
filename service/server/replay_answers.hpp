// Answers what would be decided about workloads that another scheduler gave something.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/v1/questions.pb.h"
#include "service/server/question_context.hpp"

namespace espalier {

// Decides one workload after the other, each on what is free at its turn, and books what was really
// chosen for it.
class ReplayAnswers {
 public:
  // Takes over a call that is open.
  explicit ReplayAnswers(QuestionContext asked) : asked_(std::move(asked)) {}

  // Reads everything else, and frees what the workloads and those that ended use.
  Result<void> Read(const v1::ReplayRequest& request);

  // Answers the next workload. Returns whether there are more.
  Result<bool> Next(v1::ReplayResponse& response);

 private:
  QuestionContext asked_;
  std::optional<Engine> engine_;
  std::optional<Replayer> replayer_;                  // at the next workload's turn
  std::vector<std::vector<FlavorLeafUsage>> chosen_;  // by workload
  std::size_t next_ = 0;
};

}  // namespace espalier
