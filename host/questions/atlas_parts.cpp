#include "host/questions/atlas_parts.hpp"

#include <algorithm>
#include <iterator>

#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kBytesOfDomain = 128;  // about what the names of one take

NamedAtlas::Level NamesOf(const FlavorSnapshot& snapshot, DomainRange domains) {
  NamedAtlas::Level level{snapshot.flavor().name, {}, {}};
  for (std::int32_t d = domains.begin; d < domains.end; ++d) {
    level.domains.push_back(snapshot.Path(DomainId(d)));
  }
  level.level = snapshot.levels()[level.domains.front().size() - 1];
  return level;
}

}  // namespace

Result<AtlasParts> AtlasParts::Start(const Engine& engine, const ClusterState& state,
                                     std::span<const WorkloadRequest> requests,
                                     std::vector<RunningWorkload> running) {
  std::vector<Victim> victims;
  std::vector<std::int64_t> priorities;
  for (RunningWorkload& workload : running) {
    victims.push_back(std::move(workload.victim));
    priorities.push_back(workload.priority);
  }
  auto search = AtlasSearch::Open(engine, state, requests, victims, priorities);
  if (!search) return tl::unexpected(search.error());
  return AtlasParts(state, *std::move(search), engine.budget());
}

Result<NamedAtlas> AtlasParts::Next() {
  auto rows = search_.Next();
  if (!rows) return tl::unexpected(rows.error());
  NamedAtlas part;
  if (!std::exchange(begun_, true)) {
    part.priorities.assign(search_.priorities().begin(), search_.priorities().end());
  }
  for (AtlasRow& row : *rows) {
    NamedAtlas::Row& named = part.rows.emplace_back();
    named.requests = std::move(row.requests);
    named.steps = std::move(row.steps);
    named.anywhere = row.anywhere;
    if (row.domains.size() == 0) continue;
    const auto [level, is_new] =
        levels_.try_emplace({row.flavor, row.domains.begin}, levels_.size());
    if (is_new) {
      if (!budget_->Charge(kBytesOfDomain * row.domains.size())) break;
      part.levels.push_back(NamesOf(state_->Find(row.flavor)->snapshot(), row.domains));
    }
    named.level = level->second;
  }
  if (auto check = budget_->Check(); !check) return tl::unexpected(check.error());
  return part;
}

void Append(NamedAtlas part, NamedAtlas& atlas) {
  if (atlas.priorities.empty()) atlas.priorities = std::move(part.priorities);
  std::ranges::move(part.levels, std::back_inserter(atlas.levels));
  std::ranges::move(part.rows, std::back_inserter(atlas.rows));
}

std::int64_t BytesOfRows(const NamedAtlas& part) {
  std::size_t bytes = 0;
  for (const NamedAtlas::Row& row : part.rows) {
    bytes += sizeof(row) + row.requests.size() * sizeof(std::size_t) +
             row.steps.size() * sizeof(PriorityStep);
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace espalier
