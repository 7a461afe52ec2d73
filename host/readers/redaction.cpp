#include "host/readers/redaction.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <simdjson.h>

#include "host/model/quantity.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/json_text.hpp"
#include "host/readers/syntax_error.hpp"

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
      "managedFields image imageID images command args env envFrom volumes volumeMounts "
      "volumeDevices volumesAttached volumesInUse message addresses nodeInfo daemonEndpoints "
      "containerStatuses initContainerStatuses livenessProbe readinessProbe startupProbe lifecycle "
      "securityContext imagePullSecrets ports hostIP hostIPs podIP podIPs podCIDR podCIDRs "
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
      "subGroupPolicyType mpiImplementation requiredTopologyLevel preferredTopologyLevel");
  return kWords.contains(field);
}

constexpr std::string_view kKueuePrefix = "kueue.x-k8s.io/";

// Annotations of Kueue whose texts are label keys or numbers.
bool IsKeptAnnotation(std::string_view key) {
  return key.ends_with("topology") || key.ends_with("constraints") || key.ends_with("size") ||
         key.ends_with("count") || key.ends_with("parallelism") || key.ends_with("offset") ||
         key.ends_with("label");
}

bool IsPlainWord(std::string_view text) {
  static const Words kPlain = WordsOf("main true false True False Unknown");
  return text.empty() || kPlain.contains(text) || ParseQuantity(text).has_value();
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
    } else if (value.is_array()) {
      const char* separator = "[";
      for (const JsonValue item : Items(value)) {
        json_ += separator;
        separator = ",";
        Visit(item, field, around);
      }
      json_ += *separator == '[' ? "[]" : "]";
    } else if (value.get(text) == simdjson::SUCCESS) {
      // The name of a quota is that of a resource.
      const bool kept = IsKeptField(field) || (field == "name" && around == "resources");
      AppendJsonString(json_, kept ? std::string(text) : Named(text));
    } else {
      json_ += simdjson::minify(value);
    }
  }

  std::string Take() { return std::move(json_); }

 private:
  std::string Named(std::string_view text) {
    return IsPlainWord(text) ? std::string(text) : name_(redaction_, text);
  }

  void VisitObject(JsonValue object, std::string_view field) {
    const char* separator = "{";
    const auto begin = [&](std::string_view key) {
      json_ += separator;
      separator = ",";
      AppendJsonString(json_, key);
      json_ += ':';
    };
    if (field == "individual" && Member(object, "roots")) {
      begin("roots");
      VisitRoots(object);
    } else {
      for (const auto [key, value] : Fields(object)) {
        std::string_view text;
        if (IsLeftOut(key)) continue;
        if (field == "annotations") {
          if (!key.starts_with(kKueuePrefix) || value.get(text) != simdjson::SUCCESS) continue;
          begin(key);
          AppendJsonString(json_, IsKeptAnnotation(key) ? std::string(text) : Named(text));
          continue;
        }
        begin(key);
        // Keys of labels are no fields.
        const bool labels = field == "labels" || field == "nodeLabels" || field == "nodeSelector" ||
                            field == "matchLabels";
        Visit(value, labels ? std::string_view() : key, field);
      }
    }
    json_ += *separator == '{' ? "{}" : "}";
  }

  // The values of a topology assignment, which are written in parts (R19.1).
  void VisitRoots(JsonValue individual) {
    const auto part = [&](std::string_view name) {
      std::string_view text;
      const auto value = Member(individual, name);
      return value && value->get(text) == simdjson::SUCCESS ? text : std::string_view();
    };
    const char* separator = "[";
    for (const JsonValue root : Items(*Member(individual, "roots"))) {
      std::string_view text;
      if (root.get(text) != simdjson::SUCCESS) continue;
      json_ += separator;
      separator = ",";
      AppendJsonString(json_, Named(fmt::format("{}{}{}", part("prefix"), text, part("suffix"))));
    }
    json_ += *separator == '[' ? "[]" : "]";
  }

  Redaction& redaction_;
  Name name_;
  std::string json_;
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
    if (!self.numbers_.contains(text)) self.numbers_.emplace(text, 0);
    return std::string();
  }).Visit(root, "", "");
  return {};
}

Result<std::string> Redaction::Write(std::string_view json) {
  std::size_t number = 0;
  if (!numbered_) {
    for (auto& [text, assigned] : numbers_) assigned = ++number;
  }
  numbered_ = true;
  simdjson::dom::parser parser;
  JsonValue root;
  if (auto parsed = Parse(parser, json, root); !parsed) return tl::unexpected(parsed.error());
  Walk walk(*this, [](Redaction& self, std::string_view text) {
    const auto it = self.numbers_.find(text);
    return it == self.numbers_.end() ? "n" : fmt::format("n{:08}", it->second);
  });
  walk.Visit(root, "", "");
  return walk.Take();
}

}  // namespace espalier
