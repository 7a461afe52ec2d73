#include "service/wire/gangs.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/engine/compiled_requests.hpp"
#include "service/wire/columns.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

constexpr int kMostPodSets = 2;
// The columns of a pod set that make its shape.
constexpr int kShapeColumns = 7;

// A workload's references into the tables of its message. Workloads with equal references have one
// shape. The first entry says whether the leader stands first.
using ShapeReferences = std::array<std::uint32_t, 1 + kMostPodSets * kShapeColumns>;
constexpr std::size_t kRequestsEntry = 3;  // of the first pod set

struct ShapeReferencesHash {
  std::size_t operator()(const ShapeReferences& references) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(references.data()),
                                          references.size() * sizeof(references[0])});
  }
};

// Numbers the shapes of the workloads as they come.
class ShapeNumbers {
 public:
  // `requests` rows are referred to.
  explicit ShapeNumbers(int requests) : last_(static_cast<std::size_t>(requests) + 1, -1) {}

  // Returns the number of the shape that the references are of, and whether they are the first of
  // it.
  std::pair<std::int32_t, bool> Of(const ShapeReferences& references) {
    // Mostly what is requested tells shapes apart, which is sooner looked up.
    const std::size_t requests =
        std::min<std::size_t>(references[kRequestsEntry], last_.size() - 1);
    std::int32_t& last = last_[requests];
    if (last >= 0 && shapes_[static_cast<std::size_t>(last)] == references) return {last, false};
    const auto [it, added] =
        numbers_.try_emplace(references, static_cast<std::int32_t>(shapes_.size()));
    if (added) shapes_.push_back(references);
    last = it->second;
    return {last, added};
  }

 private:
  std::unordered_map<ShapeReferences, std::int32_t, ShapeReferencesHash> numbers_;
  std::vector<ShapeReferences> shapes_;  // [shapes]
  std::vector<std::int32_t> last_;  // by row of requests: the shape that came last with it, or -1
};

// Returns whether no workload of a message with sound columns asks for what a gang cannot.
bool AsksForNoMore(const v1::WorkloadBatch& message) {
  return !message.has_trees() && message.updates().empty() && message.replacements().empty() &&
         message.assumed_usage().empty() && AllZero(message.simulate_empty()) &&
         AllZero(message.affinity_scores_consumed()) &&
         AllZero(message.pod_set_previous_assignments());
}

// Returns whether a message is sound in what FromProto checks besides the columns that make the
// shapes.
bool IsSound(const v1::WorkloadBatch& message) {
  const auto known = [&](std::uint32_t reference) {
    return reference <= static_cast<std::uint32_t>(message.strings_size());
  };
  return std::ranges::all_of(message.namespaces(), known) &&
         std::ranges::all_of(message.names(), known) &&
         std::ranges::none_of(message.pod_set_requests(),
                              [](std::uint32_t reference) { return reference == 0; }) &&
         std::ranges::all_of(message.pod_set_counts(), [](std::int32_t pods) { return pods >= 0; });
}

void AddPodSet(const v1::WorkloadBatch& message, int p, std::uint32_t* references) {
  *references++ = message.pod_set_names(p);
  *references++ = message.pod_set_flavors(p);
  *references++ = message.pod_set_requests(p);
  *references++ = EntryOf(message.pod_set_topology_requests(), p);
  *references++ = EntryOf(message.pod_set_implied(), p) ? 1 : 0;
  *references++ = EntryOf(message.pod_set_groups(), p);
  *references++ = EntryOf(message.pod_set_node_constraints(), p);
}

}  // namespace

std::optional<GangRequests> ReadGangs(const v1::WorkloadBatch& message, const ClusterState& state,
                                      const FeatureGates& gates, ResolvedShapeCache& known,
                                      WorkBudget& budget) {
  Decoder decoder(message.strings(), budget);
  CheckColumns(message, decoder);
  if (!decoder.ok() || !AsksForNoMore(message) || !IsSound(message)) return std::nullopt;

  GangRequests requests;
  const auto& offsets = message.pod_set_offsets();
  const int workloads = std::max(0, offsets.size() - 1);
  requests.gangs.reserve(static_cast<std::size_t>(workloads));
  ShapeNumbers numbers(message.resources_size());
  std::vector<int> first_of;  // by shape: its first workload
  std::vector<bool> leads;    // by shape: the leader is before the workers
  for (int w = 0; w < workloads; ++w) {
    const auto p = static_cast<int>(offsets[w]);
    const auto pod_sets = static_cast<int>(offsets[w + 1]) - p;
    if (pod_sets < 1 || pod_sets > kMostPodSets) return std::nullopt;
    const bool leader_first =
        pod_sets > 1 && LeaderComesFirst(message.pod_set_counts(p), message.pod_set_counts(p + 1));
    ShapeReferences references{leader_first};
    for (int i = 0; i < pod_sets; ++i) {
      AddPodSet(message, p + i, &references[1 + i * kShapeColumns]);
    }
    const auto [shape, added] = numbers.Of(references);
    if (added) {
      first_of.push_back(w);
      leads.push_back(leader_first);
    }
    requests.gangs.push_back({shape, message.pod_set_counts(leader_first ? p + 1 : p)});
  }

  ShapeKeyReader reader(message, gates, budget);
  std::string key;
  const auto read = [&](std::size_t s) {
    const bool sound = reader.Read(first_of[s], key);
    key.push_back(leads[s] ? 1 : 0);
    return sound;
  };
  std::vector<int> unknown;  // their first workloads
  for (std::size_t s = 0; s < first_of.size(); ++s) {
    requests.shapes.push_back(read(s) ? known.Find(key) : nullptr);
    if (!requests.shapes.back()) unknown.push_back(first_of[s]);
  }
  if (unknown.empty() && reader.UsedAllRows()) return requests;

  auto firsts = FromProto(message, unknown, budget);
  if (!firsts) return std::nullopt;
  auto next = firsts->begin();
  for (std::size_t s = 0; s < first_of.size(); ++s) {
    if (requests.shapes[s]) continue;
    if (!budget.MayContinue()) return std::nullopt;
    const auto gang = AsGang(*next, state);
    if (!gang) return std::nullopt;
    requests.shapes[s] = std::make_shared<const ResolvedGangShape>(
        Resolve(ShapeOf(*next++, *gang), state, gates, budget));
    if (!budget.stopped() && read(s)) known.Keep(key, requests.shapes[s]);
  }
  return requests;
}

}  // namespace espalier
