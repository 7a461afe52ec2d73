#include "service/server/move_plans.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "service/server/status_with_position.hpp"
#include "service/wire/questions.hpp"

namespace espalier {
namespace {

Result<void> Write(const DefragmentPlan& plan, const QuestionContext& asked,
                   v1::DefragmentResponse& response) {
  response.set_flavor(plan.flavor);
  response.set_domains(plan.domains);
  response.set_free_already(plan.free_already);
  response.set_out_of_reach(plan.out_of_reach);
  std::vector<WorkloadRequest> moved;
  std::vector<WorkloadAnswer> answers;
  for (const FreedDomain& freed : plan.freed) {
    v1::FreedDomain& row = *response.add_freed();
    row.mutable_values()->Assign(freed.values.begin(), freed.values.end());
    for (const DefragmentMove& move : freed.moves) {
      row.add_moves(static_cast<std::uint32_t>(move.gang));
      moved.push_back(asked.workloads[move.gang]);
      answers.push_back(move.answer);
    }
  }
  for (const ObjectKey& key : plan.staying) *response.add_staying() = ToProto(key);
  auto batch = ToProto(moved, answers, asked.leaf_index, *asked.budget);
  if (!batch) return tl::unexpected(batch.error());
  *response.mutable_answers() = *std::move(batch);
  return {};
}

}  // namespace

grpc::Status PlanDrain(const v1::DrainRequest& request, const QuestionContext& asked,
                       v1::DrainResponse& response) {
  const auto found = asked.MakeQuestions().Drain({request.nodes().begin(), request.nodes().end()},
                                                 asked.workloads);
  if (!found) return StatusWithPosition(found.error(), *asked.found.store);
  *response.mutable_state() = ToProto(asked.found.position());
  for (const HitWorkload& hit : found->hits) {
    v1::HitWorkload& row = *response.add_hits();
    *row.mutable_workload() = ToProto(hit.key);
    row.set_priority(static_cast<std::int32_t>(hit.priority));
    row.set_pods(hit.pods);
    row.set_pods_hit(hit.pods_hit);
  }
  std::vector<WorkloadRequest> moved;
  for (const std::size_t position : found->moved) {
    response.add_moved(static_cast<std::uint32_t>(position));
    moved.push_back(asked.workloads[position]);
  }
  auto batch = ToProto(moved, found->answers, asked.leaf_index, *asked.budget);
  if (!batch) return ToStatus(batch.error());
  *response.mutable_answers() = *std::move(batch);
  return grpc::Status::OK;
}

grpc::Status PlanDefragment(const v1::DefragmentRequest& request, const QuestionContext& asked,
                            v1::DefragmentResponse& response) {
  *response.mutable_state() = ToProto(asked.found.position());
  const auto found = asked.MakeQuestions().Defragment(
      asked.workloads,
      {.level = request.level(), .flavor = request.flavor(), .most_moves = request.most_moves()});
  if (!found) return ToStatus(found.error());
  for (const std::size_t position : found->unknown) {
    response.add_unknown(static_cast<std::uint32_t>(position));
  }
  if (auto written = Write(found->plan, asked, response); !written) {
    return ToStatus(written.error());
  }
  return grpc::Status::OK;
}

}  // namespace espalier
