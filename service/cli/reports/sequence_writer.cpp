#include "service/cli/reports/sequence_writer.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "host/conformance/case_file.hpp"
#include "host/engine/assignments.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/cli/reports/cluster_objects.hpp"
#include "service/cli/reports/object_writer.hpp"

namespace espalier {
namespace {

void WriteAmounts(std::string_view key, const Resources& amounts, ObjectWriter& out) {
  out.Key(key);
  out.BeginMap();
  for (const auto& [name, amount] : amounts) out.Field(name, std::int64_t{amount});
  out.EndMap();
}

void WriteGrid(const BenchCluster& cluster, ObjectWriter& out) {
  out.Key("grid");
  out.BeginMap();
  out.Key("levels");
  out.BeginList();
  for (const TreeLevel& level : cluster.tree) {
    out.BeginMap();
    out.Field("key", std::string_view(level.key));
    out.Field("prefix", std::string_view(level.prefix));
    out.Field("fanout", level.fanout);
    out.EndMap();
  }
  out.EndList();
  out.Key("allocatable");
  out.BeginMap();
  const NodeColumns& nodes = cluster.nodes;
  for (std::size_t r = 0; r < nodes.resources.size(); ++r) {
    const std::string& resource = nodes.resources[r];
    out.Field(resource,
              std::string_view(QuantityText(resource, nodes.allocatable[r * nodes.size()])));
  }
  out.EndMap();
  out.EndMap();
}

void WritePrefill(const LoadedScenario& loaded, std::int64_t percent, std::uint64_t seed,
                  ObjectWriter& out) {
  out.Key("prefill");
  out.BeginMap();
  out.Field("seed", static_cast<std::int64_t>(seed));
  out.Field("percent", percent);
  out.Field("slots", std::int64_t{loaded.cluster.slots.front()});
  WriteAmounts("perSlot", SlotRequests(loaded.cluster, 1), out);
  out.EndMap();
}

void WriteShape(const GangShape& shape, ObjectWriter& out) {
  out.BeginMap();
  WriteAmounts("requests", shape.workers.requests, out);
  if (shape.workers.topology_request) {
    out.Key("topologyRequest");
    WriteTopologyRequest(*shape.workers.topology_request, out);
  }
  if (shape.leader) WriteAmounts("leaderRequests", shape.leader->requests, out);
  out.EndMap();
}

// The percentage of SLOTSn, 0 for P0, -1 for what the form cannot say.
std::int64_t SlotsPercent(std::string_view name) {
  if (name == "P0") return 0;
  constexpr std::string_view kSlots = "SLOTS";
  if (!name.starts_with(kSlots)) return -1;
  name.remove_prefix(kSlots.size());
  std::int64_t percent = -1;
  std::from_chars(name.data(), name.data() + name.size(), percent);
  return percent;
}

Result<void> CheckExpressible(const LoadedScenario& loaded) {
  if (loaded.cluster.tree.empty()) {
    return BadInput(fmt::format(
        "{} is not a full tree of equal nodes, which is all that a sequence can say; write a .json "
        "file instead",
        loaded.cluster.name));
  }
  if (SlotsPercent(loaded.prefill.name) < 0) {
    return BadInput(
        fmt::format("a sequence cannot say prefill {}; it can say P0 and SLOTS1 to SLOTS100",
                    loaded.prefill.name));
  }
  for (const GangShape& shape : loaded.mix.shapes) {
    if (!shape.workers.pod_template.node_selector.empty()) {
      return BadInput(
          fmt::format("a sequence has no node selectors, which mix {} uses", loaded.mix.name));
    }
  }
  return {};
}

std::string Header(const LoadedScenario& loaded, std::uint64_t seed, PlacementMode mode) {
  const auto out = MakeJsonLineWriter();
  out->BeginMap();
  out->Field("sequence",
             std::string_view(fmt::format("{}-{}", loaded.cluster.name, loaded.mix.name)));
  out->Field("mode",
             std::string_view(mode == PlacementMode::kSequential ? "sequential" : "nominate"));
  out->Key("gates");
  out->BeginMap();
  if (loaded.mix.gates.balanced_placement) {
    out->Key("TASBalancedPlacement");
    out->Flag(true);
  }
  out->EndMap();
  out->Field("topology", kBenchTopology);
  WriteGrid(loaded.cluster, *out);
  if (const std::int64_t percent = SlotsPercent(loaded.prefill.name); percent > 0) {
    WritePrefill(loaded, percent, seed, *out);
  }
  out->Key("shapes");
  out->BeginList();
  for (const GangShape& shape : loaded.mix.shapes) WriteShape(shape, *out);
  out->EndList();
  out->EndMap();
  return out->Finish();
}

std::string GangLine(std::size_t number, const GangRow& gang, const GangShape& shape,
                     std::span<const LeafShare> shares, const std::string& reason,
                     const FlavorSnapshot& snapshot) {
  const auto out = MakeJsonLineWriter();
  out->BeginMap();
  out->Field("gang", static_cast<std::int64_t>(number));
  out->Field("shape", std::int64_t{gang.shape});
  out->Field("count", std::int64_t{gang.pods});
  out->Key("expect");
  out->BeginMap();
  if (!reason.empty()) {
    out->Field("reason", std::string_view(reason));
  } else {
    const std::vector<LeafShare> list(shares.begin(), shares.end());
    for (const bool leader : {false, true}) {
      if (leader && !shape.leader) continue;
      const AssignmentDigest digest = Digest(ToAssignment(list, leader, snapshot));
      out->Key(leader ? "leader" : "main");
      out->BeginMap();
      out->Field("digest", std::string_view(digest.digest));
      out->Field("domains", digest.domains);
      out->EndMap();
    }
  }
  out->EndMap();
  out->EndMap();
  return out->Finish();
}

}  // namespace

Result<void> WriteSequence(const LoadedScenario& loaded, std::uint64_t seed, PlacementMode mode,
                           Backend& backend, OutputFile& file) {
  if (auto checked = CheckExpressible(loaded); !checked) return checked;
  ClusterState state = loaded.state.Clone();
  GangBatch batch(state, loaded.mix.gates, loaded.mix.shapes);
  GangAnswers answers;
  if (mode == PlacementMode::kSequential) {
    batch.PlaceInOrder(backend, state, loaded.mix.gangs, answers);
  } else {
    batch.Nominate(backend, loaded.mix.gangs, answers);
  }
  file.Write(Header(loaded, seed, mode));
  for (std::size_t i = 0; i < loaded.mix.gangs.size(); ++i) {
    std::string reason;
    if (answers.status[i] != PlacementStatus::kPlaced) {
      reason = batch.Describe(loaded.mix.gangs, answers, i).reason;
    }
    const GangRow& gang = loaded.mix.gangs[i];
    file.Write(GangLine(i, gang, loaded.mix.shapes[static_cast<std::size_t>(gang.shape)],
                        answers.SharesOf(i), reason, loaded.flavor().snapshot()));
  }
  return {};
}

}  // namespace espalier
