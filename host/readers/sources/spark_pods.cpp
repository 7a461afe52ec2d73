#include "host/readers/sources/spark_pods.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace espalier {
namespace {

// The longest first.
constexpr std::pair<std::string_view, std::string_view> kJavaUnits[] = {
    {"kb", "Ki"}, {"mb", "Mi"}, {"gb", "Gi"}, {"tb", "Ti"}, {"pb", "Pi"},
    {"k", "Ki"},  {"m", "Mi"},  {"g", "Gi"},  {"t", "Ti"},  {"p", "Pi"}};

bool IsObject(const std::optional<JsonValue>& value) { return value && value->is_object(); }

// The fields of two objects, of which either may be missing; those of the second come first.
std::string Overlaid(const std::optional<JsonValue>& below, const std::optional<JsonValue>& above) {
  if (!IsObject(above)) return IsObject(below) ? std::string(simdjson::minify(*below)) : "{}";
  return IsObject(below) ? MergedJson(*below, *above) : std::string(simdjson::minify(*above));
}

std::string Metadata(std::string_view name_space, JsonValue role_spec) {
  const auto pod_template = Member(role_spec, "template");
  const auto metadata =
      pod_template && pod_template->is_object() ? Member(*pod_template, "metadata") : std::nullopt;
  ObjectText made;
  made.AddText("namespace", name_space);
  for (const std::string_view map : {"labels", "annotations"}) {
    const auto below = metadata && metadata->is_object() ? Member(*metadata, map) : std::nullopt;
    made.Add(map, Overlaid(below, Member(role_spec, map)));
  }
  return made.Take();
}

// The items of a list of the role; of those with the same name and image the first.
std::vector<JsonValue> Distinct(JsonValue role_spec, std::string_view list,
                                std::string_view first_name = {}) {
  std::vector<JsonValue> items;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  if (!first_name.empty()) seen.emplace(first_name, "");
  const auto value = Member(role_spec, list);
  if (!value || !value->is_array()) return items;
  for (const JsonValue item : Items(*value)) {
    if (!item.is_object()) continue;
    if (seen.emplace(TextOf(item, "name"), TextOf(item, "image")).second) items.push_back(item);
  }
  return items;
}

// The requests or the limits of a container, with what the role asks for in place of its own.
std::string Amounts(std::optional<JsonValue> own, JsonValue role_spec, bool limits) {
  ObjectText of_role;
  for (const SparkQuantity& quantity : kSparkQuantities) {
    std::string_view text;
    const auto value = Member(role_spec, quantity.field);
    if (quantity.is_limit != limits || !value || value->get(text) != simdjson::SUCCESS) continue;
    of_role.AddText(quantity.resource, KubernetesText(quantity, text));
  }
  const auto gpu = limits ? Member(role_spec, "gpu") : std::nullopt;
  if (gpu && gpu->is_object()) {
    std::int64_t count = 0;
    const std::string_view name = TextOf(*gpu, "name");
    const auto quantity = Member(*gpu, "quantity");
    if (!name.empty() && quantity && quantity->get(count) == simdjson::SUCCESS && count > 0) {
      of_role.Add(name, *quantity);
    }
  }
  return Overlaid(own, MadeJson(of_role.Take()).value());
}

// The container with the resources that the role asks for.
std::string WithResources(JsonValue container, JsonValue role_spec) {
  auto own = Member(container, "resources");
  if (own && !own->is_object()) own.reset();
  ObjectText resources;
  for (const std::string_view kind : {"requests", "limits"}) {
    resources.Add(kind,
                  Amounts(own ? Member(*own, kind) : std::nullopt, role_spec, kind == "limits"));
  }
  ObjectText with;
  with.AddFields(container, {"resources"});
  with.Add("resources", resources.Take());
  return with.Take();
}

std::vector<std::string> Containers(JsonValue role_spec, const SparkRole& role, MadeObjects& made) {
  ObjectText spark;
  spark.AddText("name", role.container);
  std::vector<JsonValue> containers = Distinct(role_spec, "sidecars", role.container);
  containers.insert(containers.begin(), made.emplace_back(spark.Take()).value());
  const auto named = std::ranges::find_if(containers, [&](JsonValue container) {
    return TextOf(container, "name") == role.with_resources;
  });
  const auto at = named == containers.end() ? containers.begin() : named;
  std::vector<std::string> texts;
  for (auto it = containers.begin(); it != containers.end(); ++it) {
    texts.push_back(it == at ? WithResources(*it, role_spec) : std::string(simdjson::minify(*it)));
  }
  return texts;
}

// The volumes of the application that the role mounts.
std::vector<std::string> Volumes(JsonValue spec, JsonValue role_spec) {
  std::vector<std::string> texts;
  std::set<std::string_view> mounted;
  const auto mounts = Member(role_spec, "volumeMounts");
  const auto volumes = Member(spec, "volumes");
  if (!mounts || !volumes) return texts;
  for (const JsonValue mount : Items(*mounts)) {
    const std::string_view name = mount.is_object() ? TextOf(mount, "name") : "";
    if (!name.starts_with(kSparkLocalDirectory)) mounted.insert(name);
  }
  for (const JsonValue volume : Items(*volumes)) {
    if (volume.is_object() && mounted.contains(TextOf(volume, "name"))) {
      texts.emplace_back(simdjson::minify(volume));
    }
  }
  return texts;
}

}  // namespace

std::string KubernetesText(const SparkQuantity& quantity, std::string_view text) {
  if (!quantity.is_memory) return std::string(text);
  const std::string lower = LowerCase(text);
  for (const auto& [java, kubernetes] : kJavaUnits) {
    if (!lower.ends_with(java)) continue;
    // Only a unit in lower case is taken off: 2G becomes 2GGi, which is refused.
    if (text.ends_with(java)) text.remove_suffix(java.size());
    return std::string(text).append(kubernetes);
  }
  return std::string(text);
}

JsonValue MadeSparkPods(std::string_view name_space, JsonValue spec, JsonValue role_spec,
                        const SparkRole& role, MadeObjects& made) {
  ObjectText pod_spec;
  std::vector<std::string> init_containers;
  for (const JsonValue container : Distinct(role_spec, "initContainers")) {
    init_containers.emplace_back(simdjson::minify(container));
  }
  pod_spec.Add("initContainers", ListText(init_containers));
  pod_spec.Add("containers", ListText(Containers(role_spec, role, made)));
  pod_spec.Add("volumes", ListText(Volumes(spec, role_spec)));
  for (const std::string_view name :
       {"priorityClassName", "nodeSelector", "affinity", "tolerations"}) {
    if (const auto value = Member(role_spec, name)) pod_spec.Add(name, *value);
  }
  ObjectText pods;
  pods.Add("metadata", Metadata(name_space, role_spec));
  pods.Add("spec", pod_spec.Take());
  return made.emplace_back(pods.Take()).value();
}

}  // namespace espalier
