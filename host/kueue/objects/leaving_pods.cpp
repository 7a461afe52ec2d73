#include "host/kueue/objects/leaving_pods.hpp"

#include <algorithm>
#include <map>

#include "host/engine/assignments.hpp"

namespace espalier {
namespace {

// Splits every domain into what stays and what leaves.
ShrunkAssignment Split(const TopologyAssignment& assignment,
                       const std::vector<std::int64_t>& leaving) {
  ShrunkAssignment result{{assignment.levels, {}}, {}};
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const TopologyDomainAssignment& domain = assignment.domains[i];
    const auto left = static_cast<std::int32_t>(leaving[i]);
    if (domain.count > left) {
      result.staying.domains.push_back({domain.values, domain.count - left});
    }
    if (left > 0) result.leaving.push_back({domain.values, left});
  }
  return result;
}

std::int64_t PodsOf(const TopologyDomainAssignment& domain) {
  return std::max<std::int64_t>(domain.count, 0);
}

std::int64_t PodsOf(const TopologyAssignment& assignment) {
  std::int64_t pods = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) pods += PodsOf(domain);
  return pods;
}

using Path = std::vector<std::string>;

// Domains of one level, as positions of their leaves in the assignment.
struct Domain {
  std::int64_t pods = 0;
  std::vector<std::size_t> leaves;
};

class Leaving {
 public:
  Leaving(const TopologyAssignment& assignment, std::int64_t count, std::span<const Path> paths)
      : assignment_(assignment),
        paths_(paths),
        leaving_(assignment.domains.size()),
        still_(std::max<std::int64_t>(PodsOf(assignment) - std::max<std::int64_t>(count, 0), 0)) {
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
      if (PodsOf(assignment.domains[i]) > 0) open_.push_back(i);
    }
  }

  // Lets whole domains of a level go.
  void LeaveWhole(std::size_t level) {
    std::vector<std::size_t> open;
    for (const Domain& domain : FewestPodsFirst(level)) {
      const bool whole = domain.pods <= still_;
      if (whole) still_ -= domain.pods;
      for (const std::size_t leaf : domain.leaves) {
        if (whole) {
          leaving_[leaf] = PodsOf(assignment_.domains[leaf]);
        } else {
          open.push_back(leaf);
        }
      }
    }
    open_ = std::move(open);
  }

  // Looks on in one domain of a level alone, that with the fewest pods.
  void StayInOne(std::size_t level) {
    const std::vector<Domain> domains = FewestPodsFirst(level);
    if (!domains.empty()) open_ = domains.front().leaves;
  }

  // Lets a part of the last leaf go.
  ShrunkAssignment Finish() {
    if (still_ > 0 && !open_.empty()) leaving_[LeafWithFewest()] = still_;
    return Split(assignment_, leaving_);
  }

 private:
  // Returns the domains of a level with open leaves, those with the fewest pods first; of equal
  // ones the last in path order comes first.
  std::vector<Domain> FewestPodsFirst(std::size_t level) const {
    std::map<Path, Domain, std::greater<>> by_path;
    for (const std::size_t leaf : open_) {
      const Path& path = paths_[leaf];
      const auto end = path.begin() + static_cast<std::ptrdiff_t>(std::min(level + 1, path.size()));
      Domain& domain = by_path[Path(path.begin(), end)];
      domain.pods += PodsOf(assignment_.domains[leaf]);
      domain.leaves.push_back(leaf);
    }
    std::vector<Domain> domains;
    for (auto& [path, domain] : by_path) domains.push_back(std::move(domain));
    std::ranges::stable_sort(domains, {}, &Domain::pods);
    return domains;
  }

  std::size_t LeafWithFewest() const {
    return *std::ranges::min_element(open_, [&](std::size_t a, std::size_t b) {
      const std::int64_t pods_a = PodsOf(assignment_.domains[a]);
      const std::int64_t pods_b = PodsOf(assignment_.domains[b]);
      return pods_a != pods_b ? pods_a < pods_b : paths_[a] > paths_[b];
    });
  }

  const TopologyAssignment& assignment_;
  std::span<const Path> paths_;
  std::vector<std::int64_t> leaving_;  // pods, per domain of the assignment
  std::int64_t still_ = 0;             // pods that are yet to leave
  std::vector<std::size_t> open_;      // leaves that stay so far and may yet lose pods
};

}  // namespace

ShrunkAssignment KeepFirstPods(const TopologyAssignment& assignment, std::int64_t count) {
  ShrunkAssignment result{Truncate(assignment, count), {}};
  for (std::size_t i = 0; i < assignment.domains.size(); ++i) {
    const TopologyDomainAssignment& domain = assignment.domains[i];
    const bool stays = i < result.staying.domains.size();
    const std::int32_t left = domain.count - (stays ? result.staying.domains[i].count : 0);
    if (left > 0) result.leaving.push_back({domain.values, left});
  }
  return result;
}

ShrunkAssignment KeepWholeDomains(const TopologyAssignment& assignment, std::int64_t count,
                                  std::span<const std::vector<std::string>> paths,
                                  std::span<const std::size_t> slice_levels) {
  Leaving leaving(assignment, count, paths);
  std::size_t levels = 0;
  for (const Path& path : paths) levels = std::max(levels, path.size());
  for (std::size_t level = 0; level < levels; ++level) {
    leaving.LeaveWhole(level);
    if (std::ranges::find(slice_levels, level) != slice_levels.end()) leaving.StayInOne(level);
  }
  return leaving.Finish();
}

}  // namespace espalier
