// Explains requests in a cluster of files.
#pragma once

#include "host/questions/local_questions.hpp"

namespace espalier {

inline Result<Certificate> ExplainIn(const Cluster& cluster, const WorkloadRequest& request,
                                     const Engine& engine) {
  auto questions = LocalQuestions::Open(cluster, engine);
  if (!questions) return tl::unexpected(questions.error());
  const std::vector<RunningWorkload> running = RunningWorkloads(cluster, request.key);
  return (*questions)->Explain(request, running);
}

}  // namespace espalier
