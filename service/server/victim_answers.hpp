// Answers who must go for workloads to fit, workload by workload.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/v1/questions.pb.h"
#include "host/what_if/prefix_batch.hpp"
#include "service/server/question_context.hpp"
#include "service/server/question_input.hpp"

namespace espalier {

class VictimAnswers {
 public:
  // Takes over a call that is open.
  explicit VictimAnswers(QuestionContext asked)
      : asked_(std::move(asked)), questions_(asked_.MakeQuestions()) {}

  // Reads everything else and looks at all of it, so that a wrong question is refused before any is
  // answered.
  Result<void> Read(const v1::FindVictimsRequest& request);

  // Answers the next workload. Returns whether there are more.
  Result<bool> Next(v1::FindVictimsResponse& response);

 private:
  Result<void> ReadSupposed(const v1::FindVictimsRequest& request);
  // Returns the positions of those who may go for a workload.
  const std::vector<std::uint32_t>& PositionsOf(std::size_t workload) const {
    return candidates_.size() == 1 ? candidates_[0] : candidates_[workload];
  }
  std::vector<RunningWorkload> Candidates(std::size_t workload) const;
  // Refuses lists whose victims may not go together.
  Result<void> CheckLists() const;
  Result<void> FindFirst(v1::FindVictimsResponse& response);
  Result<void> FindCheapest(v1::FindVictimsResponse& response);

  QuestionContext asked_;
  LocalQuestions questions_;
  std::vector<RunningWorkload> victims_;
  Lists candidates_;  // [workloads]; only one where it is that of all
  bool cheapest_ = false;
  std::optional<PrefixBatch> batch_;  // absent: the cheapest are wanted
  std::deque<PrefixAnswer> found_;    // of the workloads from `next_` on
  std::size_t next_ = 0;
};

}  // namespace espalier
