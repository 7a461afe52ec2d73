#include "host/readers/sources/source_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/readers/sources/topology_claims.hpp"

namespace espalier {
namespace {

// Returns whether an expression of a label selector holds for the labels of a pod; also where it
// cannot be read, as what is not known may bind.
bool Holds(JsonValue expression, JsonValue pod) {
  const std::string_view key = TextOf(expression, "key");
  const std::string_view op = TextOf(expression, "operator");
  JsonValue label;
  const bool there = pod["metadata"]["labels"][key].get(label) == simdjson::SUCCESS;
  if (op == "Exists") return there;
  if (op == "DoesNotExist") return !there;
  simdjson::dom::array values;
  bool listed = false;
  if (expression["values"].get(values) == simdjson::SUCCESS) {
    for (const JsonValue value : values) {
      std::string_view text;
      std::string_view of_pod;
      listed = listed || (value.get(text) == simdjson::SUCCESS && there &&
                          label.get(of_pod) == simdjson::SUCCESS && text == of_pod);
    }
  }
  return op == "NotIn" ? !listed : listed;
}

// Returns whether the label selector of a term matches the pods that it is of. None matches
// nothing. A bare PodSpec does not say which labels its pods have: any may be theirs.
bool SelectsItself(JsonValue term, JsonValue pod) {
  const auto selector = Member(term, "labelSelector");
  if (!selector || !selector->is_object()) return false;
  if (!Member(pod, "spec") && !Member(pod, "metadata")) return true;
  simdjson::dom::object labels;
  if ((*selector)["matchLabels"].get(labels) == simdjson::SUCCESS) {
    for (const auto [key, value] : labels) {
      std::string_view text;
      std::string_view of_pod;
      if (value.get(text) != simdjson::SUCCESS ||
          pod["metadata"]["labels"][key].get(of_pod) != simdjson::SUCCESS || text != of_pod) {
        return false;
      }
    }
  }
  simdjson::dom::array expressions;
  if ((*selector)["matchExpressions"].get(expressions) != simdjson::SUCCESS) return true;
  return std::all_of(expressions.begin(), expressions.end(), [&](JsonValue expression) {
    return expression.is_object() && Holds(expression, pod);
  });
}

std::string_view TextAt(JsonValue object, std::string_view map, std::string_view name) {
  const auto metadata = Member(object, "metadata");
  const auto texts = metadata ? Member(*metadata, map) : std::nullopt;
  const auto value = texts ? Member(*texts, name) : std::nullopt;
  std::string_view text;
  return value && value->get(text) == simdjson::SUCCESS ? text : std::string_view();
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::string_view AnnotationOf(JsonValue object, std::string_view name) {
  return TextAt(object, "annotations", name);
}

std::string_view LabelOf(JsonValue object, std::string_view name) {
  return TextAt(object, "labels", name);
}

JsonValue PodSpecOf(JsonValue pod_template) {
  return Member(pod_template, "spec").value_or(pod_template);
}

std::string NamespaceOfObject(JsonValue object, const ReadContext& context) {
  const auto metadata = Member(object, "metadata");
  if (!metadata || !metadata->is_object()) return std::string(kDefaultNamespace);
  return NamespaceOf(*metadata, context);
}

std::vector<OwnerReference> OwnersOf(JsonValue object, const ReadContext& context) {
  const auto metadata = Member(object, "metadata");
  if (!metadata || !metadata->is_object()) return {};
  return ReadOwners(*metadata, context);
}

ReadContext ContextOf(const FoundObject& found, const SourceContext& context) {
  return {.diagnostics = context.read.diagnostics,
          .file = found.file,
          .root = found.value,
          .kind = found.kind,
          .budget = context.read.budget,
          .number = found.number,
          .takes_byte_suffix = context.read.takes_byte_suffix};
}

GangWorkload BeginWorkload(JsonValue object, const SourceContext& context) {
  GangWorkload workload;
  workload.head = ReadWorkloadHead(object, context.read);
  ApplyKueueDefaults(object, context.defaults, workload.head);
  const std::string api_version =
      context.version.empty() ? std::string(context.group) : std::string(context.version);
  workload.source = fmt::format("{} {}", api_version, context.kind);
  workload.head.owners.push_back({.api_version = api_version,
                                  .kind = std::string(context.kind),
                                  .name = workload.head.key.name,
                                  .uid = workload.head.uid,
                                  .controller = true});
  workload.true_workload =
      TrueWorkload{std::string(context.group), std::string(context.kind), workload.head.key.name};
  return workload;
}

EqGroup ReadEqGroup(std::string name, JsonValue pod_template, std::int32_t count,
                    const PodIndex& index, const SourceContext& context, PodOrigin origin) {
  EqGroup group;
  group.name = std::move(name);
  group.min_count = count;
  group.max_count = count;
  group.part_of = ReadTemplatePart(pod_template, context.read);
  CheckTemplateKeys(pod_template, context.read);
  group.pod_template = ReadPodTemplate(pod_template, context.read, context.defaults,
                                       NamespaceOfObject(context.read.root, context.read), origin);
  std::optional<TopologyRequest>& request = group.topology_request.levels;
  request = ReadTopologyAnnotations(pod_template, index.label, context.read);
  if (!index.sub_group_label.empty()) {
    if (!request) request.emplace();
    request->sub_group_index_label = index.sub_group_label;
    request->sub_group_count = index.sub_group_count;
  }
  AddWhatKueueLeavesOut(pod_template, group);
  if (origin == PodOrigin::kWrapped) return group;
  ApplyPodClaims(pod_template, NamespaceOfObject(context.read.root, context.read), context.read,
                 context.defaults, group);
  return group;
}

void AddWhatKueueLeavesOut(JsonValue pod_template, EqGroup& group) {
  std::optional<TopologyRequest>& request = group.topology_request.levels;
  const std::string_view preferred = AnnotationOf(pod_template, kPreferredTopology);
  if (request && request->required && !preferred.empty() && preferred != *request->required) {
    request->preferred = preferred;
  }
  if (group.pod_template && PodSpecOf(pod_template)["nodeName"].is_string()) {
    group.pod_template->ignored_constraints.emplace_back("node name");
  }
  AddWhatKeepsApart(pod_template, group);
  RefuseShares(pod_template, group);
}

void AddWhatKeepsApart(JsonValue pod_template, EqGroup& group) {
  const JsonValue spec = PodSpecOf(pod_template);
  simdjson::dom::array terms;
  if (!spec.is_object()) return;
  const std::size_t before = group.kept_apart.size();
  if (spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].get(
          terms) == simdjson::SUCCESS) {
    for (const JsonValue term : terms) {
      if (!term.is_object() || !SelectsItself(term, pod_template)) continue;
      const std::string key(TextOf(term, "topologyKey"));
      if (!group.apart && group.kept_apart.size() == before) {
        group.apart = SliceConstraint{key, 1};
      } else if (group.apart && group.apart->topology != key) {
        group.kept_apart.push_back("anti-affinity over " + key);
      }
    }
  }
  if (spec["topologySpreadConstraints"].get(terms) != simdjson::SUCCESS) return;
  for (const JsonValue term : terms) {
    if (!term.is_object() || TextOf(term, "whenUnsatisfiable") == "ScheduleAnyway") continue;
    if (!SelectsItself(term, pod_template)) continue;
    group.kept_apart.push_back(
        fmt::format("topology spread over {}", Excerpt(TextOf(term, "topologyKey"))));
  }
}

void RefuseShares(JsonValue pod_template, EqGroup& group) {
  for (const std::string_view key : {"gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"}) {
    const std::string_view share = AnnotationOf(pod_template, key);
    if (share.empty() || !group.claim_problem.empty()) continue;
    group.claim_problem =
        fmt::format("annotation {} of its pods is {}: a part of a GPU, which is not understood",
                    key, Excerpt(share));
  }
}

RankedGroup& AddRankedGroup(GangGroup& gang, EqGroup group, std::string_view rank_label) {
  RankedGroup& ranked = gang.ranked_groups.emplace_back();
  ranked.name = group.name;
  if (!rank_label.empty()) ranked.rank_from = LabelFieldPath(rank_label);
  ranked.eq_groups.push_back(std::move(group));
  return ranked;
}

void FinishWorkload(GangWorkload& workload, JsonValue object,
                    const std::vector<JsonValue>& templates, const SourceContext& context,
                    PodOrigin origin) {
  ReadJobPriority(object, templates, context.read, context.defaults, workload.head);
  ReadTemplateErrors({templates.begin(), templates.end()}, context.read, context.defaults,
                     workload.head, origin);
}

std::optional<JsonValue> RequiredObject(JsonValue parent, std::string_view name,
                                        std::string expected, const SourceContext& context) {
  const auto value = Member(parent, name);
  if (value && value->is_object()) return value;
  if (value) {
    context.read.Error(*value, "it is not an object", std::move(expected));
  } else {
    context.read.Missing(parent, name, std::move(expected));
  }
  return std::nullopt;
}

std::optional<JsonValue> SpecOf(JsonValue object, const SourceContext& context) {
  auto spec =
      RequiredObject(object, "spec", fmt::format("what the {} is to run", context.kind), context);
  if (!spec || Fields(*spec).size() != 1) return spec;
  const auto inner = Member(*spec, "spec");
  if (!inner || !inner->is_object()) return spec;
  context.read.Warn(*inner, "it is a spec within the spec, and read as the spec itself",
                    "its fields in spec");
  return inner;
}

void WarnOfUnknownFields(JsonValue object, std::initializer_list<std::string_view> known,
                         const ReadContext& context) {
  if (!object.is_object()) return;
  for (const auto [name, value] : Fields(object)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    context.Warn(value, fmt::format("the key {} is unknown, and not honoured", Excerpt(name)),
                 fmt::format("{}", fmt::join(known, ", ")));
  }
}

std::string ReadWord(JsonValue parent, std::string_view name,
                     std::initializer_list<std::string_view> words, const ReadContext& context) {
  const auto value = Member(parent, name);
  if (!value) return "";
  bool flag = true;
  std::string_view text;
  if (value->get(flag) == simdjson::SUCCESS && !flag) text = "Off";
  if (text.empty()) std::ignore = value->get(text);
  for (const std::string_view word : words) {
    if (word == text) return std::string(word);
    if (LowerCase(word) != LowerCase(text)) continue;
    context.Warn(*value, "it is written otherwise", std::string(word));
    return std::string(word);
  }
  context.Error(*value, fmt::format("there is no such {}", name),
                fmt::format("{}", fmt::join(words, " or ")));
  return std::string(*words.begin());
}

}  // namespace espalier
