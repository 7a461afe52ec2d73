#include "service/server/victim_answers.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "host/engine/victim_sets.hpp"
#include "host/model/excerpt.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/questions.hpp"

namespace espalier {

Result<void> VictimAnswers::Read(const v1::FindVictimsRequest& request) {
  if (auto nodes = ReadNodes(request); !nodes) return nodes;
  cheapest_ = request.cheapest();
  auto read = ReadVictims(request.victims(), *asked_.found.snapshot, *asked_.budget);
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
  for (std::size_t w = 1; w < candidates_.size(); ++w) {
    if (!asked_.budget->Pause()) return asked_.budget->Check();
    if (auto sound = CheckVictims(state(), Candidates(w), /*together=*/true); !sound) return sound;
  }
  return {};
}

Result<void> VictimAnswers::ReadNodes(const v1::FindVictimsRequest& request) {
  if (request.drained_nodes().empty() && request.upserted_nodes().empty()) return {};
  const StatePosition& position = asked_.found.position();
  auto nodes = asked_.found.store->NodesAt(
      position, {request.drained_nodes().begin(), request.drained_nodes().end()});
  if (!nodes) return tl::unexpected(nodes.error());
  for (Node& node : *nodes) node.unschedulable = true;
  Decoder decoder(request.strings(), *asked_.budget);
  for (int i = 0; i < request.upserted_nodes_size() && decoder.ok(); ++i) {
    const FieldPath path("upserted_nodes", i);
    decoder.Charge(sizeof(Node), path);
    nodes->push_back(FromProto(request.upserted_nodes(i), path, decoder));
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  std::set<std::string_view> names;
  for (const Node& node : *nodes) {
    if (names.insert(node.name).second) continue;
    return BadInput(fmt::format("node {} changes twice; want each once", Excerpt(node.name)));
  }
  auto changed = asked_.found.store->WithNodes(position, *std::move(nodes), *asked_.budget);
  if (!changed) return tl::unexpected(changed.error());
  changed_ = *std::move(changed);
  return {};
}

std::vector<Victim> VictimAnswers::Candidates(std::size_t workload) const {
  std::vector<Victim> victims;
  for (const std::uint32_t position : PositionsOf(workload)) {
    victims.push_back(victims_[position].victim);
  }
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

Result<void> VictimAnswers::FindFirst(v1::FindVictimsResponse& response) const {
  const auto found =
      FindPrefix(asked_.MakeEngine(), state(), asked_.workloads[next_], Candidates(next_));
  if (!found) return tl::unexpected(found.error());
  response.set_fits(found->fits);
  response.set_prefix(static_cast<std::uint32_t>(found->prefix));
  for (const std::size_t target : found->targets) {
    response.add_targets(PositionsOf(next_)[target]);
  }
  return asked_.WriteAnswer(next_, found->answer, *response.mutable_answers());
}

Result<void> VictimAnswers::FindCheapest(v1::FindVictimsResponse& response) const {
  std::vector<PricedVictim> priced;
  for (const std::uint32_t victim : PositionsOf(next_)) {
    priced.push_back({victims_[victim].victim, victims_[victim].priority});
  }
  const auto found = FindVictimSets(asked_.MakeEngine(), state(), asked_.workloads[next_], priced);
  if (!found) return tl::unexpected(found.error());
  response.set_fits(found->fits);
  for (const DomainVictims& domain : found->domains) {
    std::vector<std::string> values;
    if (domain.domain.valid()) {
      values = state().Find(domain.flavor)->snapshot().Path(domain.domain);
    }
    v1::DomainVictims& row = *response.add_domains();
    Write(domain, values, PositionsOf(next_), row);
    const auto bytes = static_cast<std::int64_t>(row.ByteSizeLong());
    if (!asked_.budget->Charge(bytes) || !asked_.budget->ChargeAnswer(bytes)) {
      return asked_.budget->Check();
    }
  }
  return {};
}

}  // namespace espalier
