#include "host/readers/kueue_configuration.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include "host/model/excerpt.hpp"
#include "host/model/nearest_name.hpp"
#include "host/model/work_budget.hpp"
#include "host/readers/json_numbers.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/twins.hpp"
#include "host/readers/yaml_to_json.hpp"

namespace espalier {
namespace {

constexpr std::string_view kConfigurationGroup = "config.kueue.x-k8s.io/";
constexpr std::string_view kJobs = "batch/job";  // the only framework where none is named
constexpr std::string_view kPods = "pod";

// The frameworks that a Configuration can name, ordered by name.
constexpr auto kFrameworks = std::to_array<Framework>({
    {kJobs, "batch", "Job"},
    {"deployment", "apps", "Deployment"},
    {"jobset.x-k8s.io/jobset", "jobset.x-k8s.io", "JobSet"},
    {"kubeflow.org/jaxjob", "kubeflow.org", "JAXJob"},
    {"kubeflow.org/mpijob", "kubeflow.org", "MPIJob"},
    {"kubeflow.org/paddlejob", "kubeflow.org", "PaddleJob"},
    {"kubeflow.org/pytorchjob", "kubeflow.org", "PyTorchJob"},
    {"kubeflow.org/tfjob", "kubeflow.org", "TFJob"},
    {"kubeflow.org/xgboostjob", "kubeflow.org", "XGBoostJob"},
    {"leaderworkerset.x-k8s.io/leaderworkerset", "leaderworkerset.x-k8s.io", "LeaderWorkerSet"},
    {kPods, "", "Pod"},
    {"ray.io/raycluster", "ray.io", "RayCluster"},
    {"ray.io/rayjob", "ray.io", "RayJob"},
    {"ray.io/rayservice", "ray.io", "RayService"},
    {"sparkoperator.k8s.io/sparkapplication", "sparkoperator.k8s.io", "SparkApplication"},
    {"statefulset", "apps", "StatefulSet"},
    {"trainer.kubeflow.org/trainjob", "trainer.kubeflow.org", "TrainJob"},
    {"workload.codeflare.dev/appwrapper", "workload.codeflare.dev", "AppWrapper"},
});

constexpr KnownFields::Field kNamespaceSelectorFields[] = {{"matchLabels"}, {"matchExpressions"}};
constexpr KnownFields kNamespaceSelector(kNamespaceSelectorFields, KnownFields::Others::kMatter);
constexpr KnownFields::Field kTransformationFields[] = {
    {"input"}, {"strategy"}, {"multiplyBy"}, {"outputs"}};
constexpr KnownFields kTransformation(kTransformationFields, KnownFields::Others::kMatter);
constexpr KnownFields::Field kMappingFields[] = {{"name"}, {"deviceClassNames"}, {"sources"}};
constexpr KnownFields kMapping(kMappingFields, KnownFields::Others::kMatter);
constexpr KnownFields::Field kResourcesOptionsFields[] = {{"excludeResourcePrefixes"},
                                                          {"transformations", &kTransformation},
                                                          {"quotaCheckStrategy"},
                                                          {"deviceClassMappings", &kMapping}};
constexpr KnownFields kResourcesOptions(kResourcesOptionsFields, KnownFields::Others::kMatter);
constexpr KnownFields::Field kIntegrationsFields[] = {
    {"frameworks"}, {"externalFrameworks"}, {"podOptions"}, {"labelKeysToCopy"}};
constexpr KnownFields kIntegrations(kIntegrationsFields, KnownFields::Others::kMatter);
constexpr KnownFields::Field kConfigurationFields[] = {
    {"apiVersion"},
    {"kind"},
    {"metadata"},
    {"namespace"},
    {"manageJobsWithoutQueueName"},
    {"managedJobsNamespaceSelector", &kNamespaceSelector},
    {"integrations", &kIntegrations},
    {"resources", &kResourcesOptions},
    {"featureGates"},
    {"waitForPodsReady"},
    {"fairSharing"},
    {"admissionFairSharing"},
    // The fields below have no say in where pods go.
    {"webhook"},
    {"leaderElection"},
    {"metrics"},
    {"health"},
    {"pprofBindAddress"},
    {"controller"},
    {"tls"},
    {"internalCertManagement"},
    {"clientConnection"},
    {"multiKueue"},
    {"objectRetentionPolicies"},
    {"queueVisibility"},
    {"visibilityServer"},
};
constexpr KnownFields kConfiguration(kConfigurationFields, KnownFields::Others::kMatter);

// Reports what is set and not honoured.
void WarnOfUnhonoured(JsonValue object, std::string_view name, std::string problem,
                      const ReadContext& context) {
  const auto value = Member(object, name);
  if (!value) return;
  const bool is_empty = (value->is_array() && Items(*value).size() == 0) ||
                        (value->is_object() && Fields(*value).size() == 0);
  if (!is_empty) context.Warn(*value, std::move(problem), "");
}

ResourceTransformation ReadTransformation(JsonValue object, const ReadContext& context) {
  ResourceTransformation transformation;
  transformation.input = RequiredText(object, "input", context);
  const std::string strategy = TextMember(object, "strategy", context);
  if (!strategy.empty() && strategy != "Retain" && strategy != "Replace") {
    context.Error(*Member(object, "strategy"), "there is no such strategy", "Retain or Replace");
  }
  transformation.retain = strategy != "Replace";
  transformation.multiply_by = TextMember(object, "multiplyBy", context);
  transformation.outputs = QuantitiesMember(object, "outputs", context);
  if (transformation.outputs.Contains(kPodsResource)) {
    context.Warn(Member(*Member(object, "outputs"), kPodsResource).value_or(object),
                 "quota counts pods by their number, whatever this says", "another resource");
  }
  return transformation;
}

// Kueue does not start with mappings that it does not allow.
DeviceClassMapping ReadMapping(JsonValue object, const ReadContext& context,
                               std::map<std::string, std::string>& resource_of_class) {
  constexpr std::size_t kMostClasses = 8;
  DeviceClassMapping mapping;
  mapping.resource = RequiredText(object, "name", context);
  if (mapping.resource == kPodsResource) {
    context.Warn(*Member(object, "name"), "quota counts pods by their number, whatever this says",
                 "another resource");
  }
  mapping.device_classes = TextListMember(object, "deviceClassNames", context);
  const JsonValue at = Member(object, "deviceClassNames").value_or(object);
  if (mapping.device_classes.empty() || mapping.device_classes.size() > kMostClasses) {
    context.Error(at, fmt::format("it names {} DeviceClasses", mapping.device_classes.size()),
                  fmt::format("1 to {}", kMostClasses));
  }
  const auto sources = ArrayMember(object, "sources", context);
  mapping.has_sources = sources && sources->size() > 0;
  if (mapping.has_sources) {
    context.Warn(*Member(object, "sources"),
                 "what devices have of counters and capacities is not read, so that workloads that "
                 "claim devices of these classes are not decided",
                 "");
  }
  for (const std::string& name : mapping.device_classes) {
    const auto [known, is_new] = resource_of_class.emplace(name, mapping.resource);
    // With counters a device can count as several resources.
    if (is_new || (mapping.has_sources && known->second != mapping.resource)) continue;
    context.Error(at,
                  fmt::format("DeviceClass {} is mapped to {} already", Excerpt(name),
                              Excerpt(known->second)),
                  "each DeviceClass once");
  }
  return mapping;
}

std::vector<DeviceClassMapping> ReadMappings(JsonValue resources, const ReadContext& context) {
  constexpr std::size_t kMostMappings = 16;
  std::map<std::string, std::string> resource_of_class;
  std::set<std::string> names;
  auto mappings = ReadList(resources, "deviceClassMappings", context, [&](JsonValue object) {
    DeviceClassMapping mapping = ReadMapping(object, context, resource_of_class);
    if (!mapping.resource.empty() && !names.insert(mapping.resource).second) {
      context.Error(*Member(object, "name"), "another mapping has this name",
                    "one mapping for each resource");
    }
    return mapping;
  });
  if (mappings.size() > kMostMappings) {
    context.Error(*Member(resources, "deviceClassMappings"),
                  fmt::format("it has {} mappings", mappings.size()),
                  fmt::format("at most {}", kMostMappings));
  }
  return mappings;
}

void ReadResources(JsonValue resources, const ReadContext& context,
                   KueueConfiguration& configuration) {
  configuration.excluded_prefixes = TextListMember(resources, "excludeResourcePrefixes", context);
  std::set<std::string> inputs;
  configuration.transformations =
      ReadList(resources, "transformations", context, [&](JsonValue object) {
        ResourceTransformation transformation = ReadTransformation(object, context);
        if (!transformation.input.empty() && !inputs.insert(transformation.input).second) {
          context.Error(*Member(object, "input"), "another transformation has this input",
                        "one transformation for each input");
        }
        return transformation;
      });
  const std::string strategy = TextMember(resources, "quotaCheckStrategy", context);
  configuration.ignore_undeclared = strategy == "IgnoreUndeclared";
  if (!strategy.empty() && strategy != "BlockUndeclared" && !configuration.ignore_undeclared) {
    context.Error(*Member(resources, "quotaCheckStrategy"), "there is no such strategy",
                  "BlockUndeclared or IgnoreUndeclared");
  }
  const auto gate = configuration.feature_gates.find("QuotaCheckStrategy");
  if (configuration.ignore_undeclared && gate != configuration.feature_gates.end() &&
      !gate->second) {
    configuration.ignore_undeclared = false;
    context.Warn(*Member(resources, "quotaCheckStrategy"),
                 "it has no effect, as the feature gate QuotaCheckStrategy is off",
                 "the gate on, or no such field");
  }
  if (configuration.ignore_undeclared && !configuration.excluded_prefixes.empty()) {
    context.Error(*Member(resources, "quotaCheckStrategy"),
                  "excludeResourcePrefixes is not allowed when quotaCheckStrategy is "
                  "IgnoreUndeclared",
                  "one of the two");
  }
  configuration.device_classes = ReadMappings(resources, context);
}

void ReadFeatureGates(JsonValue object, const ReadContext& context,
                      KueueConfiguration& configuration) {
  const auto gates = ObjectMember(object, "featureGates", context);
  if (!gates) return;
  for (const auto [name, value] : Fields(*gates)) {
    bool on = false;
    if (value.get(on) == simdjson::SUCCESS) {
      configuration.feature_gates.emplace(name, on);
    } else {
      context.Error(value, "it is not true or false", "true or false");
    }
  }
}

// Kueue does not start with one that it does not have.
void CheckFrameworks(JsonValue list, const ReadContext& context) {
  std::vector<std::string_view> names;
  for (const Framework& framework : kFrameworks) names.push_back(framework.name);
  for (const JsonValue item : Items(list)) {
    std::string_view name;
    if (item.get(name) != simdjson::SUCCESS) continue;  // reported as it is read
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string_view nearest = NearestName(name, names);
    context.Error(
        item, "Kueue has no such integration",
        nearest.empty() ? fmt::format("{}", fmt::join(names, ", ")) : std::string(nearest));
  }
}

void ReadIntegrations(JsonValue integrations, const ReadContext& context,
                      KueueConfiguration& configuration) {
  configuration.frameworks = TextListMember(integrations, "frameworks", context);
  if (const auto list = Member(integrations, "frameworks")) CheckFrameworks(*list, context);
  configuration.external_frameworks = TextListMember(integrations, "externalFrameworks", context);
  WarnOfUnhonoured(integrations, "podOptions",
                   "it is not honoured: pods are taken as managed whatever it selects", context);
}

// Waiting for pods that are ready holds back what comes later; v1beta1 has to turn it on.
void WarnOfWaiting(JsonValue object, const ReadContext& context) {
  const auto waiting = ObjectMember(object, "waitForPodsReady", context);
  if (!waiting) return;
  const std::optional<bool> on = BoolMember(*waiting, "enable", context);
  const bool is_beta1 = TextOf(object, "apiVersion").ends_with("/v1beta1");
  if (!on.value_or(!is_beta1)) return;
  context.Warn(*waiting, "it is not simulated: nothing waits for pods that are not ready", "");
}

void WarnOfFairSharing(JsonValue object, std::string_view name, const ReadContext& context) {
  const auto sharing = ObjectMember(object, name, context);
  if (!sharing || !BoolMember(*sharing, "enable", context).value_or(true)) return;
  WarnOfUnhonoured(object, name, "it is not simulated", context);
}

KueueConfiguration Read(JsonValue object, const ReadContext& context) {
  KueueConfiguration configuration;
  configuration.json = simdjson::minify(object);
  ReadFeatureGates(object, context, configuration);
  if (const auto resources = ObjectMember(object, "resources", context)) {
    ReadResources(*resources, context, configuration);
  }
  if (const auto integrations = ObjectMember(object, "integrations", context)) {
    ReadIntegrations(*integrations, context, configuration);
  }
  if (configuration.frameworks.empty()) configuration.frameworks.emplace_back(kJobs);
  configuration.manage_jobs_without_queue_name =
      BoolMember(object, "manageJobsWithoutQueueName", context).value_or(false);
  if (const auto selector = ObjectMember(object, "managedJobsNamespaceSelector", context)) {
    configuration.managed_namespaces = ReadLabelSelector(*selector, context);
  } else {
    std::string own = TextMember(object, "namespace", context);
    if (own.empty()) own = "kueue-system";
    configuration.managed_namespaces.match_expressions.push_back(
        {"kubernetes.io/metadata.name", "NotIn", {"kube-system", std::move(own)}});
  }
  WarnOfWaiting(object, context);
  WarnOfFairSharing(object, "fairSharing", context);
  WarnOfFairSharing(object, "admissionFairSharing", context);
  return configuration;
}

// The Configurations of the input, and the documents of those that are texts in ConfigMaps.
class Finder {
 public:
  Finder(const ObjectIndex& index, Diagnostics& diagnostics)
      : index_(index), diagnostics_(diagnostics) {}

  std::optional<KueueConfiguration> Run() {
    for (const IndexedObject& object : index_.Of(ObjectKind::kKueueConfiguration)) {
      ReadContext context = index_.ContextOf(ObjectKind::kKueueConfiguration, object, diagnostics_);
      context.object = "Configuration";  // it has no name
      if (index_.HasUnreadableNumber(object, context)) continue;
      Take(object.value, index_.PlaceOf(object), context);
    }
    for (const IndexedObject& object : index_.Of(ObjectKind::kConfigMap)) TakeText(object);
    return std::move(found_);
  }

 private:
  void Take(JsonValue object, const std::string& place, const ReadContext& context) {
    if (!first_) {
      first_ = object;
      CheckKeys(ObjectKind::kKueueConfiguration, object, context);
      found_ = Read(object, context);
      found_->place = place;
    } else if (SaySame(*first_, object)) {
      context.Warn(object,
                   fmt::format("the input has two Configurations of Kueue that say the same, {} "
                               "and {}, which count once",
                               found_->place, place),
                   "one Configuration");
    } else {
      context.Error(
          object,
          fmt::format("the input has two Configurations of Kueue: {} and {}", found_->place, place),
          "one Configuration, or --kueue-config with the one that counts");
    }
  }

  void TakeText(const IndexedObject& object) {
    const ReadContext of_map = index_.ContextOf(ObjectKind::kConfigMap, object, diagnostics_);
    const JsonValue at = *Member(*Member(object.value, "data"), kConfigurationKey);
    const std::string_view text = *ConfigurationText(object.value);
    WorkBudget& budget = of_map.budget == nullptr ? WorkBudget::Unlimited() : *of_map.budget;
    Result<std::vector<std::string>> documents =
        YamlToJson(text, std::numeric_limits<std::size_t>::max(), kLongScalar, budget);
    if (!documents || documents->size() != 1) {
      const std::string why = documents
                                  ? fmt::format("it holds {} YAML documents", documents->size())
                                  : "it is not valid YAML: " + documents.error().message;
      return of_map.Error(at, why, "one Configuration of config.kueue.x-k8s.io");
    }
    const std::optional<JsonValue> root = Parse(documents->front(), budget);
    if (!root) return of_map.Error(at, "it cannot be read", "a Configuration of Kueue");
    if (!root->is_object() || !TextOf(*root, "apiVersion").starts_with(kConfigurationGroup)) {
      if (Member(object.value, "metadata") &&
          TextOf(*Member(object.value, "metadata"), "name") == kConfigurationName) {
        of_map.Error(at, "it is not Kueue's Configuration",
                     "apiVersion: config.kueue.x-k8s.io/v1beta2 and kind: Configuration");
      }
      return;  // of another manager
    }
    const std::string title =
        fmt::format("{}, {}", ObjectTitle(object.value, "ConfigMap"), kConfigurationKey);
    ReadContext context = of_map;
    context.root = *root;
    context.kind = "Configuration";
    context.object = title;
    if (context.HasUnreadableNumber()) return;
    Take(*root, fmt::format("{}: {}", index_.PlaceOf(object), title), context);
  }

  std::optional<JsonValue> Parse(const std::string& text, WorkBudget& budget) {
    constexpr std::int64_t kBytesOfAParsedByte = 15;
    if (!budget.Charge(kBytesOfAParsedByte * std::ssize(text))) return std::nullopt;
    const std::string marked = MarkUnreadableNumbers(text);
    JsonValue root;
    simdjson::dom::document& document = documents_.emplace_back();
    simdjson::dom::parser parser;
    const auto error = parser.parse_into_document(document, marked).get(root);
    return error == simdjson::SUCCESS ? std::optional(root) : std::nullopt;
  }

  const ObjectIndex& index_;
  Diagnostics& diagnostics_;
  std::deque<simdjson::dom::document> documents_;
  std::optional<JsonValue> first_;
  std::optional<KueueConfiguration> found_;
};

}  // namespace

std::optional<std::string_view> ConfigurationText(JsonValue config_map) {
  std::string_view text;
  if (config_map["data"][kConfigurationKey].get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

std::span<const Framework> Frameworks() { return kFrameworks; }

KnownFields KnownConfigurationFields() { return kConfiguration; }

std::optional<KueueConfiguration> FindKueueConfiguration(const ObjectIndex& index,
                                                         Diagnostics& diagnostics) {
  return Finder(index, diagnostics).Run();
}

}  // namespace espalier
