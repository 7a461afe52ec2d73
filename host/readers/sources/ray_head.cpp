#include "host/readers/sources/ray_head.hpp"

#include <utility>

#include "host/model/quantity.hpp"

namespace espalier {
namespace {

constexpr std::string_view kAutoscalerResources =
    R"({"requests":{"cpu":"500m","memory":"512Mi"},"limits":{"cpu":"500m","memory":"512Mi"}})";

// Requests of KubeRay's Job that cleans up in Redis.
constexpr std::pair<std::string_view, std::string_view> kCleanup[] = {{"cpu", "200m"},
                                                                      {"memory", "256Mi"}};

// The requests of the Ray container, each at least that of the clean-up.
std::string RaisedRequests(std::optional<JsonValue> requests, const ReadContext& context) {
  ObjectText raised;
  if (requests) raised.AddFields(*requests, {kCleanup[0].first, kCleanup[1].first});
  Diagnostics reported_elsewhere;
  const ReadContext quiet{reported_elsewhere, context.file, context.root};
  for (const auto& [name, least] : kCleanup) {
    const auto value = requests ? QuantityMember(*requests, name, quiet) : std::nullopt;
    if (value && *value >= *ParseQuantity(least)) {
      raised.Add(name, *Member(*requests, name));
    } else {
      raised.AddText(name, least);
    }
  }
  return raised.Take();
}

std::string RaisedContainer(JsonValue container, const ReadContext& context) {
  const auto resources = Member(container, "resources");
  const bool has_resources = resources && resources->is_object();
  const auto requests = has_resources ? Member(*resources, "requests") : std::nullopt;
  if (requests && !requests->is_object()) return std::string(simdjson::minify(container));
  ObjectText raised_resources;
  if (has_resources) raised_resources.AddFields(*resources, {"requests"});
  raised_resources.Add("requests", RaisedRequests(requests, context));
  ObjectText raised;
  raised.AddFields(container, {"resources"});
  raised.Add("resources", raised_resources.Take());
  return raised.Take();
}

std::string AutoscalerContainer(JsonValue cluster) {
  const auto options = Member(cluster, "autoscalerOptions");
  const auto resources =
      options && options->is_object() ? Member(*options, "resources") : std::nullopt;
  ObjectText container;
  container.AddText("name", "autoscaler");
  if (resources && resources->is_object()) {
    container.Add("resources", *resources);
  } else {
    container.AddJson("resources", kAutoscalerResources);
  }
  return container.Take();
}

// Reports what is wrong with the resources of the autoscaler.
void CheckAutoscaler(JsonValue cluster, const ReadContext& context) {
  const auto options = ObjectMember(cluster, "autoscalerOptions", context);
  if (options) CompletedResources(*options, context, nullptr);
}

}  // namespace

bool RecoversFromRedis(JsonValue object, JsonValue cluster) {
  return LowerCase(AnnotationOf(object, "ray.io/ft-enabled")) == "true" ||
         Member(cluster, "gcsFaultToleranceOptions").has_value();
}

std::optional<JsonValue> MadeHead(JsonValue object, JsonValue cluster, JsonValue pods,
                                  bool with_submitter, const ReadContext& context,
                                  MadeObjects& made) {
  const bool recovers = RecoversFromRedis(object, cluster);
  const bool scales = BoolMember(cluster, "enableInTreeAutoscaling", context).value_or(false);
  if (scales) CheckAutoscaler(cluster, context);
  const auto spec = Member(pods, "spec");
  if ((!recovers && !scales && !with_submitter) || !spec || !spec->is_object()) return std::nullopt;
  std::vector<std::string> containers;
  if (const auto of_template = Member(*spec, "containers")) {
    for (const JsonValue container : Items(*of_template)) {
      const bool is_ray = containers.empty() && container.is_object();
      containers.push_back(is_ray && recovers ? RaisedContainer(container, context)
                                              : std::string(simdjson::minify(container)));
    }
  }
  if (scales) containers.push_back(AutoscalerContainer(cluster));
  if (with_submitter) containers.emplace_back(kRaySubmitter);
  ObjectText made_spec;
  made_spec.AddFields(*spec, {"containers"});
  made_spec.Add("containers", ListText(containers));
  ObjectText made_pods;
  made_pods.AddFields(pods, {"spec"});
  made_pods.Add("spec", made_spec.Take());
  return made.emplace_back(made_pods.Take()).value();
}

}  // namespace espalier
