#include "service/server/question_context.hpp"

#include <utility>

#include "service/server/batch_checks.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {

grpc::Status ReadWorkloads(const FeatureGateMap& gates, const v1::WorkloadBatch& workloads,
                           v1::DomainNaming naming, QuestionContext& asked) {
  const auto applied = ApplyFeatureGates(gates, asked.gates);
  if (!applied) return ToStatus(applied.error());
  asked.gates = *applied;
  auto leaf_index = ReadNaming(naming, asked.state());
  if (!leaf_index) return ToStatus(leaf_index.error());
  asked.leaf_index = *std::move(leaf_index);
  auto read = FromProto(workloads, *asked.budget);
  if (!read) return ToStatus(read.error());
  asked.workloads = *std::move(read);
  if (const auto checked = CheckFlavors(asked.workloads, asked.state()); !checked) {
    return ToStatus(checked.error());
  }
  return grpc::Status::OK;
}

Result<void> QuestionContext::WriteAnswer(std::size_t workload, const WorkloadAnswer& answer,
                                          v1::AnswerBatch& message) const {
  auto batch = ToProto({&workloads[workload], 1}, {&answer, 1}, leaf_index, *budget);
  if (!batch) return tl::unexpected(batch.error());
  message = *std::move(batch);
  return {};
}

}  // namespace espalier
