// Rules for the annotations of pod templates (R23.1 to R23.11).
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "host/kueue/validation.hpp"
#include "host/model/label_key.hpp"
#include "host/model/parse_bool.hpp"
#include "host/model/parse_integer.hpp"

namespace espalier {
namespace {

constexpr std::string_view kRequired = "kueue.x-k8s.io/podset-required-topology";
constexpr std::string_view kPreferred = "kueue.x-k8s.io/podset-preferred-topology";
constexpr std::string_view kUnconstrained = "kueue.x-k8s.io/podset-unconstrained-topology";
constexpr std::string_view kSliceTopology = "kueue.x-k8s.io/podset-slice-required-topology";
constexpr std::string_view kSliceSize = "kueue.x-k8s.io/podset-slice-size";
constexpr std::string_view kLayers = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
constexpr std::string_view kGroup = "kueue.x-k8s.io/podset-group-name";

constexpr std::string_view kNotALabelKey =
    "must be a label key: an optional DNS prefix and '/', then a name of at most 63 letters, "
    "digits, '-', '_' and '.' that begins and ends with a letter or digit";
constexpr std::string_view kSizeTooSmall = "must be greater than or equal to 1";

std::string TooLarge(std::int64_t count) {
  return fmt::format("must not be greater than pod set count {}", count);
}
std::string NotBeside(std::string_view other) {
  return fmt::format("may not be set when '{}' is specified", other);
}

std::string AnnotationsPath(std::size_t pod_set) {
  return fmt::format("spec.podSets[{}].template.metadata.annotations", pod_set);
}

// The rules for one template.
class TemplateChecker {
 public:
  TemplateChecker(const std::string& object, std::size_t index, const PodSet& pod_set,
                  const TemplateRules& which, const ValidationRules& rules,
                  std::vector<Violation>& found)
      : object_(object),
        path_(AnnotationsPath(index)),
        annotations_(pod_set.pod_template.annotations),
        rules_(rules),
        found_(found) {
    if (which.bounded_by_count) count_ = pod_set.count;
  }

  void Check(bool elastic) {
    CheckOneOfThree();
    for (const std::string_view key : {kRequired, kPreferred, kSliceTopology}) CheckLabelKey(key);
    CheckUnconstrained();
    CheckGroup();
    CheckSlicePair();
    CheckLayers();
    if (elastic) CheckElastic();
  }

 private:
  bool Has(std::string_view key) const { return annotations_.Contains(key); }

  void Add(std::string_view key, std::string_view message) {
    const std::string* value = annotations_.Find(key);
    found_.push_back(
        {object_, fmt::format("{}[{}]", path_, key), value ? *value : "", std::string(message)});
  }

  void CheckOneOfThree() {  // R23.1
    if (Has(kRequired) + Has(kPreferred) + Has(kUnconstrained) <= 1) return;
    found_.push_back({object_, path_, "",
                      fmt::format("must not contain more than one topology annotation: "
                                  "[\"{}\", \"{}\", \"{}\"]",
                                  kRequired, kPreferred, kUnconstrained)});
  }

  void CheckLabelKey(std::string_view key) {  // R23.2
    const std::string* value = annotations_.Find(key);
    if (value && !IsQualifiedName(*value)) Add(key, kNotALabelKey);
  }

  void CheckUnconstrained() {  // R23.5
    const std::string* value = annotations_.Find(kUnconstrained);
    if (value && !ParseBool(*value)) Add(kUnconstrained, "must be a boolean value");
  }

  void CheckGroup() {  // R23.3, R23.4
    const std::string* value = annotations_.Find(kGroup);
    if (!value) return;
    const bool digits = !value->empty() && value->front() != '+';
    if (digits && ParseInteger<std::uint64_t>(*value)) Add(kGroup, "must not be a number");
    if (Has(kSliceSize)) Add(kGroup, NotBeside(kSliceSize));
    if (Has(kSliceTopology)) Add(kGroup, NotBeside(kSliceTopology));
    if (!Has(kRequired) && !Has(kPreferred)) {
      Add(kGroup, fmt::format("may not be set when neither '{}' nor '{}' is specified", kPreferred,
                              kRequired));
    }
  }

  void CheckSlicePair() {  // R23.6, R23.7
    const std::string* text = annotations_.Find(kSliceSize);
    if (!text) {
      if (Has(kSliceTopology)) {
        Add(kSliceSize, fmt::format("must be set when '{}' is specified", kSliceTopology));
      }
      return;
    }
    if (!Has(kSliceTopology)) {
      Add(kSliceSize, fmt::format("may not be set when '{}' is not specified", kSliceTopology));
    }
    const auto size = ParseInteger<std::int32_t>(*text);
    if (!size) return Add(kSliceSize, "must be a numeric value");
    if (*size < 1) Add(kSliceSize, kSizeTooSmall);
    if (count_ && *size > *count_) Add(kSliceSize, TooLarge(*count_));
  }

  void CheckLayers() {  // R23.8
    const std::string* text = annotations_.Find(kLayers);
    if (!text) return;
    if (!rules_.gates.multi_layer_topology) {
      return Add(kLayers,
                 "the TASMultiLayerTopology feature gate must be enabled to use this annotation");
    }
    if (Has(kSliceTopology)) Add(kLayers, NotBeside(kSliceTopology));
    if (Has(kSliceSize)) Add(kLayers, NotBeside(kSliceSize));
    if (Has(kGroup)) Add(kGroup, NotBeside(kLayers));
    const auto layers = rules_.parse_slice_constraints(*text);
    if (!layers) {
      return Add(kLayers, fmt::format("must be a valid JSON array: {}", layers.error().message));
    }
    if (layers->empty() || layers->size() > 3) {
      return Add(kLayers, "topology constraints must contain between 1 and 3 entries");
    }
    for (std::size_t i = 0; i < layers->size(); ++i) CheckLayer(*layers, i);
  }

  void AddToLayer(std::size_t index, std::string_view member, std::string_view value,
                  std::string_view message) {
    found_.push_back({object_, fmt::format("{}[{}][{}].{}", path_, kLayers, index, member),
                      std::string(value), std::string(message)});
  }

  void CheckLayer(const std::vector<SliceConstraint>& layers, std::size_t index) {
    const auto& [topology, size] = layers[index];
    const std::string size_text = fmt::format("{}", size);
    if (!IsQualifiedName(topology)) AddToLayer(index, "topology", topology, kNotALabelKey);
    if (size < 1) AddToLayer(index, "size", size_text, kSizeTooSmall);
    for (std::size_t i = 0; i < index; ++i) {
      if (layers[i].topology != topology) continue;
      AddToLayer(index, "topology", topology,
                 fmt::format("duplicate value: {} (also at index {})", topology, i));
      break;
    }
    if (index == 0) {
      if (count_ && size > *count_) AddToLayer(0, "size", size_text, TooLarge(*count_));
      return;
    }
    const std::int32_t parent = layers[index - 1].size;
    if (parent >= 1 && size >= 1 && parent % size != 0) {
      AddToLayer(index, "size", size_text,
                 fmt::format("must evenly divide the parent layer size {}", parent));
    }
  }

  void CheckElastic() {  // R23.10
    if (Has(kRequired)) Add(kRequired, "required topology is not supported with elastic jobs");
    if (Has(kPreferred)) Add(kPreferred, "preferred topology is not supported with elastic jobs");
  }

  const std::string& object_;
  std::string path_;
  const StringMap& annotations_;
  std::optional<std::int32_t> count_;  // absent: no upper bound
  const ValidationRules& rules_;
  std::vector<Violation>& found_;
};

bool SameLevel(const StringMap& a, const StringMap& b, std::string_view key) {
  const std::string* in_a = a.Find(key);
  const std::string* in_b = b.Find(key);
  return in_a && in_b ? *in_a == *in_b : in_a == in_b;
}

// R23.9 for the pod sets, by index, that name one group.
void CheckGroupOf(const std::string& object, std::span<const PodSet> pod_sets,
                  const std::string& group, const std::vector<std::size_t>& members,
                  std::vector<Violation>& found) {
  const auto add = [&](std::size_t member, std::string message) {
    found.push_back({object, fmt::format("{}[{}]", AnnotationsPath(member), kGroup), group,
                     std::move(message)});
  };
  if (members.size() != 2) {
    for (const std::size_t member : members) {
      add(member, fmt::format("can only define groups of exactly 2 pod sets, got: {} pod set(s)",
                              members.size()));
    }
    return;
  }
  const PodSet& a = pod_sets[members[0]];
  const PodSet& b = pod_sets[members[1]];
  if (a.count != 1 && b.count != 1) {
    add(members[0],
        fmt::format("can only define groups where at least one pod set has only 1 replica, got: {} "
                    "replica(s) and {} replica(s) in the group",
                    a.count, b.count));
  }
  const StringMap& of_a = a.pod_template.annotations;
  const StringMap& of_b = b.pod_template.annotations;
  const bool asked = of_a.Contains(kRequired) || of_a.Contains(kPreferred);
  if (asked && SameLevel(of_a, of_b, kRequired) && SameLevel(of_a, of_b, kPreferred)) return;
  for (const std::size_t i : {0, 1}) {
    add(members[i],
        fmt::format("must specify '{}' or '{}' topology consistent with '{}' in group '{}'",
                    kRequired, kPreferred, AnnotationsPath(members[1 - i]), group));
  }
}

void CheckGroups(const std::string& object, std::span<const PodSet> pod_sets,
                 std::vector<Violation>& found) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const std::string* group = pod_sets[i].pod_template.annotations.Find(kGroup);
    if (group) groups[*group].push_back(i);
  }
  for (const auto& [group, members] : groups) {
    CheckGroupOf(object, pod_sets, group, members, found);
  }
}

}  // namespace

TemplateRules TemplateRulesOf(std::string_view kind) {
  if (kind == "Pod") return {.bounded_by_count = false, .groups = false};
  constexpr std::string_view kWithGroups[] = {"JobSet",     "LeaderWorkerSet", "MPIJob",
                                              "RayCluster", "RayJob",          "RayService"};
  return {.bounded_by_count = true, .groups = std::ranges::count(kWithGroups, kind) > 0};
}

std::vector<Violation> ValidatePodTemplates(const std::string& object,
                                            std::span<const PodSet> pod_sets, bool elastic,
                                            const TemplateRules& which,
                                            const ValidationRules& rules) {
  std::vector<Violation> found;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    TemplateChecker(object, i, pod_sets[i], which, rules, found).Check(elastic);
  }
  if (which.groups) CheckGroups(object, pod_sets, found);
  return found;
}

}  // namespace espalier
