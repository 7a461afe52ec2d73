#include "host/live/state_checksum.hpp"

#include <cstring>
#include <string_view>
#include <vector>

namespace espalier {
namespace {

// The kinds of what has a checksum. The kind is mixed in first, so that objects of two kinds never
// mix in the same words.
enum class Kind : std::uint64_t {
  kNode = 1,
  kNodeUsage,
  kLeafUsage,
  kTopology,
  kFlavor,
  kSharing,
  kWorkload,
  kConfiguration,
  kHold
};

// Mixes words one after the other: the two halves of a product, folded.
class Mixer {
 public:
  explicit Mixer(Kind kind) { Add(static_cast<std::uint64_t>(kind)); }

  void Add(std::uint64_t word) {
    const auto product = static_cast<unsigned __int128>(bits_ ^ word) * kMultiplier;
    bits_ = (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)) +
            kIncrement;
  }
  void Add(Amount amount) { Add(static_cast<std::uint64_t>(amount)); }
  // Its length comes first, so that what follows cannot be taken for a part of it.
  void Add(std::string_view text) {
    Add(static_cast<std::uint64_t>(text.size()));
    for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
      Add(WordOf(text.substr(0, sizeof(std::uint64_t))));
    }
    if (!text.empty()) Add(WordOf(text));
  }
  void Add(const std::string& text) { Add(std::string_view(text)); }
  template <class Value>
  void Add(const FlatMap<Value>& map) {
    Add(static_cast<std::uint64_t>(map.size()));
    for (const auto& [key, value] : map) {
      Add(key);
      Add(value);
    }
  }
  void Add(const Taint& taint) {
    Add(taint.key);
    Add(taint.value);
    Add(taint.effect);
  }
  void Add(const Toleration& toleration) {
    Add(toleration.key);
    Add(toleration.operation);
    Add(toleration.value);
    Add(toleration.effect);
  }
  template <class Value>
  void Add(const std::vector<Value>& values) {
    Add(static_cast<std::uint64_t>(values.size()));
    for (const Value& value : values) Add(value);
  }

  std::uint64_t Take() {
    Add(kIncrement);
    Add(kMultiplier);
    return bits_;
  }

 private:
  // Odd, with about half of the bits set.
  static constexpr std::uint64_t kMultiplier = 0xd6e8feb86659fd93;
  static constexpr std::uint64_t kIncrement = 0xa0761d6478bd642f;

  static std::uint64_t WordOf(std::string_view bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    return word;
  }

  std::uint64_t bits_ = kIncrement;
};

// Adds the amounts that are not 0. Returns whether there are any.
bool AddUsage(const Resources& usage, Mixer& mixer) {
  bool any = false;
  for (const auto& [name, amount] : usage) {
    if (amount == 0) continue;
    mixer.Add(name);
    mixer.Add(amount);
    any = true;
  }
  return any;
}

void AddLeaves(const std::vector<FlavorLeafUsage>& usage, Mixer& mixer) {
  for (const FlavorLeafUsage& entry : usage) {
    mixer.Add(entry.flavor);
    mixer.Add(entry.leaf);
    AddUsage(entry.usage, mixer);
  }
}

template <class Value>
std::uint64_t SumOf(const std::vector<Value>& values) {
  std::uint64_t sum = 0;
  for (const Value& value : values) sum += ChecksumOf(value);
  return sum;
}

}  // namespace

std::uint64_t ChecksumOf(const Node& node) {
  Mixer mixer(Kind::kNode);
  mixer.Add(node.name);
  mixer.Add(node.labels);
  mixer.Add(node.taints);
  mixer.Add(std::uint64_t{node.unschedulable} << 1 | std::uint64_t{node.ready});
  mixer.Add(node.allocatable);
  return mixer.Take();
}

std::uint64_t ChecksumOf(const NodeUsage& usage) {
  Mixer mixer(Kind::kNodeUsage);
  mixer.Add(usage.node);
  const bool used = AddUsage(usage.usage, mixer);
  if (!usage.lasting.empty()) {  // a state without any has the checksum that it always had
    mixer.Add(std::uint64_t{1});
    AddUsage(usage.lasting, mixer);
  }
  return used ? mixer.Take() : 0;
}

std::uint64_t ChecksumOf(const FlavorLeafUsage& usage) {
  Mixer mixer(Kind::kLeafUsage);
  mixer.Add(usage.flavor);
  mixer.Add(usage.leaf);
  return AddUsage(usage.usage, mixer) ? mixer.Take() : 0;
}

std::uint64_t ChecksumOf(const Topology& topology) {
  Mixer mixer(Kind::kTopology);
  mixer.Add(topology.name);
  mixer.Add(topology.levels);
  return mixer.Take();
}

std::uint64_t ChecksumOf(const ResourceFlavor& flavor) {
  Mixer mixer(Kind::kFlavor);
  mixer.Add(flavor.name);
  mixer.Add(flavor.node_labels);
  mixer.Add(flavor.node_taints);
  mixer.Add(flavor.tolerations);
  mixer.Add(std::uint64_t{flavor.topology_name.has_value()});
  mixer.Add(flavor.topology_name.value_or(""));
  return mixer.Take();
}

std::uint64_t ChecksumOf(const AdmittedUsage& workload) {
  Mixer mixer(Kind::kWorkload);
  mixer.Add(workload.key.namespace_);
  mixer.Add(workload.key.name);
  mixer.Add(Amount{workload.priority});
  mixer.Add(workload.quota_reserved_seconds);
  mixer.Add(workload.job);
  AddLeaves(workload.usage, mixer);
  return mixer.Take();
}

std::uint64_t ChecksumOf(const Hold& hold) {
  Mixer mixer(Kind::kHold);
  mixer.Add(hold.id);
  mixer.Add(hold.workload.namespace_);
  mixer.Add(hold.workload.name);
  AddLeaves(hold.usage, mixer);
  return mixer.Take();
}

std::uint64_t ChecksumOfSharing(bool share_usage_between_flavors) {
  Mixer mixer(Kind::kSharing);
  mixer.Add(std::uint64_t{share_usage_between_flavors});
  return mixer.Take();
}

std::uint64_t ChecksumOf(const KueueConfiguration& configuration) {
  Mixer mixer(Kind::kConfiguration);
  mixer.Add(configuration.json);
  return mixer.Take();
}

std::uint64_t ChecksumOf(const ClusterStateInput& input) {
  return SumOf(input.nodes) + SumOf(input.non_tas_usage) + SumOf(input.tas_usage) +
         SumOf(input.topologies) + SumOf(input.flavors) +
         ChecksumOfSharing(input.share_usage_between_flavors);
}

}  // namespace espalier
