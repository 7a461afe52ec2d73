#include "tests/chaos/world.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "tests/server/small_cluster.hpp"

namespace espalier::chaos {
namespace {

constexpr int kRacks = 10;  // of four hosts
constexpr std::size_t kFewestNodes = 30;
constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();
constexpr const char* kFlavor = "main";

Resources CapacityOfHost() { return {{"cpu", 8000}, {"pods", 110}}; }

template <class Map>
auto AnyOf(Map& map, Random& random) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(random.Below(map.size())));
}

}  // namespace

World::World() : fixed_(SmallCluster(kRacks)) {
  for (Node& node : fixed_.nodes) nodes_.emplace(node.name, std::move(node));
  fixed_.nodes.clear();
}

World::Contents World::Read() const {
  const std::lock_guard lock(mutex_);
  Contents contents{fixed_, {}};
  for (const auto& [name, node] : nodes_) contents.input.nodes.push_back(node);
  for (const auto& [name, usage] : other_pods_)
    contents.input.non_tas_usage.push_back({name, usage});
  for (const auto& [token, usage] : committed_) {
    contents.input.tas_usage.insert(contents.input.tas_usage.end(), usage.begin(), usage.end());
  }
  for (const auto& [key, workload] : admitted_) contents.workloads.push_back(workload);
  return contents;
}

std::optional<AdmittedUsage> World::AnyWorkload(const std::string& namespace_,
                                                Random& random) const {
  const std::lock_guard lock(mutex_);
  const auto first = admitted_.lower_bound({namespace_, ""});
  auto last = first;
  while (last != admitted_.end() && last->first.namespace_ == namespace_) ++last;
  const auto count = static_cast<std::uint64_t>(std::distance(first, last));
  if (count == 0) return std::nullopt;
  return std::next(first, static_cast<std::ptrdiff_t>(random.Below(count)))->second;
}

void World::NoteLoad(const StatePosition& position) {
  const std::lock_guard lock(mutex_);
  loaded_.insert(position.epoch);
  Bookings& bookings = bookings_[position.epoch];
  const auto begin = [&](const std::string& name, const std::vector<FlavorLeafUsage>& usage) {
    bookings.try_emplace(name, Booking{usage, position.generation, kOpen});
  };
  for (const auto& [key, workload] : admitted_) begin(key.ToString(), workload.usage);
  for (const auto& [token, usage] : committed_) begin(token, usage);
}

bool World::IsLoaded(std::uint64_t epoch) const {
  const std::lock_guard lock(mutex_);
  return loaded_.contains(epoch);
}

void World::Admit(const AdmittedUsage& workload) {
  const std::lock_guard lock(mutex_);
  admitted_[workload.key] = workload;
}

void World::Forget(const ObjectKey& workload) {
  const std::lock_guard lock(mutex_);
  admitted_.erase(workload);
}

void World::Commit(const std::string& token, const StatePosition& position,
                   const std::vector<FlavorLeafUsage>& usage) {
  Begin(token, position, usage);
  const std::lock_guard lock(mutex_);
  committed_[token] = usage;
}

StateDelta World::Change(Random& random, std::vector<std::string>& ended) {
  const std::lock_guard lock(mutex_);
  StateDelta delta;
  switch (random.Below(8)) {
    case 0:
      if (nodes_.size() > kFewestNodes) {
        const auto node = AnyOf(nodes_, random);
        delta.remove_nodes.push_back(node->first);
        going_.insert(node->first);
        removed_.insert(nodes_.extract(node));
      }
      break;
    case 1:
    case 2:
      if (!removed_.empty()) {
        const auto node = AnyOf(removed_, random);
        delta.upsert_nodes.push_back(node->second);
        nodes_.insert(removed_.extract(node));
      }
      break;
    case 3:
    case 4: {
      Node& node = AnyOf(nodes_, random)->second;
      bool& flag = random.Below(2) == 0 ? node.ready : node.unschedulable;
      flag = !flag;
      delta.upsert_nodes.push_back(node);
      break;
    }
    case 5: {
      const std::string& name = AnyOf(nodes_, random)->first;
      Resources usage;  // small: no pods of the controllers have to go for it
      if (random.Below(3) != 0) usage.Set("cpu", static_cast<Amount>(random.Below(4)));
      delta.set_non_tas_usage.push_back({name, usage});
      other_pods_[name] = usage;
      break;
    }
    default: {
      // Ends half of what was committed.
      std::set<std::pair<std::string, std::string>> leaves;
      std::erase_if(committed_, [&](const auto& entry) {
        if (random.Below(2) == 0) return false;
        for (const FlavorLeafUsage& usage : entry.second) leaves.emplace(usage.flavor, usage.leaf);
        ended.push_back(entry.first);
        return true;
      });
      for (const auto& [flavor, leaf] : leaves) {
        FlavorLeafUsage left{flavor, leaf, {}};
        for (const auto& [token, usages] : committed_) {
          for (const FlavorLeafUsage& usage : usages) {
            if (usage.leaf == leaf) AddTo(left.usage, usage.usage);
          }
        }
        delta.set_tas_usage.push_back(left);
      }
    }
  }
  return delta;
}

std::int64_t World::Now() {
  const std::lock_guard lock(mutex_);
  return ++now_;
}

void World::NoteChanged() {
  const std::lock_guard lock(mutex_);
  ++now_;
  for (const std::string& leaf : going_) gone_at_[leaf] = now_;
  going_.clear();
}

bool World::MayBeBroken(const std::vector<FlavorLeafUsage>& usage, std::int64_t since) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(usage, [&](const FlavorLeafUsage& entry) {
    const auto gone = gone_at_.find(entry.leaf);
    return going_.contains(entry.leaf) || (gone != gone_at_.end() && gone->second > since);
  });
}

void World::Begin(const std::string& name, const StatePosition& position,
                  const std::vector<FlavorLeafUsage>& usage) {
  const std::lock_guard lock(mutex_);
  bookings_[position.epoch].try_emplace(name, Booking{usage, position.generation, kOpen});
}

void World::End(const std::string& name, const StatePosition& position) {
  const std::lock_guard lock(mutex_);
  Bookings& bookings = bookings_[position.epoch];
  const auto booking = bookings.find(name);
  if (booking != bookings.end()) booking->second.until = position.generation;
}

void World::EndSometime(const std::string& name, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  Bookings& bookings = bookings_[epoch];
  const auto booking = bookings.find(name);
  if (booking != bookings.end()) booking->second.until = booking->second.from + 1;
}

std::string World::WhoHas(const Bookings& bookings, const std::string& leaf,
                          std::uint64_t generation) {
  std::string text;
  for (const auto& [name, booking] : bookings) {
    if (booking.from > generation || booking.until <= generation) continue;
    if (std::ranges::find(booking.usage, leaf, &FlavorLeafUsage::leaf) == booking.usage.end()) {
      continue;
    }
    text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", name, booking.from);
    if (booking.until != kOpen) text += fmt::format(" until {}", booking.until);
  }
  return text;
}

void World::CheckBookings(std::uint64_t current, Tally& tally) {
  const std::lock_guard lock(mutex_);
  const Resources capacity = CapacityOfHost();
  for (auto& [epoch, bookings] : bookings_) {
    // Bookings that begin or end with each generation; an end makes room for what begins.
    std::map<std::uint64_t, std::vector<std::pair<int, const Booking*>>> changes;
    for (const auto& [name, booking] : bookings) {
      if (booking.until <= booking.from) continue;
      changes[booking.from].emplace_back(1, &booking);
      if (booking.until != kOpen) changes[booking.until].emplace_back(-1, &booking);
    }
    std::map<std::string, std::map<std::string, Amount>> used;  // by leaf
    std::set<std::string> reported;
    for (const auto& [generation, bookings_of_generation] : changes) {
      for (const auto& [sign, booking] : bookings_of_generation) {
        for (const FlavorLeafUsage& entry : booking->usage) {
          for (const auto& [resource, amount] : entry.usage) {
            used[entry.leaf][std::string(resource)] += sign * amount;
          }
        }
      }
      for (const auto& [sign, booking] : bookings_of_generation) {
        if (sign < 0) continue;
        for (const FlavorLeafUsage& entry : booking->usage) {
          for (const auto& [resource, amount] : used[entry.leaf]) {
            const Amount* most = capacity.Find(resource);
            if (most == nullptr || amount <= *most || !reported.insert(entry.leaf).second) continue;
            tally.Problem(&Counts::double_booked,
                          fmt::format("leaf {} of {} had {} of {} {} in use at generation {}: {}",
                                      entry.leaf, kFlavor, amount, *most, resource, generation,
                                      WhoHas(bookings, entry.leaf, generation)));
          }
        }
      }
    }
  }
  std::erase_if(bookings_, [&](const auto& entry) { return entry.first != current; });
  std::erase_if(bookings_[current], [](const auto& entry) { return entry.second.until != kOpen; });
}

}  // namespace espalier::chaos
