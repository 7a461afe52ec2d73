#include "service/wire/answers.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/nested_request.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/wire/nested.hpp"
#include "service/wire/tables.hpp"
#include "service/wire/types.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

// The numbers of pods of each domain that an answer adds; domains are asked for in their order.
class AddedCounts {
 public:
  AddedCounts(const WorkloadRequest& request, const WorkloadAnswer& answer)
      : all_(!HasPodsInPlace(request)) {
    if (!all_) added_ = PodsAdded(request, answer);
  }

  std::int32_t Next(const std::string& pod_set, const TopologyDomainAssignment& domain) {
    if (all_) return domain.count;
    if (next_ == added_.size() || added_[next_].pod_set->name != pod_set ||
        added_[next_].leaf != DomainIdText(domain.values)) {
      return 0;
    }
    return static_cast<std::int32_t>(added_[next_++].count);
  }

 private:
  bool all_;
  std::vector<AddedPods> added_;
  std::size_t next_ = 0;
};

class AnswerEncoder {
 public:
  AnswerEncoder(const LeafIndex& leaf_index, WorkBudget& budget)
      : leaf_index_(leaf_index), budget_(budget) {
    message_.add_domain_offsets(0);
  }

  Result<v1::AnswerBatch> Encode(std::span<const WorkloadRequest> requests,
                                 std::span<const WorkloadAnswer> answers) {
    for (std::size_t w = 0; w < requests.size(); ++w) {
      if (!budget_.MayContinue()) return tl::unexpected(budget_.Check().error());
      if (!WriteWorkload(requests[w], answers[w])) {
        return tl::unexpected(
            Error{ErrorClass::kInternal, fmt::format("the answer to workload {} does not match it",
                                                     Excerpt(requests[w].key.ToString()))});
      }
    }
    if (std::ranges::none_of(requests, HasPodsInPlace)) message_.clear_added_counts();
    if (!trees_.empty()) {
      auto trees = ToProto(trees_, budget_);
      if (!trees) return tl::unexpected(std::move(trees.error()));
      *message_.mutable_trees() = *std::move(trees);
    }
    return std::move(message_);
  }

  AnswerRows EncodeRows(const GangRequests& requests, const GangBatch& batch,
                        const GangAnswers& answers, const ClusterState& state, bool by_name) {
    std::optional<NamedLeaves> named;
    if (by_name) named.emplace();
    const auto gangs = static_cast<int>(requests.gangs.size());
    message_.mutable_outcomes()->Reserve(gangs);
    message_.mutable_levels()->Reserve(gangs);
    message_.mutable_failures()->Reserve(gangs);
    message_.mutable_domain_offsets()->Reserve(gangs + 1);
    std::uint32_t domains = 0;
    std::vector<std::uint32_t> levels(requests.shapes.size(), 0);  // 0: not looked up yet
    for (std::size_t g = 0; g < requests.gangs.size() && budget_.MayContinue(); ++g) {
      const std::int32_t shape = requests.gangs[g].shape;
      const int pod_sets = requests.PodSets(shape);
      if (answers.status[g] != PlacementStatus::kPlaced) {
        const std::uint32_t row =
            failures_.Ref(FailureRow(batch.Describe(requests.gangs, answers, g)));
        for (int p = 0; p < pod_sets; ++p) EndPodSet(v1::POD_SET_OUTCOME_FAILED, 0, row, domains);
        continue;
      }
      const FlavorSnapshot& flavor = state.Find(requests.At(shape).workers.flavor)->snapshot();
      std::uint32_t& shape_levels = levels[static_cast<std::size_t>(shape)];
      if (shape_levels == 0) shape_levels = LevelsRef(ToAssignment({}, false, flavor).levels);
      if (named && !NameLeaves(answers.SharesOf(g), flavor, (*named)[&flavor])) break;
      for (int p = 0; p < pod_sets; ++p) {
        domains += DomainsOf(answers.SharesOf(g), pod_sets, requests.IsLeader(shape, p));
        EndPodSet(v1::POD_SET_OUTCOME_PLACED, shape_levels, 0, domains);
      }
    }
    return {std::move(message_), std::move(named)};
  }

 private:
  // Adds rows for those leaves that have none yet. Returns false when the work is to stop.
  bool NameLeaves(std::span<const LeafShare> shares, const FlavorSnapshot& flavor,
                  std::vector<std::uint32_t>& rows) {
    constexpr std::int64_t kBytesOfName = 160;
    rows.resize(static_cast<std::size_t>(flavor.leaf_count()));
    for (const LeafShare& share : shares) {
      std::uint32_t& known = rows[static_cast<std::size_t>(share.leaf.value)];
      if (known != 0) continue;
      if (!budget_.Charge(kBytesOfName)) return false;
      const DomainId domain = flavor.LeafDomain(share.leaf);
      auto [row, reference] = named_domains_.AddNew();
      known = reference;
      if (flavor.host_topology()) {
        row.add_values(strings_.Ref(flavor.Value(domain)));
      } else {
        for (const std::string& value : flavor.Path(domain)) row.add_values(strings_.Ref(value));
      }
    }
    return true;
  }

  // The pod sets of an answer are some of its request's, in the same order.
  bool WriteWorkload(const WorkloadRequest& request, const WorkloadAnswer& answer) {
    AddedCounts added(request, answer);
    auto next = answer.pod_sets.begin();
    for (const PodSetRequest& pod_set : request.pod_sets) {
      const bool present = next != answer.pod_sets.end() && next->name == pod_set.name &&
                           next->flavor == pod_set.flavor;
      WritePodSet(present ? &*next : nullptr, added);
      if (present) ++next;
    }
    if (answer.tree) trees_.push_back(*answer.tree);
    return next == answer.pod_sets.end();
  }

  void WritePodSet(const PodSetAnswer* answer, AddedCounts& added) {
    v1::PodSetOutcome outcome = v1::POD_SET_OUTCOME_ABSENT;
    std::uint32_t levels = 0;
    std::uint32_t failure = 0;
    if (answer && answer->assignment) {
      outcome = v1::POD_SET_OUTCOME_PLACED;
      levels = WriteAssignment(*answer, *answer->assignment, added);
    } else if (answer && answer->failure) {
      outcome = v1::POD_SET_OUTCOME_FAILED;
      failure = failures_.Ref(FailureRow(*answer->failure));
    } else if (answer) {
      outcome = v1::POD_SET_OUTCOME_NO_RESULT;
    }
    EndPodSet(outcome, levels, failure, static_cast<std::uint32_t>(message_.domains_size()));
  }

  // `domains` are those of this pod set and all before it.
  void EndPodSet(v1::PodSetOutcome outcome, std::uint32_t levels, std::uint32_t failure,
                 std::uint32_t domains) {
    message_.add_outcomes(outcome);
    message_.add_levels(levels);
    message_.add_failures(failure);
    message_.add_domain_offsets(domains);
  }

  // On how many of the leaves that a gang is on one of its pod sets has pods.
  static std::uint32_t DomainsOf(std::span<const LeafShare> shares, int pod_sets, bool leader) {
    if (pod_sets == 1) return static_cast<std::uint32_t>(shares.size());
    return static_cast<std::uint32_t>(std::ranges::count_if(shares, [&](const LeafShare& share) {
      return (leader ? share.leaders : share.pods) != 0;
    }));
  }

  // The reference to the levels.
  std::uint32_t WriteAssignment(const PodSetAnswer& answer, const TopologyAssignment& assignment,
                                AddedCounts& added) {
    for (const TopologyDomainAssignment& domain : assignment.domains) {
      const std::optional<std::int32_t> leaf =
          leaf_index_ ? leaf_index_(answer.flavor, domain.values) : std::nullopt;
      message_.add_domains(leaf ? *leaf : -static_cast<std::int32_t>(NamedRef(domain.values)));
      message_.add_counts(domain.count);
      message_.add_added_counts(added.Next(answer.name, domain));
    }
    return LevelsRef(assignment.levels);
  }

  std::uint32_t LevelsRef(const std::vector<std::string>& levels) {
    v1::LevelList row;
    for (const std::string& level : levels) row.add_levels(strings_.Ref(level));
    return level_lists_.Ref(std::move(row));
  }

  std::uint32_t NamedRef(const std::vector<std::string>& values) {
    v1::NamedDomain row;
    for (const std::string& value : values) row.add_values(strings_.Ref(value));
    return named_domains_.Ref(std::move(row));
  }

  v1::CountsByName Counts(const FlatMap<std::int64_t>& counts) {
    v1::CountsByName message;
    for (const auto& [name, count] : counts) {
      message.add_names(strings_.Ref(name));
      message.add_counts(count);
    }
    return message;
  }

  v1::PlacementFailure FailureRow(const PlacementFailure& failure) {
    v1::PlacementFailure row;
    row.set_reason(strings_.Ref(failure.reason));
    if (!failure.shortfall) return row;
    const ExclusionCounts& exclusions = failure.shortfall->exclusions;
    v1::Shortfall& shortfall = *row.mutable_shortfall();
    shortfall.set_fit(failure.shortfall->fit);
    shortfall.set_total(failure.shortfall->total);
    shortfall.set_slice_size(failure.shortfall->slice_size);
    shortfall.set_total_nodes(exclusions.total_nodes);
    shortfall.set_node_selector(exclusions.node_selector);
    shortfall.set_affinity(exclusions.affinity);
    shortfall.set_topology_domain(exclusions.topology_domain);
    *shortfall.mutable_taints() = Counts(exclusions.taints);
    *shortfall.mutable_resources() = Counts(exclusions.resources);
    return row;
  }

  const LeafIndex& leaf_index_;
  WorkBudget& budget_;
  v1::AnswerBatch message_;
  StringTable strings_{message_.mutable_strings()};
  RowTable<v1::LevelList> level_lists_{message_.mutable_level_lists()};
  RowTable<v1::NamedDomain> named_domains_{message_.mutable_named_domains()};
  RowTable<v1::PlacementFailure> failures_{message_.mutable_failure_table()};
  std::vector<NestedAnswer> trees_;
};

class AnswerDecoder {
 public:
  AnswerDecoder(const v1::AnswerBatch& message, WorkBudget& budget)
      : message_(message), budget_(budget), decoder_(message.strings(), budget) {}

  Result<std::vector<WorkloadAnswer>> Decode(std::span<const WorkloadRequest> requests) {
    CheckColumns(requests);
    std::vector<WorkloadAnswer> answers;
    int p = 0;
    for (const WorkloadRequest& request : requests) {
      WorkloadAnswer& answer = answers.emplace_back();
      for (const PodSetRequest& pod_set : request.pod_sets) {
        if (!decoder_.ok()) return tl::unexpected(decoder_.error());
        ReadPodSet(p++, pod_set, answer);
      }
    }
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    if (const auto trees = ReadTrees(requests, answers); !trees) {
      return tl::unexpected(trees.error());
    }
    return answers;
  }

 private:
  Result<void> ReadTrees(std::span<const WorkloadRequest> requests,
                         std::vector<WorkloadAnswer>& answers) {
    const auto wanted = std::ranges::count_if(
        requests, [](const WorkloadRequest& request) { return request.tree.has_value(); });
    auto trees = FromProto(message_.trees(), static_cast<std::size_t>(wanted), budget_);
    if (!trees) return tl::unexpected(trees.error());
    auto next = trees->begin();
    for (std::size_t w = 0; w < requests.size(); ++w) {
      if (!requests[w].tree) continue;
      answers[w].tree = std::move(*next++);
    }
    return {};
  }

  void CheckColumns(std::span<const WorkloadRequest> requests) {
    std::int64_t pod_sets = 0;
    for (const WorkloadRequest& request : requests) {
      pod_sets += static_cast<std::int64_t>(request.pod_sets.size());
    }
    decoder_.CheckColumn(message_.outcomes_size(), pod_sets, false, FieldPath(root_, "outcomes"));
    decoder_.CheckColumn(message_.levels_size(), pod_sets, false, FieldPath(root_, "levels"));
    decoder_.CheckColumn(message_.failures_size(), pod_sets, false, FieldPath(root_, "failures"));
    const FieldPath offsets_path(root_, "domain_offsets");
    decoder_.CheckColumn(message_.domain_offsets_size(), pod_sets + 1, false, offsets_path);
    decoder_.CheckOffsets(message_.domain_offsets(), message_.domains_size(), offsets_path);
    decoder_.CheckColumn(message_.counts_size(), message_.domains_size(), false,
                         FieldPath(root_, "counts"));
    decoder_.CheckColumn(message_.added_counts_size(), message_.domains_size(), true,
                         FieldPath(root_, "added_counts"));
  }

  void ReadPodSet(int p, const PodSetRequest& pod_set, WorkloadAnswer& answer) {
    const int outcome = message_.outcomes(p);
    if (outcome == v1::POD_SET_OUTCOME_ABSENT) return;
    PodSetAnswer& result = answer.pod_sets.emplace_back();
    result.name = pod_set.name;
    result.flavor = pod_set.flavor;
    if (outcome == v1::POD_SET_OUTCOME_PLACED) {
      result.assignment = ReadAssignment(p);
    } else if (outcome == v1::POD_SET_OUTCOME_FAILED) {
      result.failure = ReadFailure(p);
    } else if (outcome != v1::POD_SET_OUTCOME_NO_RESULT) {
      decoder_.Fail(FieldPath(root_, "outcomes", p), "is {}, which is no known outcome", outcome);
    }
  }

  TopologyAssignment ReadAssignment(int p) {
    TopologyAssignment assignment;
    const FieldPath levels_path(root_, "levels", p);
    const v1::LevelList* levels =
        decoder_.Row(message_.level_lists(), message_.levels(p), levels_path);
    if (!levels) {
      decoder_.Fail(levels_path, "is 0; a placed pod set has levels");
      return assignment;
    }
    for (const std::uint32_t level : levels->levels()) {
      assignment.levels.push_back(decoder_.String(level, levels_path));
    }
    const auto end = static_cast<int>(message_.domain_offsets(p + 1));
    for (auto d = static_cast<int>(message_.domain_offsets(p)); d < end && decoder_.ok(); ++d) {
      assignment.domains.push_back(ReadDomain(d));
    }
    return assignment;
  }

  TopologyDomainAssignment ReadDomain(int d) {
    TopologyDomainAssignment domain;
    const FieldPath path(root_, "domains", d);
    decoder_.Charge(sizeof(TopologyDomainAssignment), path);
    const std::int32_t index = message_.domains(d);
    if (index >= 0) {
      decoder_.Fail(path, "is {}, a leaf by index; domains named by their values were asked for",
                    index);
      return domain;
    }
    const auto reference = static_cast<std::uint32_t>(-std::int64_t{index});
    if (const auto* row = decoder_.Row(message_.named_domains(), reference, path)) {
      for (const std::uint32_t value : row->values()) {
        domain.values.push_back(decoder_.String(value, path));
      }
    }
    domain.count = message_.counts(d);
    return domain;
  }

  FlatMap<std::int64_t> Counts(const v1::CountsByName& message, const FieldPath& path) {
    FlatMap<std::int64_t> counts;
    decoder_.CheckColumn(message.counts_size(), message.names_size(), false, path);
    for (int i = 0; i < message.names_size() && decoder_.ok(); ++i) {
      counts.Set(decoder_.String(message.names(i), path), message.counts(i));
    }
    return counts;
  }

  PlacementFailure ReadFailure(int p) {
    PlacementFailure failure;
    const FieldPath path(root_, "failures", p);
    const v1::PlacementFailure* row =
        decoder_.Row(message_.failure_table(), message_.failures(p), path);
    if (!row) {
      decoder_.Fail(path, "is 0; a failed pod set has a reason");
      return failure;
    }
    failure.reason = decoder_.String(row->reason(), path);
    if (!row->has_shortfall()) return failure;
    const v1::Shortfall& shortfall = row->shortfall();
    failure.shortfall = PlacementFailure::Shortfall{
        .fit = shortfall.fit(),
        .total = shortfall.total(),
        .slice_size = shortfall.slice_size(),
        .exclusions = {.total_nodes = shortfall.total_nodes(),
                       .node_selector = shortfall.node_selector(),
                       .affinity = shortfall.affinity(),
                       .topology_domain = shortfall.topology_domain(),
                       .taints = Counts(shortfall.taints(), path),
                       .resources = Counts(shortfall.resources(), path)}};
    return failure;
  }

  const v1::AnswerBatch& message_;
  WorkBudget& budget_;
  Decoder decoder_;
  const FieldPath root_{"answers"};
};

}  // namespace

Result<v1::AnswerBatch> ToProto(std::span<const WorkloadRequest> requests,
                                std::span<const WorkloadAnswer> answers,
                                const LeafIndex& leaf_index, WorkBudget& budget) {
  return AnswerEncoder(leaf_index, budget).Encode(requests, answers);
}

AnswerRows RowsToProto(const GangRequests& requests, const GangBatch& batch,
                       const GangAnswers& answers, const ClusterState& state, bool by_name,
                       WorkBudget& budget) {
  return AnswerEncoder(LeafIndex(), budget).EncodeRows(requests, batch, answers, state, by_name);
}

Result<std::vector<WorkloadAnswer>> FromProto(std::span<const WorkloadRequest> requests,
                                              const v1::AnswerBatch& message, WorkBudget& budget) {
  return AnswerDecoder(message, budget).Decode(requests);
}

}  // namespace espalier
