#include "host/readers/workload_webhook.hpp"

#include <fmt/format.h>

#include "host/model/go_texts.hpp"
#include "host/model/name_errors.hpp"

namespace espalier {
namespace {

void CheckLabels(JsonValue pod_template, const std::string& path, const ReadContext& context,
                 std::vector<std::string>& errors) {
  const auto metadata = ObjectMember(pod_template, "metadata", context);
  if (!metadata) return;
  const auto add = [&](std::string_view value, const std::string& error) {
    errors.push_back(
        fmt::format("{}.metadata.labels: Invalid value: {}: {}", path, Quoted(value), error));
  };
  for (const auto& [key, value] : TextMapMember(*metadata, "labels", context)) {
    for (const std::string& error : LabelKeyErrors(key)) add(key, error);
    for (const std::string& error : LabelValueErrors(value)) add(value, error);
  }
}

// A request as it is written; where the name stands twice, the last one counts.
std::string TextOfQuantity(JsonValue resources, std::string_view name) {
  std::string written;
  simdjson::dom::object requests;
  if (resources["requests"].get(requests) != simdjson::SUCCESS) return written;
  for (const auto& [key, value] : requests) {
    std::string_view text;
    if (key != name || value.is_null()) continue;
    written = value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
  }
  return written;
}

// Checks the requests of one container.
void CheckRequests(JsonValue container, const std::string& path, const ReadContext& context,
                   std::vector<std::string>& errors) {
  const auto resources = ObjectMember(container, "resources", context);
  if (!resources) return;
  for (const auto& [name, quantity] : QuantitiesMember(*resources, "requests", context)) {
    const std::string at = fmt::format("{}.resources.requests[{}]", path, name);
    if (name == kPodsResource) {
      errors.push_back(fmt::format(
          "{}: Invalid value: \"pods\": the key is reserved for internal kueue use", at));
    }
    if (quantity < Quantity()) {
      errors.push_back(fmt::format("{}: Invalid value: {}: must be greater than or equal to 0", at,
                                   Quoted(TextOfQuantity(*resources, name))));
    }
  }
}

}  // namespace

std::vector<std::string> TemplateErrors(const std::vector<std::optional<JsonValue>>& templates,
                                        bool with_labels, const ReadContext& context) {
  Diagnostics reported_elsewhere;
  const ReadContext quiet{reported_elsewhere, context.file, context.root};
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    if (!templates[i] || !templates[i]->is_object()) continue;
    const std::string path = fmt::format("spec.podSets[{}].template", i);
    if (with_labels) CheckLabels(*templates[i], path, quiet, errors);
    const auto spec = ObjectMember(*templates[i], "spec", quiet);
    if (!spec) continue;
    for (const char* list : {"initContainers", "containers"}) {
      std::size_t container = 0;
      ReadList(*spec, list, quiet, [&](JsonValue item) {
        CheckRequests(item, fmt::format("{}.spec.{}[{}]", path, list, container++), quiet, errors);
        return true;
      });
    }
  }
  return errors;
}

std::vector<std::string> SliceSizeErrors(const std::vector<PodSet>& pod_sets) {
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    if (!pod_sets[i].topology_request) continue;
    const TopologyRequest& request = *pod_sets[i].topology_request;
    const std::string path = fmt::format("spec.podSets[{}].topologyRequest", i);
    const auto too_small = [&](const std::string& field, std::int32_t size) {
      if (size > 0) return;
      errors.push_back(
          fmt::format("{}.{}: Invalid value: {}: must be greater than 0", path, field, size));
    };
    if (request.slice_size) too_small("podSetSliceSize", *request.slice_size);
    for (std::size_t j = 0; j < request.slice_constraints.size(); ++j) {
      too_small(fmt::format("podsetSliceRequiredTopologyConstraints[{}].size", j),
                request.slice_constraints[j].size);
    }
  }
  return errors;
}

}  // namespace espalier
