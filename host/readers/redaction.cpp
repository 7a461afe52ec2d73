#include "host/readers/redaction.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "host/model/kueue_keys.hpp"
#include "host/model/quantity.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/json_text.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/name_pattern.hpp"
#include "host/readers/scale_request.hpp"
#include "host/readers/sources/spark_pods.hpp"
#include "host/readers/syntax_error.hpp"
#include "host/readers/yaml_to_json.hpp"

namespace espalier {
namespace {

using Words = std::set<std::string_view>;

Words WordsOf(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.insert(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

// Long or telling, and nothing depends on them.
bool IsLeftOut(std::string_view field) {
  static const Words kWords = WordsOf(
      "managedFields imageID images command args env envFrom volumeMounts "
      "volumeDevices volumesAttached volumesInUse message addresses nodeInfo daemonEndpoints "
      "containerStatuses initContainerStatuses livenessProbe readinessProbe startupProbe lifecycle "
      "securityContext imagePullSecrets hostIP hostIPs podIP podIPs podCIDR podCIDRs "
      "providerID workingDir hostAliases dnsConfig description selfLink resourceVersion parameters "
      "runtimeHandlers config");
  return kWords.contains(field);
}

// Fields whose texts are words of Kubernetes or Kueue, label keys or resources.
bool IsKeptField(std::string_view field) {
  static const Words kWords = WordsOf(
      "apiVersion kind uid type status reason phase operator effect key state nodeLabel "
      "creationTimestamp deletionTimestamp lastTransitionTime lastHeartbeatTime lastProbeTime "
      "startTime completionTime timeAdded requeueAt required preferred podSetSliceRequiredTopology "
      "topology topologyKey podIndexLabel subGroupIndexLabel coveredResources levels "
      "queueingStrategy stopPolicy withinClusterQueue reclaimWithinCohort whenCanBorrow "
      "whenCanPreempt policy controllerName completionMode restartPolicy priorityClassSource "
      "preemptionPolicy group imagePullPolicy terminationMessagePolicy dnsPolicy admissionMode "
      "delayedTopologyRequest qosClass apiGroup level mode gangMode replicaMode replicationMode "
      "rankMode reschedulingPolicy fieldPath podManagementPolicy startupPolicyOrder "
      "subGroupPolicyType mpiImplementation requiredTopologyLevel preferredTopologyLevel "
      "submissionMode path preemptibility rankFrom matchAttribute distinctAttribute driver "
      "allocationMode input strategy multiplyBy excludeResourcePrefixes quotaCheckStrategy "
      "frameworks externalFrameworks labelKeysToCopy extendedResourceName whenUnsatisfiable "
      "matchLabelKeys mismatchLabelKeys protocol");
  return kWords.contains(field);
}

// Fields of Kueue's Configuration that are kept: those that say where pods go.
bool IsKeptOfConfiguration(std::string_view field) {
  static const Words kWords = WordsOf(
      "apiVersion kind namespace manageJobsWithoutQueueName managedJobsNamespaceSelector "
      "integrations resources featureGates waitForPodsReady fairSharing admissionFairSharing");
  return kWords.contains(field);
}

constexpr std::string_view kKaiPrefix = "kai.scheduler/";
constexpr std::string_view kKaiTopology = "kai.scheduler/topology";  // the name of one
constexpr std::string_view kAppWrapperPrefix = "workload.codeflare.dev.appwrapper/";
constexpr std::string_view kSliceReplaced = "kueue.x-k8s.io/workload-slice-replacement-for";

bool IsOfKueueOrKai(std::string_view key) {
  return key.starts_with(kKueuePrefix) || key.starts_with(kKaiPrefix);
}

// Annotations that are read.
bool IsReadAnnotation(std::string_view key) {
  static const Words kWords = WordsOf(
      "pod-group-name priorityClassName gpu-fraction gpu-memory gpu-fraction-num-devices "
      "volcano.sh/task-spec ray.io/ft-enabled scheduling.k8s.io/workload "
      "leaderworkerset.sigs.k8s.io/size");
  return IsOfKueueOrKai(key) || key.starts_with(kAppWrapperPrefix) || kWords.contains(key) ||
         key.ends_with("/group-name") || key.ends_with("/exclusive-topology") ||
         key.ends_with("/subgroup-exclusive-topology");
}

// Returns whether the texts of an annotation that is read are label keys, numbers or words.
bool IsKeptAnnotation(std::string_view key) {
  static const auto kEnds = {"topology",    "constraints", "size",       "count",
                             "offset",      "label",       "placement",  "preemptibility",
                             "parallelism", "min-member",  "num-devices"};
  return key != kKaiTopology &&
         std::ranges::any_of(kEnds, [&](std::string_view end) { return key.ends_with(end); });
}

// Fields that hold a map from label keys to values.
bool HoldsLabels(std::string_view field) {
  static const Words kWords = WordsOf("labels nodeLabels nodeSelector matchLabels");
  return kWords.contains(field);
}

// Fields that hold a map from resources to quantities.
bool HoldsQuantities(std::string_view field) {
  static const Words kWords = WordsOf(
      "requests limits allocatable capacity overhead podFixed min max default defaultRequest "
      "maxLimitRequestRatio resourceUsage outputs");
  return kWords.contains(field);
}

bool IsQuantityField(std::string_view field) {
  static const Words kWords = WordsOf("nominalQuota borrowingLimit lendingLimit weight total");
  return kWords.contains(field);
}

// Returns whether the text is a quantity; some are read though they end in a B.
bool IsQuantity(std::string_view text) {
  return ParseQuantity(text) ||
         (text.ends_with('B') && ParseQuantity(text.substr(0, text.size() - 1)));
}

// Returns whether the text is a quantity that Spark's pods ask for, in the field that says so.
bool IsSparkQuantity(std::string_view field, std::string_view text) {
  return std::ranges::any_of(kSparkQuantities, [&](const SparkQuantity& quantity) {
    return quantity.field == field && ParseQuantity(KubernetesText(quantity, text));
  });
}

// Labels with the index of a pod (R22.9) or of its replica, or a number of pods, besides those that
// a topology request or a Workload names.
bool IsCountLabel(std::string_view key) {
  static const Words kWords = WordsOf(
      "batch.kubernetes.io/job-completion-index apps.kubernetes.io/pod-index "
      "leaderworkerset.sigs.k8s.io/worker-index leaderworkerset.sigs.k8s.io/subgroup-index "
      "jobset.sigs.k8s.io/job-index training.kubeflow.org/replica-index "
      "kueue.x-k8s.io/pod-group-pod-index volcano.sh/task-index "
      "leaderworkerset.sigs.k8s.io/group-index pod-group.scheduling.sigs.k8s.io/min-available");
  return kWords.contains(key);
}

// Label whose values are words.
constexpr std::string_view kAncestorStep = "trainer.kubeflow.org/trainjob-ancestor-step";

// Names that mean something: those that Kueue, the operators and the canonical model give to parts
// of workloads and to containers, and queues, namespaces and a topology that readers know.
bool IsKnownName(std::string_view text) {
  static const Words kWords = WordsOf(
      "main head leader launcher master worker node gg rg template executor "
      "spark-kubernetes-driver spark-kubernetes-executor default default-queue root kube-system "
      "kueue-system hypernodes");
  static const auto kNumbered = {"gg-", "rg-", "template-"};
  const auto is_numbered = [&](std::string_view base) {
    return text.starts_with(base) && text.size() > base.size() &&
           text.find_first_not_of("0123456789", base.size()) == text.npos;
  };
  return kWords.contains(text) || std::ranges::any_of(kNumbered, is_numbered);
}

bool IsTrueOrFalse(std::string_view text) {
  const std::string lower = LowerCase(text);
  return lower == "true" || lower == "false";
}

bool IsInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

// Visits a document; calls `name` for every text that is a name and writes what it returns.
class Redaction::Walk {
 public:
  using Name = std::string (*)(Redaction&, std::string_view);
  Walk(Redaction& redaction, Name name) : redaction_(redaction), name_(name) {}

  // `field` is the key that leads to the value, `around` that of the object or list it is in.
  void Visit(JsonValue value, std::string_view field, std::string_view around) {
    std::string_view text;
    if (value.is_object()) {
      VisitObject(value, field);
    } else if (field.ends_with("IndexLabel") && value.get(text) == simdjson::SUCCESS) {
      redaction_.number_labels_.emplace(text);
      AppendJsonString(json_, text);
    } else if (value.is_array()) {
      VisitItems(value, [&](JsonValue item) { Visit(item, field, around); });
    } else if (value.get(text) == simdjson::SUCCESS) {
      AppendJsonString(json_, Text(text, field, around));
    } else {
      json_ += simdjson::minify(value);
    }
  }

  std::string Take() { return std::move(json_); }

 private:
  // Returns what stands for a name. Initializers of a TrainJob are known by the end of their names,
  // and volumes of Spark by their begin.
  std::string Named(std::string_view text) {
    constexpr std::string_view kInitializer = "initializer";
    if (text.empty()) return "";
    std::string name = name_(redaction_, text);
    if (text.starts_with(kSparkLocalDirectory)) return std::string(kSparkLocalDirectory) + name;
    return text.ends_with(kInitializer) ? fmt::format("{}-{}", name, kInitializer) : name;
  }

  // Returns what stands for the text of a field.
  std::string Text(std::string_view text, std::string_view field, std::string_view around) {
    if (field == "fieldPath") return FieldPath(text);
    if (field == "expression") return Expression(text);
    if (field == "groupName") return Named(LowerCase(text));  // as Ray's pod sets are named
    if (field == "replicaKey" && around == "spec") redaction_.number_labels_.emplace(text);
    // Such a pattern is none that is read, as what stands for it is none.
    if (field == "pattern" && around == "regexMatch") return text.empty() ? "" : "(";
    if (field == "uid") redaction_.uids_.emplace(text);
    if (field == "nodeLabel") NoteLevel(text);
    // The name of a quota is that of a resource, as is that of Spark's GPUs.
    const bool names_topology = field == "topology" && around == "topologyConstraint";
    const bool kept = (IsKeptField(field) && !names_topology) || IsSparkQuantity(field, text) ||
                      IsKeptReplicaKey(field, around, text) ||
                      (field == "resource" && around == "reservedFor") ||
                      (field == "name" && (around == "resources" || around == "schedulingGates" ||
                                           around == "gpu" || around == "deviceClassMappings")) ||
                      (NamesDeviceClass(field, around) && redaction_.levels_.contains(text)) ||
                      ((IsQuantityField(field) || HoldsQuantities(around)) && IsQuantity(text));
    return kept ? std::string(text) : Named(text);
  }

  // A Workload names the label whose values are keys of replicas, which come in the order of their
  // numbers where they are some.
  static bool IsKeptReplicaKey(std::string_view field, std::string_view around,
                               std::string_view text) {
    return (field == "replicaKey" && (around == "spec" || IsInteger(text))) ||
           (field == "podGroupReplicaKey" && IsInteger(text));
  }

  // A claim asks for a level of a Topology by a device class of its name.
  void NoteLevel(std::string_view level) {
    redaction_.levels_.emplace(level);
    redaction_.levels_.emplace(level.substr(level.find('/') + 1));
  }

  bool NamesDeviceClass(std::string_view field, std::string_view around) const {
    return field == "deviceClassName" || field == "deviceClassNames" ||
           (in_device_class_ && field == "name" && around == "metadata");
  }

  // Names the parts in "spec.gangGroup[name=a].rankedGroup[name=b]".
  std::string FieldPath(std::string_view path) {
    constexpr std::string_view kName = "[name=";
    std::string named;
    for (std::size_t at = 0; (at = path.find(kName)) != path.npos;) {
      at += kName.size();
      const std::size_t end = std::min(path.find(']', at), path.size());
      named.append(path.substr(0, at)).append(Named(path.substr(at, end - at)));
      path.remove_prefix(end);
    }
    return named.append(path);
  }

  // Names the texts that a CEL expression compares something with.
  std::string Expression(std::string_view text) {
    std::string named;
    for (std::size_t at = 0; (at = text.find("==")) != text.npos;) {
      const std::size_t open = text.find_first_not_of(' ', at + 2);
      const bool quoted = open != text.npos && (text[open] == '"' || text[open] == '\'');
      const std::size_t close = quoted ? text.find(text[open], open + 1) : text.npos;
      const std::size_t end = close == text.npos ? at + 2 : close;
      named.append(text.substr(0, close == text.npos ? end : open + 1));
      if (close != text.npos) named.append(Named(text.substr(open + 1, close - open - 1)));
      text.remove_prefix(end);
    }
    return named.append(text);
  }

  // Returns whether values of this label are compared as numbers.
  bool IsNumberLabel(std::string_view key) const {
    return IsCountLabel(key) || redaction_.number_labels_.contains(key);
  }

  std::string LabelValue(std::string_view key, std::string_view text) {
    const bool kept = key == kAncestorStep || (IsNumberLabel(key) && IsInteger(text)) ||
                      (IsOfKueueOrKai(key) && IsTrueOrFalse(text)) ||
                      (key.starts_with(kKaiPrefix) && IsKeptAnnotation(key));
    return kept ? std::string(text) : Named(text);
  }

  std::string AnnotationText(std::string_view key, std::string_view text) {
    if (key.ends_with("index-label")) redaction_.number_labels_.emplace(text);
    if (IsKeptAnnotation(key) || IsTrueOrFalse(text)) return std::string(text);
    if (key == kFoldedSlicesAnnotation) return FoldedSlices(text);
    if (key == kScaleRequestAnnotation) return ScaleRequest(text);
    const std::size_t slash = text.find('/');
    if (key != kSliceReplaced || slash == text.npos) return Named(text);
    return fmt::format("{}/{}", Named(text.substr(0, slash)), Named(text.substr(slash + 1)));
  }

  // Names the slices of a list with commas that go by their names; uids are kept.
  std::string FoldedSlices(std::string_view text) {
    std::string named;
    for (;;) {
      const std::string_view slice = text.substr(0, text.find(','));
      named += redaction_.uids_.contains(slice) ? std::string(slice) : Named(slice);
      if (slice.size() == text.size()) return named;
      named += ',';
      text.remove_prefix(slice.size() + 1);
    }
  }

  // Names the pod sets of a JSON object of counts.
  std::string ScaleRequest(std::string_view text) {
    const auto counts = ParseScaleRequest(text);
    if (!counts) return Named(text);
    std::string named;
    for (const auto& [pod_set, count] : *counts) {
      named += named.empty() ? "{" : ",";
      AppendJsonString(named, Named(pod_set));
      named += fmt::format(":{}", count);
    }
    return named.empty() ? "{}" : named + "}";
  }

  // Names what is in the text of Kueue's Configuration, which becomes JSON; "" where it is none.
  std::string Configuration(std::string_view text) {
    const auto documents = YamlToJson(text);
    if (!documents || documents->size() != 1) return "";
    simdjson::dom::parser parser;
    JsonValue root;
    if (parser.parse(documents->front()).get(root) != simdjson::SUCCESS || !root.is_object()) {
      return "";
    }
    Walk walk(redaction_, name_);
    walk.Visit(root, kConfigurationKey, "");
    return walk.Take();
  }

  // Writes a list. `write` writes its items, and calls what it is given before each of them.
  void WriteList(const auto& write) {
    const char* separator = "[";
    write([&] { json_ += std::exchange(separator, ","); });
    json_ += *separator == '[' ? "[]" : "]";
  }

  // Writes a list, with what `visit` writes of each item.
  void VisitItems(JsonValue list, const auto& visit) {
    WriteList([&](const auto& begin_item) {
      for (const JsonValue item : Items(list)) {
        begin_item();
        visit(item);
      }
    });
  }

  // Begins an object with what stands for the name.
  void WriteName(std::string_view name) {
    json_ += R"({"name":)";
    AppendJsonString(json_, Named(name));
  }

  // Writes of volumes those that are claims, which are counted.
  void VisitVolumes(JsonValue list) {
    WriteList([&](const auto& begin_item) {
      for (const JsonValue volume : Items(list)) {
        const bool is_claim = volume.is_object() && (Member(volume, "persistentVolumeClaim") ||
                                                     Member(volume, "ephemeral"));
        if (!is_claim) continue;
        begin_item();
        WriteName(TextOf(volume, "name"));
        json_ += R"(,"persistentVolumeClaim":{}})";
      }
    });
  }

  // Writes of the mounts of a role of Spark's the volumes.
  void VisitMounts(JsonValue list) {
    VisitItems(list, [&](JsonValue mount) {
      WriteName(mount.is_object() ? TextOf(mount, "name") : "");
      json_ += '}';
    });
  }

  // Notes the name of a Node or a HyperNode, which patterns may match.
  void NoteNode(JsonValue object, std::string_view kind) {
    const auto metadata = Member(object, "metadata");
    const std::string_view name =
        metadata && metadata->is_object() ? TextOf(*metadata, "name") : "";
    if (name.empty()) return;
    if (kind == "Node") redaction_.nodes_.emplace(name);
    if (kind != "HyperNode") return;
    redaction_.tiers_.emplace(name, TierIn(Member(object, "spec").value_or(object)));
  }

  // Writes the members of a HyperNode: in place of a pattern, which would not match what stands for
  // names, a member for each name that it matches. HyperNodes are members of higher tiers alone.
  // `field` is the key that leads to the spec.
  void VisitMembers(JsonValue spec, JsonValue members, std::string_view field) {
    WriteList([&](const auto& begin_item) {
      for (const JsonValue member : Items(members)) {
        const auto pattern = PatternOf(member);
        if (!pattern) {
          begin_item();
          Visit(member, "members", field);
          continue;
        }
        const auto add = [&](std::string_view type, std::string_view name) {
          if (!pattern->Matches(name)) return;
          begin_item();
          json_ += fmt::format(R"({{"type":"{}","selector":{{"exactMatch":)", type);
          WriteName(name);
          json_ += "}}}";
        };
        if (TextOf(member, "type") != "HyperNode") {
          for (const std::string& name : redaction_.nodes_) add("Node", name);
          continue;
        }
        for (const auto& [name, tier] : redaction_.tiers_) {
          if (tier < TierIn(spec)) add("HyperNode", name);
        }
      }
    });
  }

  static std::int64_t TierIn(JsonValue spec) {
    std::int64_t tier = 0;
    std::ignore = spec["tier"].get(tier);
    return tier;
  }

  // Returns the pattern by which a member is selected; nullopt where it is none that is read.
  static std::optional<NamePattern> PatternOf(JsonValue member) {
    JsonValue selector;
    std::string_view text;
    if (member.at_pointer("/selector").get(selector) != simdjson::SUCCESS ||
        selector.at_pointer("/regexMatch/pattern").get(text) != simdjson::SUCCESS || text.empty() ||
        Member(selector, "exactMatch") || Member(selector, "labelMatch")) {
      return std::nullopt;
    }
    return NamePattern::Parse(text);
  }

  // Writes the value of a field, or all in its list, as values of the label `key`.
  void VisitLabelValue(std::string_view key, JsonValue value) {
    std::string_view text;
    if (value.is_array()) {
      VisitItems(value, [&](JsonValue item) { VisitLabelValue(key, item); });
    } else if (value.get(text) == simdjson::SUCCESS) {
      AppendJsonString(json_, LabelValue(key, text));
    } else {
      json_ += simdjson::minify(value);
    }
  }

  void VisitObject(JsonValue object, std::string_view field) {
    const char* separator = "{";
    const bool within = in_device_class_;
    if (const std::string_view kind = TextOf(object, "kind"); !kind.empty()) {
      in_device_class_ = kind == "DeviceClass";
      NoteNode(object, kind);
    }
    const auto begin = [&](std::string_view key) {
      json_ += separator;
      separator = ",";
      AppendJsonString(json_, key);
      json_ += ':';
    };
    // A requirement, a taint or a toleration: its values are those of a label.
    const std::string_view label = TextOf(object, "key");
    const std::string_view compared = TextOf(object, "operator");
    if (!label.empty() && (compared == "Gt" || compared == "Lt")) {
      redaction_.number_labels_.emplace(label);
    }
    if (field == "individual" && Member(object, "roots")) {
      begin("roots");
      VisitRoots(object);
    } else {
      for (const auto [key, value] : Fields(object)) {
        std::string_view text;
        if (field == "annotations") {
          if (!IsReadAnnotation(key) || value.get(text) != simdjson::SUCCESS) continue;
          begin(key);
          AppendJsonString(json_, AnnotationText(key, text));
          continue;
        }
        // That text is the only one of ConfigMaps that is read.
        if (field == "data" || field == "binaryData") {
          if (key != kConfigurationKey || value.get(text) != simdjson::SUCCESS) continue;
          begin(key);
          AppendJsonString(json_, Configuration(text));
          continue;
        }
        if (field == kConfigurationKey && !IsKeptOfConfiguration(key)) continue;
        // A key of labels is no field. The nodeSelector of an allocated claim holds terms in their
        // place.
        const bool is_label = HoldsLabels(field) && !value.is_array() && !value.is_object();
        if (field == "minTaskMember") {  // from tasks to numbers
          begin(Named(key));
          json_ += simdjson::minify(value);
          continue;
        }
        const bool is_field = !is_label && !HoldsQuantities(field);
        const bool mounts = is_field && key == "volumeMounts" &&
                            (field == kSparkDriver.name || field == kSparkExecutor.name);
        if (is_field && !mounts && IsLeftOut(key)) continue;
        begin(key);
        if (mounts) {
          VisitMounts(value);
        } else if (is_field && key == "volumes") {
          VisitVolumes(value);
        } else if (is_field && key == "members" && value.is_array()) {
          VisitMembers(object, value, field);
        } else if (is_label || (!label.empty() && (key == "values" || key == "value"))) {
          VisitLabelValue(is_label ? key : label, value);
        } else {
          Visit(value, key, field);
        }
      }
    }
    json_ += *separator == '{' ? "{}" : "}";
    in_device_class_ = within;
  }

  // The values of a topology assignment, which are written in parts (R19.1).
  void VisitRoots(JsonValue individual) {
    const auto part = [&](std::string_view name) {
      std::string_view text;
      const auto value = Member(individual, name);
      return value && value->get(text) == simdjson::SUCCESS ? text : std::string_view();
    };
    WriteList([&](const auto& begin_item) {
      for (const JsonValue root : Items(*Member(individual, "roots"))) {
        std::string_view text;
        if (root.get(text) != simdjson::SUCCESS) continue;
        begin_item();
        AppendJsonString(json_, Named(fmt::format("{}{}{}", part("prefix"), text, part("suffix"))));
      }
    });
  }

  Redaction& redaction_;
  Name name_;
  std::string json_;
  bool in_device_class_ = false;
};

Redaction::Redaction() = default;
Redaction::~Redaction() = default;

namespace {

Result<void> Parse(simdjson::dom::parser& parser, std::string_view json, JsonValue& root) {
  const simdjson::error_code error = parser.parse(json.data(), json.size()).get(root);
  if (error == simdjson::SUCCESS) return {};
  const JsonFault fault =
      FindJsonFault(json).value_or(JsonFault{0, simdjson::error_message(error)});
  return BadInput("it is not valid JSON: " + SyntaxError(json, fault.offset, fault.problem));
}

}  // namespace

Result<void> Redaction::Add(std::string_view json) {
  simdjson::dom::parser parser;
  JsonValue root;
  if (auto parsed = Parse(parser, json, root); !parsed) return parsed;
  Walk(*this, [](Redaction& self, std::string_view text) {
    self.stand_ins_.try_emplace(std::string(text));
    return std::string();
  }).Visit(root, "", "");
  return {};
}

// A name that is kept has its place in the order, so that numbers after it begin with it.
void Redaction::NumberNames() {
  numbered_ = true;
  std::string begin = "a";
  std::size_t number = 0;
  for (auto& [text, stand_in] : stand_ins_) {
    if (IsKnownName(text)) {
      stand_in = text;
      begin = text + "-";
    } else {
      stand_in = fmt::format("{}{:08}", begin, ++number);
    }
  }
}

Result<std::string> Redaction::Write(std::string_view json) {
  if (!numbered_) NumberNames();
  simdjson::dom::parser parser;
  JsonValue root;
  if (auto parsed = Parse(parser, json, root); !parsed) return tl::unexpected(parsed.error());
  Walk walk(*this, [](Redaction& self, std::string_view text) {
    const auto it = self.stand_ins_.find(text);
    return it == self.stand_ins_.end() ? "a" : it->second;
  });
  walk.Visit(root, "", "");
  return walk.Take();
}

}  // namespace espalier
