#include "service/server/victim_answers.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "host/what_if/prefix_search.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/questions.hpp"

namespace espalier {

Result<void> VictimAnswers::Read(const v1::FindVictimsRequest& request) {
  if (auto supposed = ReadSupposed(request); !supposed) return supposed;
  cheapest_ = request.cheapest();
  auto read =
      ReadVictims(request.victims(), *asked_.found.snapshot, questions_.supposed(), *asked_.budget);
  if (!read) return tl::unexpected(read.error());
  victims_ = *std::move(read);
  auto lists =
      ReadLists(request.victim_offsets(), request.workload_victims(),
                static_cast<std::int64_t>(asked_.workloads.size()),
                static_cast<std::int64_t>(victims_.size()), "workload_victims", *asked_.budget);
  if (!lists) return tl::unexpected(lists.error());
  candidates_ = *std::move(lists);
  if (request.victim_offsets().empty()) {
    candidates_.resize(1);
    candidates_[0].resize(victims_.size());
    std::iota(candidates_[0].begin(), candidates_[0].end(), 0U);
  }
  if (cheapest_) return CheckLists();
  auto batch = questions_.StartVictims(asked_.workloads, std::move(victims_), candidates_);
  if (!batch) return tl::unexpected(batch.error());
  batch_ = *std::move(batch);
  return {};
}

Result<void> VictimAnswers::CheckLists() const {
  for (std::size_t w = 1; w < candidates_.size(); ++w) {
    if (!asked_.budget->MayContinue()) return asked_.budget->Check();
    std::vector<Victim> together;
    for (RunningWorkload& candidate : Candidates(w))
      together.push_back(std::move(candidate.victim));
    if (auto sound = CheckVictims(questions_.supposed(), together, /*together=*/true); !sound) {
      return sound;
    }
  }
  return {};
}

Result<void> VictimAnswers::ReadSupposed(const v1::FindVictimsRequest& request) {
  auto change = ReadChange(request.drained_nodes(), request.change(), *asked_.budget);
  if (!change) return tl::unexpected(change.error());
  Decoder decoder(request.strings(), *asked_.budget);
  for (int i = 0; i < request.upserted_nodes_size() && decoder.ok(); ++i) {
    const FieldPath path("upserted_nodes", i);
    decoder.Charge(sizeof(Node), path);
    change->delta.upsert_nodes.push_back(FromProto(request.upserted_nodes(i), path, decoder));
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return questions_.Suppose(*std::move(change));
}

std::vector<RunningWorkload> VictimAnswers::Candidates(std::size_t workload) const {
  std::vector<RunningWorkload> victims;
  for (const std::uint32_t position : PositionsOf(workload)) victims.push_back(victims_[position]);
  return victims;
}

Result<bool> VictimAnswers::Next(v1::FindVictimsResponse& response) {
  *response.mutable_state() = ToProto(asked_.found.position());
  if (next_ == asked_.workloads.size()) return false;
  response.set_workload(static_cast<std::uint32_t>(next_));
  if (auto found = cheapest_ ? FindCheapest(response) : FindFirst(response); !found) {
    return tl::unexpected(found.error());
  }
  return ++next_ < asked_.workloads.size();
}

Result<void> VictimAnswers::FindFirst(v1::FindVictimsResponse& response) {
  if (found_.empty()) {
    auto some = batch_->Next();
    if (!some) return tl::unexpected(some.error());
    std::ranges::move(*some, std::back_inserter(found_));
  }
  const PrefixAnswer& found = found_.front();
  response.set_fits(found.fits);
  response.set_prefix(static_cast<std::uint32_t>(found.prefix));
  response.mutable_targets()->Assign(found.targets.begin(), found.targets.end());
  auto written = asked_.WriteAnswer(next_, found.answer, *response.mutable_answers());
  found_.pop_front();
  return written;
}

Result<void> VictimAnswers::FindCheapest(v1::FindVictimsResponse& response) {
  const auto found = questions_.FindCheapestVictims(asked_.workloads[next_], Candidates(next_));
  if (!found) return tl::unexpected(found.error());
  response.set_fits(found->fits);
  for (const NamedDomainVictims& domain : found->domains) {
    v1::DomainVictims& row = *response.add_domains();
    Write(domain, PositionsOf(next_), row);
    const auto bytes = static_cast<std::int64_t>(row.ByteSizeLong());
    if (!asked_.budget->Charge(bytes) || !asked_.budget->ChargeAnswer(bytes)) {
      return asked_.budget->Check();
    }
  }
  return {};
}

}  // namespace espalier
