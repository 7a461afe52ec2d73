// Rules for the annotations of pod templates (R23.1 to R23.10).
#include "host/webhooks/topology_annotations.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/model/name_errors.hpp"
#include "host/model/parse_bool.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/slice_constraints.hpp"

namespace espalier {
namespace {

constexpr std::string_view kRequired = "kueue.x-k8s.io/podset-required-topology";
constexpr std::string_view kPreferred = "kueue.x-k8s.io/podset-preferred-topology";
constexpr std::string_view kUnconstrained = "kueue.x-k8s.io/podset-unconstrained-topology";
constexpr std::string_view kSliceTopology = "kueue.x-k8s.io/podset-slice-required-topology";
constexpr std::string_view kSliceSize = "kueue.x-k8s.io/podset-slice-size";
constexpr std::string_view kLayers = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
constexpr std::string_view kGroup = "kueue.x-k8s.io/podset-group-name";

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
    for (const std::string_view key : {kRequired, kPreferred, kSliceTopology}) CheckLabelKey(key);
    CheckGroup();
    CheckSlicePair();
    CheckLayers();
  }

  void CheckSlicesFit(std::int64_t count) {  // R23.6, R23.8
    if (Has(kLayers) && gates_.multi_layer_topology) {
      const auto layers = ParseSliceConstraints(*annotations_.Find(kLayers));
      if (layers && !layers->empty() && layers->front().size > count) {
        found_.Invalid(At(kLayers), std::int64_t{layers->front().size}, TooLarge(count));
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
    if (Has(kRequired) + Has(kPreferred) + Has(kUnconstrained) <= 1) return;
    found_.InvalidWithoutValue(path_, fmt::format("must not contain more than one topology "
                                                  "annotation: [\"{}\", \"{}\", \"{}\"]",
                                                  kRequired, kPreferred, kUnconstrained));
  }

  void CheckUnconstrained() {  // R23.5
    if (!Has(kUnconstrained) || ParseBool(ValueOf(kUnconstrained))) return;
    found_.Invalid(At(kUnconstrained), ValueOf(kUnconstrained), "must be a boolean value");
  }

  void CheckLabelKey(std::string_view key) {  // R23.2
    if (!Has(key)) return;
    for (const std::string& error : LabelKeyErrors(ValueOf(key))) {
      found_.Invalid(At(key), ValueOf(key), error);
    }
  }

  void CheckGroup() {  // R23.3, R23.4
    if (!Has(kGroup)) return;
    const std::string_view group = ValueOf(kGroup);
    const bool digits = !group.empty() && group.front() != '+';
    if (digits && ParseInteger<std::uint64_t>(group)) {
      found_.Invalid(At(kGroup), group, "must not be a number");
    }
    for (const std::string_view key : {kSliceSize, kSliceTopology}) {
      if (Has(key)) Forbid(kGroup, NotBeside(key));
    }
    if (!Has(kRequired) && !Has(kPreferred)) {
      Forbid(kGroup, fmt::format("may not be set when neither '{}' nor '{}' is specified",
                                 kPreferred, kRequired));
    }
  }

  void CheckSlicePair() {  // R23.6, R23.7
    if (Has(kSliceTopology) && !Has(kSliceSize)) {
      found_.Required(At(kSliceSize),
                      fmt::format("must be set when '{}' is specified", kSliceTopology));
    }
    if (!Has(kSliceSize)) return;
    if (!Has(kSliceTopology)) {
      Forbid(kSliceSize, fmt::format("may not be set when '{}' is not specified", kSliceTopology));
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
    if (!Has(kLayers)) return;
    if (!gates_.multi_layer_topology) {
      return Forbid(kLayers,
                    "the TASMultiLayerTopology feature gate must be enabled to use this "
                    "annotation");
    }
    for (const std::string_view key : {kSliceTopology, kSliceSize}) {
      if (Has(key)) Forbid(kLayers, NotBeside(key));
    }
    if (Has(kGroup)) Forbid(kGroup, NotBeside(kLayers));
    const std::string_view text = ValueOf(kLayers);
    const auto layers = ParseSliceConstraints(text);
    if (!layers) {
      return found_.Invalid(At(kLayers), text,
                            fmt::format("must be a valid JSON array: {}", layers.error().message));
    }
    if (layers->empty() || layers->size() > 3) {
      return found_.Invalid(At(kLayers), text,
                            "topology constraints must contain between 1 and 3 entries");
    }
    for (std::size_t i = 0; i < layers->size(); ++i) CheckLayer(*layers, i);
  }

  void CheckLayer(const std::vector<SliceConstraint>& layers, std::size_t index) {
    const auto& [topology, size] = layers[index];
    const std::string at = fmt::format("{}[{}]", At(kLayers), index);
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
    return fmt::format("{}[{}]", member.annotations_path, kGroup);
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
  const bool asked = a.annotations.Contains(kRequired) || a.annotations.Contains(kPreferred);
  if (asked && SameLevel(a.annotations, b.annotations, kRequired) &&
      SameLevel(a.annotations, b.annotations, kPreferred)) {
    return;
  }
  const auto differs = [&](const PodSetToCheck& one, const PodSetToCheck& other) {
    found.InvalidWithoutValue(
        one.annotations_path,
        fmt::format("must specify '{}' or '{}' topology consistent with '{}' in group '{}'",
                    kRequired, kPreferred, other.annotations_path, group));
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
    const std::string* group = pod_set.annotations.Find(kGroup);
    if (group) groups[*group].push_back(&pod_set);
  }
  for (const auto& [group, members] : groups) CheckGroupOf(group, members, found);
}

void CheckElasticTopology(const PodSetToCheck& pod_set, Violations& found) {
  for (const auto& [key, word] : {std::pair{kRequired, "required"}, {kPreferred, "preferred"}}) {
    const std::string* value = pod_set.annotations.Find(key);
    if (value == nullptr) continue;
    found.Forbidden(fmt::format("{}.{}", pod_set.annotations_path, key),
                    fmt::format("{} topology is not supported with elastic jobs", word), *value);
  }
}

}  // namespace espalier
