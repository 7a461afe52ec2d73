#include "service/server/replay_answers.hpp"

#include "service/wire/cluster_state.hpp"
#include "service/wire/types.hpp"

namespace espalier {

Result<void> ReplayAnswers::Read(const v1::ReplayRequest& request) {
  Decoder decoder(request.strings(), *asked_.budget);
  const FieldPath root("");
  chosen_.resize(asked_.workloads.size());
  std::int64_t least = 0;
  for (int i = 0; i < request.chosen_size() && decoder.ok(); ++i) {
    const v1::ChosenPlace& row = request.chosen(i);
    const FieldPath path(root, "chosen", i);
    if (row.workload() < least || row.workload() >= chosen_.size()) {
      decoder.Fail(FieldPath(path, "workload"), "is {}; ascending positions below {} expected",
                   row.workload(), chosen_.size());
      break;
    }
    least = std::int64_t{row.workload()} + 1;
    chosen_[row.workload()] = FromProtoList<FlavorLeafUsage>(row.usage(), path, "usage", decoder);
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  std::vector<ObjectKey> ended;
  for (const v1::WorkloadName& name : request.ended()) {
    ended.push_back({name.namespace_(), name.name()});
  }
  engine_.emplace(asked_.MakeEngine());
  auto replayer = Replayer::Start(*asked_.found.snapshot, asked_.workloads, ended, *engine_);
  if (!replayer) return tl::unexpected(replayer.error());
  replayer_ = *std::move(replayer);
  return {};
}

Result<bool> ReplayAnswers::Next(v1::ReplayResponse& response) {
  *response.mutable_state() = ToProto(asked_.found.position());
  if (next_ == asked_.workloads.size()) return false;
  const WorkloadAnswer answer = replayer_->Next(asked_.workloads[next_], chosen_[next_]);
  if (!asked_.budget->MayContinue()) return tl::unexpected(asked_.budget->Check().error());
  response.set_workload(static_cast<std::uint32_t>(next_));
  if (auto written = asked_.WriteAnswer(next_, answer, *response.mutable_answers()); !written) {
    return tl::unexpected(written.error());
  }
  return ++next_ < asked_.workloads.size();
}

}  // namespace espalier
