// Answers questions about changed states, message by message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "espalier/v1/questions.pb.h"
#include "service/server/question_context.hpp"
#include "service/server/question_input.hpp"

namespace espalier {

class WhatIfAnswers {
 public:
  explicit WhatIfAnswers(QuestionContext asked) : asked_(std::move(asked)) {}

  // Reads and checks everything else, so that a wrong question is refused before any is answered.
  Result<void> Read(const v1::WhatIfRequest& request);

  // Answers the next questions. Returns whether there are more.
  Result<bool> Next(v1::WhatIfResponse& response);

 private:
  const ClusterState& state() const { return empty_ ? *empty_ : asked_.state(); }
  Result<void> ReadNodes(const v1::WhatIfRequest& request);
  Result<void> EmptyState(const v1::WhatIfRequest& request);
  Result<void> CheckQuestions() const;
  bool IsPlain(std::size_t question) const;
  std::size_t EntriesOf(std::size_t question) const;
  Result<void> AnswerPlain(std::size_t end, v1::WhatIfResponse& response);
  Result<void> AnswerEach(std::size_t end, v1::WhatIfResponse& response);
  Result<ClusterState> StateOf(std::size_t question);

  QuestionContext asked_;
  std::optional<ClusterState> empty_;  // absent: the state as it is
  std::vector<RunningWorkload> victims_;
  std::vector<Node> drained_;               // drained nodes, cordoned
  std::vector<Node> upserted_;              // as they are after the change
  std::vector<std::uint32_t> workload_of_;  // [questions]
  Lists gone_;                              // [questions]
  Lists drained_in_;                        // [questions]
  Lists upserted_in_;                       // [questions]
  bool placements_ = false;
  bool plain_allowed_ = false;
  std::size_t next_ = 0;
};

}  // namespace espalier
