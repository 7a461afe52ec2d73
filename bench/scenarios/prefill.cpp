#include "bench/scenarios/prefill.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "bench/scenarios/mixes.hpp"
#include "host/model/splitmix64.hpp"

namespace espalier {
namespace {

std::optional<std::int64_t> Percentage(std::string_view name, std::string_view prefix,
                                       std::int64_t most) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int64_t percent = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), percent);
  if (error != std::errc{} || end != name.data() + name.size() || percent < 0 || percent > most) {
    return std::nullopt;
  }
  return percent;
}

template <class Items>
void Shuffle(Items& items, SplitMix64& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1],
              items[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i)))]);
  }
}

// Runs of nodes that share all labels above the hostname; nodes that miss a label or are not
// available belong to none.
std::vector<std::vector<std::int32_t>> RacksOf(const BenchCluster& cluster) {
  std::vector<const LabelColumn*> labels;
  for (const std::string& key : cluster.levels) {
    if (key != kHostnameLabel) labels.push_back(cluster.nodes.FindLabel(key));
  }
  std::vector<std::vector<std::int32_t>> racks;
  std::vector<std::int32_t> path;
  std::vector<std::int32_t> last;
  for (std::size_t node = 0; node < cluster.nodes.size(); ++node) {
    path.clear();
    for (const LabelColumn* label : labels) path.push_back(label->value_of[node]);
    if (cluster.nodes.available[node] == 0 || std::ranges::find(path, -1) != path.end()) continue;
    if (racks.empty() || path != last) racks.emplace_back();
    racks.back().push_back(static_cast<std::int32_t>(node));
    last = path;
  }
  return racks;
}

class Filler {
 public:
  Filler(const BenchCluster& cluster, std::uint64_t seed)
      : cluster_(cluster), random_(seed), racks_(RacksOf(cluster)), free_(cluster.slots) {
    Shuffle(racks_, random_);
    for (const auto& rack : racks_) {
      order_.insert(order_.end(), rack.begin(), rack.end());
      if (order_.size() * 2 <= cluster.nodes.size()) open_ = order_.size();
    }
  }

  std::vector<RunningGang> Fill(std::int64_t percent) && {
    std::int64_t total = 0;
    for (const std::int32_t node : order_) total += Free(node);
    const std::int64_t wanted = total * percent / 100;
    FillWithJobs(wanted);
    ReleaseTenth();
    FillWithSingles(wanted);
    return std::move(gangs_);
  }

  // Gangs of different sizes, each beside the one before, until one does not fit any more; pods of
  // 1 to `most_slots` slots.
  std::vector<RunningGang> FillUp(std::int64_t most_slots) && {
    const auto most_pods = static_cast<std::int64_t>(std::sqrt(cluster_.nodes.size()));
    for (std::int64_t i = 1;; ++i) {
      if (!PlacePods(10 * i % most_pods + 1, i % most_slots + 1)) return std::move(gangs_);
    }
  }

  // One job of one slot for every slot, node by node.
  std::vector<RunningGang> FillWithOnes() && {
    FillInOrder(cluster_.total_slots());
    return std::move(gangs_);
  }

 private:
  Amount& Free(std::int32_t node) { return free_[static_cast<std::size_t>(node)]; }

  void FillWithJobs(std::int64_t wanted) {
    int failed = 0;  // in a row: what is left is too scattered for the jobs of the trace
    while (used_ < wanted && failed < 100) {
      const std::int64_t slots = std::min(DrawAcmeJob(random_), wanted - used_);
      failed = Place(slots) ? 0 : failed + 1;
    }
  }

  // From where the last job ended, around the cluster at most once.
  bool Place(std::int64_t slots) {
    const std::int64_t a_pod = std::min(slots, cluster_.node_slots);
    return PlacePods(slots / a_pod, a_pod);
  }

  bool PlacePods(std::int64_t pods, std::int64_t slots) {
    RunningGang gang;
    gang.slots = slots;
    const std::size_t start = cursor_;
    for (std::size_t step = 0; step < order_.size() && pods > 0; ++step) {
      const std::int32_t node = order_[cursor_];
      const std::int64_t here = std::min(pods, Free(node) / gang.slots);
      if (here > 0) {
        gang.pods.emplace_back(node, here);
        pods -= here;
      }
      if (pods > 0) cursor_ = (cursor_ + 1) % order_.size();
    }
    if (pods > 0) {
      cursor_ = start;
      return false;
    }
    Run(std::move(gang));
    return true;
  }

  void Run(RunningGang gang) {
    for (const auto& [node, pods] : gang.pods) {
      Free(node) -= pods * gang.slots;
      used_ += pods * gang.slots;
    }
    std::ranges::sort(gang.pods);
    gangs_.push_back(std::move(gang));
  }

  void ReleaseTenth() {
    std::erase_if(gangs_, [&](const RunningGang& gang) {
      if (random_.Below(10) != 0) return false;
      for (const auto& [node, pods] : gang.pods) {
        Free(node) += pods * gang.slots;
        used_ -= pods * gang.slots;
      }
      return true;
    });
  }

  // The fullest of a few random nodes with room, in the open half of the racks while there is room.
  void FillWithSingles(std::int64_t wanted) {
    constexpr int kTries = 8;
    std::size_t reach = open_;
    int missed = 0;
    while (used_ < wanted) {
      std::int32_t best = -1;
      for (int i = 0; i < kTries && reach > 0; ++i) {
        const std::int32_t node =
            order_[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(reach)))];
        if (Free(node) > 0 && (best < 0 || Free(node) < Free(best))) best = node;
      }
      if (best >= 0) {
        Run({1, {{best, 1}}});
        missed = 0;
      } else if (++missed > 100) {
        if (reach == order_.size()) return FillInOrder(wanted);
        reach = order_.size();
        missed = 0;
      }
    }
  }

  void FillInOrder(std::int64_t wanted) {
    for (const std::int32_t node : order_) {
      while (used_ < wanted && Free(node) > 0) Run({1, {{node, 1}}});
    }
  }

  const BenchCluster& cluster_;
  SplitMix64 random_;
  std::vector<std::vector<std::int32_t>> racks_;
  std::vector<std::int32_t> order_;  // nodes, rack by rack
  std::size_t open_ = 0;             // the nodes before it are in the open half
  std::vector<Amount> free_;         // [N] slots
  std::vector<RunningGang> gangs_;
  std::size_t cursor_ = 0;
  std::int64_t used_ = 0;
};

std::vector<RunningGang> FillSlots(const BenchCluster& cluster, std::int64_t percent,
                                   std::uint64_t seed) {
  std::vector<RunningGang> gangs;
  for (std::size_t node = 0; node < cluster.nodes.size(); ++node) {
    const std::uint64_t x = SplitMix64(seed + node).Next();
    if (static_cast<std::int64_t>(x % 100) >= percent || cluster.slots[node] == 0) continue;
    const auto slots =
        static_cast<std::int64_t>(1 + (x >> 8) % static_cast<std::uint64_t>(cluster.slots[node]));
    gangs.push_back({1, {{static_cast<std::int32_t>(node), slots}}});
  }
  return gangs;
}

// Two pods on every node, of at most 5 % of the smallest node that has 96 cpus.
std::vector<OtherPod> MakeOtherPods(const BenchCluster& cluster, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<OtherPod> pods;
  pods.reserve(2 * cluster.nodes.size());
  for (std::size_t node = 0; node < cluster.nodes.size(); ++node) {
    const auto id = static_cast<std::int32_t>(node);
    pods.push_back({id, 10 * random.Between(10, 30), random.Between(128, 512) * kMebibyte, true});
    pods.push_back({id, 50 * random.Between(1, 80), random.Between(64, 8192) * kMebibyte, false});
  }
  return pods;
}

}  // namespace

Result<Prefill> MakePrefill(const std::string& full_name, const BenchCluster& cluster,
                            std::uint64_t seed) {
  constexpr std::string_view kOtherPods = "+PODS";
  Prefill prefill;
  prefill.name = full_name;
  std::string_view name = full_name;
  if (name.ends_with(kOtherPods)) {
    name.remove_suffix(kOtherPods.size());
    prefill.other_pods = MakeOtherPods(cluster, seed);
  }
  if (const auto slots = Percentage(name, "SLOTS", 100)) {
    prefill.gangs = FillSlots(cluster, *slots, seed);
  } else if (const auto most_slots = Percentage(name, "PFULL", 100); most_slots.value_or(0) > 0) {
    prefill.gangs = Filler(cluster, seed).FillUp(*most_slots);
  } else if (name == "PONES") {
    prefill.gangs = Filler(cluster, seed).FillWithOnes();
  } else if (const auto percent = Percentage(name, "P", 100)) {
    if (*percent > 0) prefill.gangs = Filler(cluster, seed).Fill(*percent);
  } else {
    return BadInput(
        fmt::format("there is no prefill \"{}\"; there are P0 to P100, SLOTS0 to SLOTS100, PFULL1 "
                    "to PFULL100 and PONES, each also with +PODS behind it",
                    full_name));
  }
  return prefill;
}

std::vector<FlavorLeafUsage> UsageOf(const Prefill& prefill, const BenchCluster& cluster) {
  struct Used {
    std::int64_t slots = 0;
    std::int64_t pods = 0;
  };
  std::vector<Used> used(cluster.nodes.size());
  for (const RunningGang& gang : prefill.gangs) {
    for (const auto& [node, pods] : gang.pods) {
      used[static_cast<std::size_t>(node)].slots += gang.slots * pods;
      used[static_cast<std::size_t>(node)].pods += pods;
    }
  }
  std::vector<FlavorLeafUsage> usage;
  for (std::size_t node = 0; node < used.size(); ++node) {
    if (used[node].pods == 0) continue;
    Resources resources = SlotRequests(cluster, used[node].slots);
    resources.Set(kPodsResource, used[node].pods);
    usage.push_back({std::string(kBenchFlavor), cluster.nodes.names[node], std::move(resources)});
  }
  return usage;
}

Resources RequestsOf(const OtherPod& pod) { return {{"cpu", pod.cpu}, {"memory", pod.memory}}; }

std::vector<NodeUsage> OtherUsageOf(const Prefill& prefill, const BenchCluster& cluster) {
  std::vector<NodeUsage> usage;
  std::int32_t last = -1;
  for (const OtherPod& pod : prefill.other_pods) {
    if (pod.node != last) {
      usage.push_back({cluster.nodes.names[static_cast<std::size_t>(pod.node)], {}});
      last = pod.node;
    }
    Resources requests = RequestsOf(pod);
    requests.Set(kPodsResource, 1);
    AddTo(usage.back().usage, requests);
    if (pod.of_daemon_set) AddTo(usage.back().lasting, requests);
  }
  return usage;
}

}  // namespace espalier
