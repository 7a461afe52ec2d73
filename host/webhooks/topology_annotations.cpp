// Rules for the annotations of pod templates (R23.1 to R23.10).
#include "host/webhooks/topology_annotations.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/model/kueue_keys.hpp"
#include "host/model/name_errors.hpp"
#include "host/model/parse_bool.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/slice_constraints.hpp"

namespace espalier {
namespace {

constexpr std::string_view kSizeTooSmall = "must be greater than or equal to 1";

std::string TooLarge(std::int64_t count) {
  return fmt::format("must not be greater than pod set count {}", count);
}
std::string NotBeside(std::string_view other) {
  return fmt::format("may not be set when '{}' is specified", other);
}

// The rules for the annotations of one template.
class Checker {
 public:
  Checker(const PodSetToCheck& pod_set, const FeatureGates& gates, Violations& found)
      : path_(pod_set.annotations_path),
        annotations_(pod_set.annotations),
        gates_(gates),
        found_(found) {}

  void Check() {
    CheckOneOfThree();
    CheckUnconstrained();
    for (const std::string_view key :
         {kRequiredTopology, kPreferredTopology, kSliceRequiredTopology})
      CheckLabelKey(key);
    CheckGroup();
    CheckSlicePair();
    CheckLayers();
  }

  void CheckSlicesFit(std::int64_t count) {  // R23.6, R23.8
    if (Has(kSliceTopologyConstraints) && gates_.multi_layer_topology) {
      const auto layers = ParseSliceConstraints(*annotations_.Find(kSliceTopologyConstraints));
      if (layers && !layers->empty() && layers->front().size > count) {
        found_.Invalid(At(kSliceTopologyConstraints), std::int64_t{layers->front().size},
                       TooLarge(count));
      }
      return;
    }
    const std::string* text = annotations_.Find(kSliceSize);
    const auto size = text ? ParseInteger<std::int32_t>(*text) : std::nullopt;
    if (size && *size > count) found_.Invalid(At(kSliceSize), *text, TooLarge(count));
  }

 private:
  bool Has(std::string_view key) const { return annotations_.Contains(key); }
  std::string_view ValueOf(std::string_view key) const {
    const std::string* value = annotations_.Find(key);
    return value ? std::string_view(*value) : std::string_view();
  }
  std::string At(std::string_view key) const { return fmt::format("{}[{}]", path_, key); }

  void Forbid(std::string_view key, std::string_view message) {
    found_.Forbidden(At(key), message, ValueOf(key));
  }

  void CheckOneOfThree() {  // R23.1
    if (Has(kRequiredTopology) + Has(kPreferredTopology) + Has(kUnconstrainedTopology) <= 1) return;
    found_.InvalidWithoutValue(
        path_, fmt::format("must not contain more than one topology "
                           "annotation: [\"{}\", \"{}\", \"{}\"]",
                           kRequiredTopology, kPreferredTopology, kUnconstrainedTopology));
  }

  void CheckUnconstrained() {  // R23.5
    if (!Has(kUnconstrainedTopology) || ParseBool(ValueOf(kUnconstrainedTopology))) return;
    found_.Invalid(At(kUnconstrainedTopology), ValueOf(kUnconstrainedTopology),
                   "must be a boolean value");
  }

  void CheckLabelKey(std::string_view key) {  // R23.2
    if (!Has(key)) return;
    for (const std::string& error : LabelKeyErrors(ValueOf(key))) {
      found_.Invalid(At(key), ValueOf(key), error);
    }
  }

  void CheckGroup() {  // R23.3, R23.4
    if (!Has(kPodSetGroupName)) return;
    const std::string_view group = ValueOf(kPodSetGroupName);
    const bool digits = !group.empty() && group.front() != '+';
    if (digits && ParseInteger<std::uint64_t>(group)) {
      found_.Invalid(At(kPodSetGroupName), group, "must not be a number");
    }
    for (const std::string_view key : {kSliceSize, kSliceRequiredTopology}) {
      if (Has(key)) Forbid(kPodSetGroupName, NotBeside(key));
    }
    if (!Has(kRequiredTopology) && !Has(kPreferredTopology)) {
      Forbid(kPodSetGroupName, fmt::format("may not be set when neither '{}' nor '{}' is specified",
                                           kPreferredTopology, kRequiredTopology));
    }
  }

  void CheckSlicePair() {  // R23.6, R23.7
    if (Has(kSliceRequiredTopology) && !Has(kSliceSize)) {
      found_.Required(At(kSliceSize),
                      fmt::format("must be set when '{}' is specified", kSliceRequiredTopology));
    }
    if (!Has(kSliceSize)) return;
    if (!Has(kSliceRequiredTopology)) {
      Forbid(kSliceSize,
             fmt::format("may not be set when '{}' is not specified", kSliceRequiredTopology));
    }
    const std::string_view text = ValueOf(kSliceSize);
    const auto size = ParseInteger<std::int32_t>(text);
    if (!size) {
      found_.Invalid(At(kSliceSize), text, "must be a numeric value");
    } else if (*size < 1) {
      found_.Invalid(At(kSliceSize), text, kSizeTooSmall);
    }
  }

  void CheckLayers() {  // R23.8
    if (!Has(kSliceTopologyConstraints)) return;
    if (!gates_.multi_layer_topology) {
      return Forbid(kSliceTopologyConstraints,
                    "the TASMultiLayerTopology feature gate must be enabled to use this "
                    "annotation");
    }
    for (const std::string_view key : {kSliceRequiredTopology, kSliceSize}) {
      if (Has(key)) Forbid(kSliceTopologyConstraints, NotBeside(key));
    }
    if (Has(kPodSetGroupName)) Forbid(kPodSetGroupName, NotBeside(kSliceTopologyConstraints));
    const std::string_view text = ValueOf(kSliceTopologyConstraints);
    const auto layers = ParseSliceConstraints(text);
    if (!layers) {
      return found_.Invalid(At(kSliceTopologyConstraints), text,
                            fmt::format("must be a valid JSON array: {}", layers.error().message));
    }
    if (layers->empty() || layers->size() > 3) {
      return found_.Invalid(At(kSliceTopologyConstraints), text,
                            "topology constraints must contain between 1 and 3 entries");
    }
    for (std::size_t i = 0; i < layers->size(); ++i) CheckLayer(*layers, i);
  }

  void CheckLayer(const std::vector<SliceConstraint>& layers, std::size_t index) {
    const auto& [topology, size] = layers[index];
    const std::string at = fmt::format("{}[{}]", At(kSliceTopologyConstraints), index);
    for (const std::string& error : LabelKeyErrors(topology)) {
      found_.Invalid(at + ".topology", topology, error);
    }
    if (size < 1) found_.Invalid(at + ".size", std::int64_t{size}, kSizeTooSmall);
    for (std::size_t i = 0; i < index; ++i) {
      if (layers[i].topology != topology) continue;
      found_.Duplicate(at + ".topology", fmt::format("{} (also at index {})", topology, i));
      break;
    }
    if (index == 0) return;
    const std::int32_t parent = layers[index - 1].size;
    if (parent >= 1 && size >= 1 && parent % size != 0) {
      found_.Invalid(at + ".size", std::int64_t{size},
                     fmt::format("must evenly divide the parent layer size {}", parent));
    }
  }

  const std::string& path_;
  const StringMap& annotations_;
  const FeatureGates& gates_;
  Violations& found_;
};

bool SameLevel(const StringMap& a, const StringMap& b, std::string_view key) {
  const std::string* in_a = a.Find(key);
  const std::string* in_b = b.Find(key);
  return in_a && in_b ? *in_a == *in_b : in_a == in_b;
}

// R23.9 for the pod sets that name one group.
void CheckGroupOf(const std::string& group, const std::vector<const PodSetToCheck*>& members,
                  Violations& found) {
  const auto at = [](const PodSetToCheck& member) {
    return fmt::format("{}[{}]", member.annotations_path, kPodSetGroupName);
  };
  if (members.size() != 2) {
    for (const PodSetToCheck* member : members) {
      found.Invalid(at(*member), group,
                    fmt::format("can only define groups of exactly 2 pod sets, got: {} pod set(s)",
                                members.size()));
    }
    return;
  }
  const auto& [a, b] = std::tie(*members[0], *members[1]);
  if (a.count != 1 && b.count != 1) {
    found.Invalid(
        at(a), group,
        fmt::format("can only define groups where at least one pod set has only 1 replica, got: {} "
                    "replica(s) and {} replica(s) in the group",
                    a.count.value_or(0), b.count.value_or(0)));
  }
  const bool asked =
      a.annotations.Contains(kRequiredTopology) || a.annotations.Contains(kPreferredTopology);
  if (asked && SameLevel(a.annotations, b.annotations, kRequiredTopology) &&
      SameLevel(a.annotations, b.annotations, kPreferredTopology)) {
    return;
  }
  const auto differs = [&](const PodSetToCheck& one, const PodSetToCheck& other) {
    found.InvalidWithoutValue(
        one.annotations_path,
        fmt::format("must specify '{}' or '{}' topology consistent with '{}' in group '{}'",
                    kRequiredTopology, kPreferredTopology, other.annotations_path, group));
  };
  differs(a, b);
  differs(b, a);
}

}  // namespace

void CheckTopologyAnnotations(const PodSetToCheck& pod_set, const FeatureGates& gates,
                              Violations& found) {
  Checker(pod_set, gates, found).Check();
}

void CheckSlicesFit(const PodSetToCheck& pod_set, const FeatureGates& gates, Violations& found) {
  if (pod_set.count) Checker(pod_set, gates, found).CheckSlicesFit(*pod_set.count);
}

void CheckPodSetGroups(std::span<const PodSetToCheck> pod_sets, Violations& found) {
  std::map<std::string, std::vector<const PodSetToCheck*>> groups;
  for (const PodSetToCheck& pod_set : pod_sets) {
    const std::string* group = pod_set.annotations.Find(kPodSetGroupName);
    if (group) groups[*group].push_back(&pod_set);
  }
  for (const auto& [group, members] : groups) CheckGroupOf(group, members, found);
}

void CheckElasticTopology(const PodSetToCheck& pod_set, Violations& found) {
  for (const auto& [key, word] :
       {std::pair{kRequiredTopology, "required"}, {kPreferredTopology, "preferred"}}) {
    const std::string* value = pod_set.annotations.Find(key);
    if (value == nullptr) continue;
    found.Forbidden(fmt::format("{}.{}", pod_set.annotations_path, key),
                    fmt::format("{} topology is not supported with elastic jobs", word), *value);
  }
}

}  // namespace espalier
