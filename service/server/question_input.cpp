#include "service/server/question_input.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/columns.hpp"
#include "service/wire/types.hpp"

namespace espalier {
namespace {

// Returns what a job uses of a resource on a leaf, on flavors that share their nodes together.
Amount OwnOn(const AdmittedUsage& job, const FlavorLeafUsage& entry, const std::string& resource,
             bool shares_usage) {
  Amount own = 0;
  for (const FlavorLeafUsage& held : job.usage) {
    if (held.leaf != entry.leaf || (held.flavor != entry.flavor && !shares_usage)) continue;
    const Amount* amount = held.usage.Find(resource);
    if (amount != nullptr) own = SaturatingAdd(own, *amount);
  }
  return own;
}

// Says what of `usage` is more than a job uses in all; empty: nothing.
std::string BeyondOwn(const AdmittedUsage& job, const std::vector<FlavorLeafUsage>& usage,
                      bool shares_usage) {
  for (const FlavorLeafUsage& entry : usage) {
    for (const auto& [resource, amount] : entry.usage) {
      const Amount most = OwnOn(job, entry, resource, shares_usage);
      if (amount >= 0 && amount <= most) continue;
      return fmt::format("is to give back {} {} on {}, of which it uses {}; want 0 to {}", amount,
                         Excerpt(resource), Excerpt(entry.leaf), most, most);
    }
  }
  return {};
}

class VictimsReader {
 public:
  VictimsReader(const v1::Victims& message, const PublishedState& snapshot,
                const ClusterState& state, WorkBudget& budget)
      : message_(message),
        snapshot_(snapshot),
        state_(state),
        decoder_(message.strings(), budget) {}

  Result<std::vector<RunningWorkload>> Read() {
    decoder_.CheckColumn(message_.namespaces_size(), message_.names_size(), true,
                         FieldPath(root_, "namespaces"));
    int explicit_usage = 0;
    for (int i = 0; i < message_.names_size() && decoder_.ok(); ++i) {
      const FieldPath path(root_, "names", i);
      decoder_.Charge(sizeof(RunningWorkload), path);
      const ObjectKey key = ReadKey(i, path);
      if (auto once = CheckJobNamedOnce(key); !once) return tl::unexpected(once.error());
      const bool given = explicit_usage < message_.usage_size() &&
                         message_.usage(explicit_usage).victim() == static_cast<std::uint32_t>(i);
      const auto added = given ? AddGiven(key, explicit_usage++) : AddKnown(key, path);
      if (!added) return tl::unexpected(added.error());
    }
    if (explicit_usage != message_.usage_size()) {
      decoder_.Fail(FieldPath(FieldPath(root_, "usage", explicit_usage), "victim"),
                    "is {}; ascending positions below {} expected",
                    message_.usage(explicit_usage).victim(), message_.names_size());
    }
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    return std::move(victims_);
  }

 private:
  ObjectKey ReadKey(int i, const FieldPath& path) {
    ObjectKey key;
    key.namespace_ =
        decoder_.String(EntryOf(message_.namespaces(), i), FieldPath(root_, "namespaces", i));
    key.name = decoder_.String(message_.names(i), path);
    return key;
  }

  // All slices of a job go with the one that is named (W5.5).
  Result<void> CheckJobNamedOnce(const ObjectKey& key) {
    const auto [named, fresh] = named_.try_emplace(snapshot_.admitted->JobOf(key), key);
    if (fresh) return {};
    if (named->second == key) {
      return BadInput(
          fmt::format("victim {}: it is named twice; want each once", Excerpt(key.ToString())));
    }
    return BadInput(fmt::format(
        "victim {}: it is a slice of the same job as {}; name one of them, and all slices go",
        Excerpt(key.ToString()), Excerpt(named->second.ToString())));
  }

  Result<void> AddKnown(const ObjectKey& key, const FieldPath& path) {
    if (snapshot_.admitted->Find(key) == nullptr) {
      return tl::unexpected(
          Error{ErrorClass::kNotFound,
                fmt::format("victim {}: the state knows {} admitted workloads, and none of this "
                            "name; load it, or say what it uses",
                            Excerpt(key.ToString()), snapshot_.admitted->size())});
    }
    AdmittedUsage job = snapshot_.admitted->WholeJob(key);
    decoder_.Charge(static_cast<std::int64_t>(job.usage.size() * sizeof(FlavorLeafUsage)), path);
    victims_.push_back({key, {key.ToString(), std::move(job.usage)}, job.priority});
    return {};
  }

  Result<void> AddGiven(const ObjectKey& key, int row) {
    const FieldPath path(root_, "usage", row);
    std::vector<FlavorLeafUsage> usage =
        FromProtoList<FlavorLeafUsage>(message_.usage(row).usage(), path, "usage", decoder_);
    usage = InOrder({key, 0, 0, std::move(usage)}).usage;
    std::int64_t priority = message_.usage(row).priority();
    if (snapshot_.admitted->Find(key) != nullptr) {
      const AdmittedUsage job = snapshot_.admitted->WholeJob(key);
      if (const std::string wrong = BeyondOwn(job, usage, snapshot_.shares_usage); !wrong.empty()) {
        return BadInput(fmt::format("victim {}: it {}", Excerpt(key.ToString()), wrong));
      }
      priority = job.priority;
    }
    victims_.push_back({key, {key.ToString(), std::move(usage)}, priority});
    if (!decoder_.ok()) return {};
    return CheckVictims(state_, {&victims_.back().victim, 1}, /*together=*/false);
  }

  const v1::Victims& message_;
  const PublishedState& snapshot_;
  const ClusterState& state_;
  Decoder decoder_;
  const FieldPath root_{"victims"};
  std::map<ObjectKey, ObjectKey> named_;  // by the key of the job
  std::vector<RunningWorkload> victims_;
};

}  // namespace

Result<std::vector<RunningWorkload>> ReadVictims(const v1::Victims& message,
                                                 const PublishedState& snapshot,
                                                 const ClusterState& state, WorkBudget& budget) {
  return VictimsReader(message, snapshot, state, budget).Read();
}

Result<ProposedChange> ReadChange(
    const google::protobuf::RepeatedPtrField<std::string>& drained_nodes,
    const v1::UpdateStateRequest& change, WorkBudget& budget) {
  const char* wrong = nullptr;
  if (change.has_base()) wrong = "base";
  if (!change.state_name().empty()) wrong = "state_name";
  if (!change.set_tas_usage().empty()) wrong = "set_tas_usage";
  if (change.has_set_kueue_configuration()) wrong = "set_kueue_configuration";
  if (wrong != nullptr) {
    return BadInput(fmt::format("change.{}: does not go with a change that is supposed", wrong));
  }
  auto delta = FromProto(change, budget);
  if (!delta) return tl::unexpected(delta.error());
  return ProposedChange{{drained_nodes.begin(), drained_nodes.end()}, *std::move(delta)};
}

Result<Lists> ReadLists(const google::protobuf::RepeatedField<std::uint32_t>& offsets,
                        const google::protobuf::RepeatedField<std::uint32_t>& positions,
                        std::int64_t lists, std::int64_t limit, std::string_view field,
                        WorkBudget& budget) {
  const google::protobuf::RepeatedPtrField<std::string> no_strings;
  Decoder decoder(no_strings, budget);
  const FieldPath path(field);
  decoder.Charge((lists + positions.size()) * static_cast<std::int64_t>(sizeof(Lists::value_type)),
                 path);
  const bool none = offsets.empty() && positions.empty();
  if (!none) {
    decoder.CheckColumn(offsets.size(), lists + 1, false, path);
    decoder.CheckOffsets(offsets, positions.size(), path);
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  Lists cut(static_cast<std::size_t>(lists));
  for (std::size_t i = 0; !none && i < cut.size(); ++i) {
    const auto at = static_cast<int>(i);
    cut[i].assign(positions.begin() + offsets[at], positions.begin() + offsets[at + 1]);
    std::vector<std::uint32_t> sorted = cut[i];
    std::ranges::sort(sorted);
    const FieldPath list(field, at);
    if (!sorted.empty() && sorted.back() >= limit) {
      decoder.Fail(list, "names position {}; there are only {}", sorted.back(), limit);
    }
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
      decoder.Fail(list, "names position {} twice; want each once", *twice);
    }
    if (!decoder.ok()) return tl::unexpected(decoder.error());
  }
  return cut;
}

}  // namespace espalier
