#include "tests/spec/example_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "host/model/parse_integer.hpp"

namespace espalier {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kOpening = "```example ";
constexpr std::string_view kAnswers = " -> ";
constexpr std::string_view kNoDomains = "no domains";
constexpr std::string_view kFlavor = "tas";

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words = Split(line, ' ');
  std::erase(words, "");
  return words;
}

// Cuts "KEY<separator>VALUE" at the first separator; the value is empty where there is none.
std::pair<std::string, std::string> Cut(std::string_view word, char separator) {
  const std::size_t at = std::min(word.find(separator), word.size());
  return {std::string(word.substr(0, at)), std::string(word.substr(std::min(at + 1, word.size())))};
}

std::string LevelKey(const std::string& name) {
  return name == "host" ? std::string(kHostnameLabel) : name;
}

bool IsResource(std::string_view name) {
  constexpr std::array<std::string_view, 4> kResources = {"cpu", "gpu", "memory", "pods"};
  return std::ranges::find(kResources, name) != kResources.end();
}

// Reads one block. Each function returns false where its line is not understood.
class BlockReader {
 public:
  Result<void> Read(std::string_view text, std::size_t number) {
    number_ = number;
    if (const std::size_t arrow = text.find(kAnswers); arrow != std::string_view::npos) {
      return Said(ReadAnswer(text), text);
    }
    const std::vector<std::string> words = Words(text);
    if (words.empty()) return {};
    if (!question_.answers.empty()) Finish();
    return Said(ReadStatement(words), text);
  }

  Result<std::vector<ExampleQuestion>> Take() {
    if (question_.answers.empty() || question_.request.pod_sets.empty()) {
      return BadInput(fmt::format("line {}: the block ends without an answer", number_));
    }
    Finish();
    return std::move(questions_);
  }

 private:
  Result<void> Said(bool understood, std::string_view text) const {
    if (understood) return {};
    return BadInput(fmt::format("line {}: \"{}\" is not understood", number_, text));
  }

  // Begins the next question to the same cluster.
  void Finish() {
    questions_.push_back(question_);
    question_.answers.clear();
    question_.request = {};
  }

  bool ReadAnswer(std::string_view text) {
    if (question_.request.pod_sets.empty()) return false;
    if (question_.answers.empty()) question_.line = number_;
    if (text.ends_with(kNoDomains)) text.remove_suffix(kNoDomains.size());
    question_.answers.emplace_back(text);
    return true;
  }

  bool ReadStatement(const std::vector<std::string>& words) {
    const std::string& verb = words.front();
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (verb == "again" || verb == "simulate-empty") {
      WorkloadRequest& request = question_.request;
      (verb == "again" ? request.affinity_scores_consumed : request.simulate_empty) = true;
      return rest.empty();
    }
    if (rest.empty()) return false;
    if (verb == "levels") return ReadLevels(rest);
    if (verb == "gates") return ReadGates(rest);
    if (verb == "in") return ReadHosts(rest);
    if (verb == "node") return ReadNode(rest);
    if (verb == "others") return ReadOthers(rest);
    if (verb == "used") return ReadUsed(rest);
    if (verb == "flavor") return ReadFlavor(rest);
    if (verb == "pods") return ReadPods(rest);
    if (verb == "lost") return ReadLost(rest);
    if (verb == "placed") return ReadPlaced(rest);
    return false;
  }

  bool ReadLevels(const std::vector<std::string>& words) {
    if (!question_.cluster.topologies.empty()) return false;
    Topology topology{"default", {}};
    for (const std::string& word : words) topology.levels.push_back(LevelKey(word));
    question_.cluster.topologies = {std::move(topology)};
    ResourceFlavor flavor;
    flavor.name = kFlavor;
    flavor.topology_name = "default";
    question_.cluster.flavors = {std::move(flavor)};
    return true;
  }

  bool ReadGates(const std::vector<std::string>& words) {
    if (words.size() != 1) return false;
    const auto gates = ParseFeatureGates(words.front());
    if (!gates) return false;
    question_.gates = *gates;
    question_.cluster.share_usage_between_flavors = gates->handle_overlapping_flavors;
    return true;
  }

  // "b1/r1: x3:3 x5:3", or ": h1:3" where there is one level.
  bool ReadHosts(const std::vector<std::string>& words) {
    std::string above = words.front();
    if (!above.ends_with(':')) return false;
    above.back() = '/';
    if (above == "/") above.clear();
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [name, room] = Cut(words[i], ':');
      const auto gpus = ParseInteger<Amount>(room);
      if (!gpus || !AddNode(above + name, {{"gpu", *gpus}, {"pods", 110}})) return false;
    }
    return words.size() > 1;
  }

  bool ReadNode(const std::vector<std::string>& words) {
    if (!AddNode(words.front(), {})) return false;
    Node& node = question_.cluster.nodes.back();
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [key, value] = Cut(words[i], '=');
      if (key == "unschedulable") {
        node.unschedulable = true;
      } else if (key == "taint") {
        const auto [what, effect] = Cut(value, ':');
        const auto [taint, taint_value] = Cut(what, '=');
        node.taints.push_back({taint, taint_value, effect});
      } else if (!IsResource(key)) {
        node.labels.Set(key, value);
      } else if (!ReadAmount(key, value, node.allocatable)) {
        return false;
      }
    }
    return true;
  }

  bool AddNode(const std::string& path, Resources allocatable) {
    if (question_.cluster.topologies.empty()) return false;
    const std::vector<std::string>& levels = question_.cluster.topologies.front().levels;
    const std::vector<std::string> values = Split(path, '/');
    if (values.size() != levels.size()) return false;
    Node node;
    node.name = levels.back() == kHostnameLabel ? values.back() : path;
    for (std::size_t i = 0; i < levels.size(); ++i) node.labels.Set(levels[i], values[i]);
    node.ready = true;
    node.allocatable = std::move(allocatable);
    question_.cluster.nodes.push_back(std::move(node));
    return true;
  }

  static bool ReadAmount(const std::string& resource, const std::string& text, Resources& amounts) {
    const auto amount = ParseInteger<Amount>(text);
    if (!IsResource(resource) || !amount) return false;
    amounts.Set(resource, *amount);
    return true;
  }

  // Amounts from the second word on.
  static std::optional<Resources> ReadAmounts(const std::vector<std::string>& words) {
    Resources amounts;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [resource, amount] = Cut(words[i], '=');
      if (!ReadAmount(resource, amount, amounts)) return std::nullopt;
    }
    return amounts;
  }

  bool ReadOthers(const std::vector<std::string>& words) {
    auto usage = ReadAmounts(words);
    if (usage) question_.cluster.non_tas_usage.push_back({words.front(), *std::move(usage)});
    return usage.has_value();
  }

  bool ReadUsed(const std::vector<std::string>& words) {
    auto usage = ReadAmounts(words);
    if (!usage || question_.cluster.flavors.empty()) return false;
    question_.cluster.tas_usage.push_back(
        {question_.cluster.flavors.front().name, words.front(), *std::move(usage)});
    return true;
  }

  // The first replaces the flavor of all nodes.
  bool ReadFlavor(const std::vector<std::string>& words) {
    std::vector<ResourceFlavor>& flavors = question_.cluster.flavors;
    if (flavors.empty()) return false;
    if (flavors.front().name == kFlavor) flavors.clear();
    ResourceFlavor& flavor = flavors.emplace_back();
    flavor.name = words.front();
    flavor.topology_name = "default";
    flavor.node_labels.Set(flavor.name, "yes");
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto node = std::ranges::find(question_.cluster.nodes, words[i], &Node::name);
      if (node == question_.cluster.nodes.end()) return false;
      node->labels.Set(flavor.name, "yes");
    }
    return true;
  }

  bool ReadPods(const std::vector<std::string>& words) {
    if (words.size() < 2 || question_.cluster.flavors.empty()) return false;
    PodSetRequest pod_set;
    pod_set.name = words[0];
    const auto count = ParseInteger<std::int32_t>(words[1]);
    if (!count) return false;
    pod_set.count = *count;
    pod_set.flavor = question_.cluster.flavors.front().name;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto [key, value] = Cut(words[i], '=');
      if (!ReadPodWord(key, value, pod_set)) return false;
    }
    if (pod_set.requests.empty()) pod_set.requests.Set("gpu", 1);
    question_.request.key = {"team", "job"};
    question_.request.pod_sets.push_back(std::move(pod_set));
    return true;
  }

  static bool ReadPodWord(const std::string& key, const std::string& value,
                          PodSetRequest& pod_set) {
    if (IsResource(key)) return ReadAmount(key, value, pod_set.requests);
    if (key == "implied") return pod_set.implied = true;
    if (key == "group") return (pod_set.group = value).has_value();
    if (key == "flavor") return !(pod_set.flavor = value).empty();
    if (key == "select") {
      const auto [label, wanted] = Cut(value, ':');
      pod_set.pod_template.node_selector.Set(label, wanted);
      return true;
    }
    if (key == "affinity") {
      const auto [label, wanted] = Cut(value, ':');
      pod_set.pod_template.affinity.required = {{{{label, "In", {wanted}}}, {}}};
      return true;
    }
    if (key == "prefer") return ReadPreference(value, pod_set);
    if (key == "previous") {
      auto previous = ReadAssignment(Split(value, ','), 0);
      if (previous) pod_set.previous_assignment = *std::move(previous);
      return previous.has_value();
    }
    if (!pod_set.topology_request) pod_set.topology_request.emplace();
    TopologyRequest& request = *pod_set.topology_request;
    if (key == "required") return (request.required = LevelKey(value)).has_value();
    if (key == "preferred") return (request.preferred = LevelKey(value)).has_value();
    if (key == "unconstrained") return (request.unconstrained = true).has_value();
    if (key != "slices") return false;
    for (const std::string& layer : Split(value, ',')) {
      const auto [level, text] = Cut(layer, ':');
      const auto size = ParseInteger<std::int32_t>(text);
      if (!size) return false;
      request.slice_constraints.push_back({LevelKey(level), *size});
    }
    return true;
  }

  // "10:LABEL"
  static bool ReadPreference(const std::string& text, PodSetRequest& pod_set) {
    const auto [number, label] = Cut(text, ':');
    const auto weight = ParseInteger<std::int32_t>(number);
    if (!weight || label.empty()) return false;
    pod_set.pod_template.affinity.preferred.push_back({*weight, {{{label, "Exists", {}}}, {}}});
    return true;
  }

  // "x1:2" in each word from `first` on.
  static std::optional<TopologyAssignment> ReadAssignment(const std::vector<std::string>& words,
                                                          std::size_t first) {
    TopologyAssignment assignment{{std::string(kHostnameLabel)}, {}};
    for (std::size_t i = first; i < words.size(); ++i) {
      const auto [host, text] = Cut(words[i], ':');
      const auto pods = ParseInteger<std::int32_t>(text);
      if (!pods) return std::nullopt;
      assignment.domains.push_back({{host}, *pods});
    }
    return assignment;
  }

  bool ReadLost(const std::vector<std::string>& words) {
    Replacement().unhealthy_nodes = words;
    return true;
  }

  bool ReadPlaced(const std::vector<std::string>& words) {
    auto assignment = ReadAssignment(words, 1);
    if (!assignment) return false;
    PodSetAssignment& placed = Replacement().admitted.emplace_back();
    placed.name = words.front();
    placed.topology_assignment = *std::move(assignment);
    return true;
  }

  ReplacementContext& Replacement() {
    std::optional<ReplacementContext>& replacement = question_.request.replacement;
    if (!replacement) replacement.emplace();
    return *replacement;
  }

  std::size_t number_ = 0;
  ExampleQuestion question_;
  std::vector<ExampleQuestion> questions_;
};

}  // namespace

Result<std::vector<WorkedExample>> ReadExamples(std::string_view document) {
  std::vector<WorkedExample> examples;
  std::optional<BlockReader> block;
  std::string name;
  std::size_t number = 0;
  for (const std::string& line : Split(document, '\n')) {
    ++number;
    if (!block) {
      if (!line.starts_with(kOpening)) continue;
      name = line.substr(kOpening.size());
      block.emplace();
    } else if (line == kFence) {
      auto questions = block->Take();
      if (!questions) return tl::unexpected(questions.error());
      auto example = std::ranges::find(examples, name, &WorkedExample::name);
      if (example == examples.end()) example = examples.insert(example, WorkedExample{name, {}});
      std::ranges::move(*questions, std::back_inserter(example->questions));
      block.reset();
    } else if (auto read = block->Read(line, number); !read) {
      return tl::unexpected(read.error());
    }
  }
  if (block) return BadInput(fmt::format("line {}: example {} has no end", number, name));
  return examples;
}

}  // namespace espalier
