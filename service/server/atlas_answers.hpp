// The atlas of workloads, message by message.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "espalier/v1/questions.pb.h"
#include "host/questions/atlas_parts.hpp"
#include "service/server/question_context.hpp"

namespace espalier {

class AtlasAnswers {
 public:
  // Takes over a call that is open.
  explicit AtlasAnswers(QuestionContext asked)
      : asked_(std::move(asked)), questions_(asked_.MakeQuestions()) {}

  // Reads and checks everything else.
  Result<void> Read(const v1::AtlasRequest& request);

  // Writes the next rows. Returns whether there are more.
  Result<bool> Next(v1::AtlasResponse& response);

 private:
  QuestionContext asked_;
  LocalQuestions questions_;
  std::optional<AtlasParts> parts_;  // set by Read
  NamedAtlas part_;                  // what is written now
  std::size_t next_row_ = 0;         // of part_
};

}  // namespace espalier
