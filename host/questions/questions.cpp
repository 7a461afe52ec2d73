#include "host/questions/questions.hpp"

#include <utility>

namespace espalier {

Result<WorkloadAnswer> Questions::NominateOne(const WorkloadRequest& request) {
  auto answers = Nominate({&request, 1});
  if (!answers) return tl::unexpected(answers.error());
  return std::move(answers->front());
}

Result<PrefixAnswer> Questions::FindVictims(const WorkloadRequest& request,
                                            std::span<const RunningWorkload> victims) {
  auto answers = FindVictimsOfEach({&request, 1}, victims);
  if (!answers) return tl::unexpected(answers.error());
  return std::move(answers->front());
}

}  // namespace espalier
