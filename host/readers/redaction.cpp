#include "host/readers/redaction.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "host/model/kueue_keys.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/json_text.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/name_pattern.hpp"
#include "host/readers/redaction_words.hpp"
#include "host/readers/scale_request.hpp"
#include "host/readers/sources/pod_search.hpp"
#include "host/readers/sources/source_reader.hpp"
#include "host/readers/sources/spark_pods.hpp"
#include "host/readers/syntax_error.hpp"
#include "host/readers/yaml_to_json.hpp"

namespace espalier {
namespace {

constexpr std::string_view kSliceReplaced = "kueue.x-k8s.io/workload-slice-replacement-for";

constexpr std::string_view kBlanks = " \t\r\n";

// Label whose values are words.
constexpr std::string_view kAncestorStep = "trainer.kubeflow.org/trainjob-ancestor-step";

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

  // Names the texts of a CEL expression but those that name attributes of devices, which are label
  // keys: in brackets behind a name, and in front of `in device`.
  std::string Expression(std::string_view text) {
    std::string named;
    for (std::size_t at = 0; (at = text.find_first_of("\"'")) != text.npos;) {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
      end = std::min(end, text.size());
      const std::string_view quoted = text.substr(at + 1, end - at - 1);
      named.append(text.substr(0, at + 1));
      const bool kept =
          IsIndexed(named) || IsLookedFor(text.substr(end)) || redaction_.levels_.contains(quoted);
      named.append(kept ? std::string(quoted) : Named(quoted));
      named.append(text.substr(end, 1));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return named.append(text);
  }

  // Returns whether a text that ends in a quote has the bracket of an index, and not of a list, in
  // front of that.
  static bool IsIndexed(std::string_view text) {
    constexpr std::string_view kOfNames =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    text = TrimmedEnd(text.substr(0, text.size() - 1));
    if (!text.ends_with('[')) return false;
    text = TrimmedEnd(text.substr(0, text.size() - 1));
    const std::string_view word = text.substr(text.find_last_not_of(kOfNames) + 1);
    return word.empty() ? text.ends_with(']') || text.ends_with(')') : word != "in";
  }

  // Returns whether a text that begins with a quote has `in device` behind that.
  static bool IsLookedFor(std::string_view text) {
    for (const std::string_view word : {std::string_view("\""), std::string_view("in ")}) {
      if (text.size() < word.size() || (word == "in " && !text.starts_with(word))) return false;
      text.remove_prefix(word.size());
      text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    }
    return text.starts_with("device");
  }

  static std::string_view TrimmedEnd(std::string_view text) {
    return text.substr(0, text.find_last_not_of(kBlanks) + 1);
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
        if (is_field && !mounts && IsLeftOut(key) && !HoldsPods(value)) continue;
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
