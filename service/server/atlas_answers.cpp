#include "service/server/atlas_answers.hpp"

#include <optional>
#include <span>
#include <vector>

#include "service/server/question_input.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/questions.hpp"

namespace espalier {
namespace {

constexpr std::size_t kEnoughBytes = 256 << 10;  // of rows in a message

}  // namespace

Result<void> AtlasAnswers::Read(const v1::AtlasRequest& request) {
  auto change = ReadChange(request.drained_nodes(), request.change(), *asked_.budget);
  if (!change) return tl::unexpected(change.error());
  if (auto supposed = questions_.Suppose(*std::move(change)); !supposed) return supposed;
  std::optional<std::vector<RunningWorkload>> named;
  if (request.has_victims()) {
    auto victims = ReadVictims(request.victims(), *asked_.found.snapshot, questions_.supposed(),
                               *asked_.budget);
    if (!victims) return tl::unexpected(victims.error());
    named = *std::move(victims);
  }
  std::optional<std::span<const RunningWorkload>> running;
  if (named) running = *named;
  auto parts = questions_.StartAtlas(asked_.workloads, running);
  if (!parts) return tl::unexpected(parts.error());
  parts_ = *std::move(parts);
  return {};
}

Result<bool> AtlasAnswers::Next(v1::AtlasResponse& response) {
  *response.mutable_state() = ToProto(asked_.found.position());
  if (next_row_ == part_.rows.size()) {
    auto part = parts_->Next();
    if (!part) return tl::unexpected(part.error());
    part_ = *std::move(part);
    next_row_ = 0;
    response.mutable_priorities()->Add(part_.priorities.begin(), part_.priorities.end());
    for (const NamedAtlas::Level& level : part_.levels) Write(level, *response.add_levels());
  }
  std::size_t bytes = 0;
  while (next_row_ < part_.rows.size() && bytes < kEnoughBytes) {
    v1::AtlasRow& row = *response.add_rows();
    Write(part_.rows[next_row_++], row);
    bytes += row.ByteSizeLong();
  }
  if (!asked_.budget->ChargeAnswer(static_cast<std::int64_t>(response.ByteSizeLong()))) {
    return tl::unexpected(asked_.budget->Check().error());
  }
  return !part_.rows.empty();
}

}  // namespace espalier
