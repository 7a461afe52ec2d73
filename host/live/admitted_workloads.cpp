#include "host/live/admitted_workloads.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/packing/usage_by_leaf.hpp"

namespace espalier {
namespace {

const ObjectKey& KeyOf(const std::shared_ptr<const AdmittedUsage>& workload) {
  return workload->key;
}

}  // namespace

std::size_t AdmittedWorkloads::ShardOf(const ObjectKey& key) {
  const std::hash<std::string_view> hash;
  return (hash(key.namespace_) * 31 + hash(key.name)) % kShards;
}

std::shared_ptr<const AdmittedWorkloads> AdmittedWorkloads::Share() {
  for (auto& shard : shards_) shard.own = false;
  for (auto& slices : slices_) slices.own = false;
  return std::shared_ptr<const AdmittedWorkloads>(new AdmittedWorkloads(*this));
}

const AdmittedUsage* AdmittedWorkloads::Find(const ObjectKey& key) const {
  const std::shared_ptr<std::vector<Entry>>& shard = shards_[ShardOf(key)].entries;
  if (shard == nullptr) return nullptr;
  const auto found = std::ranges::lower_bound(*shard, key, {}, KeyOf);
  return found != shard->end() && KeyOf(*found) == key ? found->get() : nullptr;
}

std::vector<const AdmittedUsage*> AdmittedWorkloads::ByKey() const {
  std::vector<const AdmittedUsage*> all;
  all.reserve(size_);
  for (const auto& shard : shards_) {
    if (shard.entries == nullptr) continue;
    for (const Entry& workload : *shard.entries) all.push_back(workload.get());
  }
  std::ranges::sort(all, {}, [](const AdmittedUsage* workload) { return workload->key; });
  return all;
}

ObjectKey AdmittedWorkloads::JobOf(const ObjectKey& workload) const {
  const AdmittedUsage* known = Find(workload);
  if (known == nullptr || known->job.empty()) return workload;
  return {workload.namespace_, known->job};
}

AdmittedUsage AdmittedWorkloads::WholeJob(const ObjectKey& workload) const {
  const ObjectKey job = JobOf(workload);
  std::vector<const AdmittedUsage*> slices;
  const AdmittedUsage* first = Find(job);
  if (first != nullptr && first->job.empty()) slices.push_back(first);
  if (const auto& others = slices_[ShardOf(job)].entries; others != nullptr) {
    for (auto slice = others->lower_bound(SliceKey(job.namespace_, job.name, ""));
         slice != others->end(); ++slice) {
      if ((*slice)->key.namespace_ != job.namespace_ || (*slice)->job != job.name) break;
      slices.push_back(slice->get());
    }
  }
  // Without a time the quota counts as reserved now (R29.2).
  const auto newest = std::ranges::max_element(slices, {}, [](const AdmittedUsage* slice) {
    return std::tuple(slice->quota_reserved_seconds == 0, slice->quota_reserved_seconds,
                      slice->key);
  });
  AdmittedUsage whole = **newest;
  if (slices.size() == 1) return whole;
  for (const AdmittedUsage* slice : slices) {
    if (slice == *newest) continue;
    whole.usage.insert(whole.usage.end(), slice->usage.begin(), slice->usage.end());
  }
  return InOrder(std::move(whole));
}

std::shared_ptr<const AdmittedUsage> AdmittedWorkloads::Exchange(AdmittedUsage workload) {
  if (workload.usage.empty() && Find(workload.key) == nullptr) return nullptr;
  const auto slices_of = [&](const Entry& slice) -> std::set<Entry, ByJob>& {
    return slices_[ShardOf({slice->key.namespace_, slice->job})].Own();
  };
  std::vector<Entry>& shard = shards_[ShardOf(workload.key)].Own();
  const auto found = std::ranges::lower_bound(shard, workload.key, {}, KeyOf);
  const bool known = found != shard.end() && KeyOf(*found) == workload.key;
  Entry before = known ? *found : nullptr;
  if (known && !before->job.empty()) slices_of(before).erase(before);
  if (workload.usage.empty()) {
    shard.erase(found);
    --size_;
    return before;
  }
  const auto added = std::make_shared<const AdmittedUsage>(std::move(workload));
  if (!added->job.empty()) slices_of(added).insert(added);
  if (known) {
    *found = added;
  } else {
    shard.insert(found, added);
    ++size_;
  }
  return before;
}

AdmittedUsage InOrder(AdmittedUsage workload) {
  const auto place = [](const FlavorLeafUsage& entry) {
    return std::tie(entry.flavor, entry.leaf);
  };
  std::ranges::stable_sort(workload.usage, {}, place);
  std::vector<FlavorLeafUsage> merged;
  for (FlavorLeafUsage& entry : workload.usage) {
    if (!merged.empty() && place(merged.back()) == place(entry)) {
      AddTo(merged.back().usage, entry.usage);
    } else {
      merged.push_back(std::move(entry));
    }
  }
  for (FlavorLeafUsage& entry : merged) entry.usage = WithoutZeros(entry.usage);
  std::erase_if(merged, [](const FlavorLeafUsage& entry) { return entry.usage.empty(); });
  workload.usage = std::move(merged);
  if (workload.job == workload.key.name) workload.job.clear();
  return workload;
}

Result<void> CheckNamedOnce(const std::vector<AdmittedUsage>& workloads) {
  std::set<ObjectKey> seen;
  for (const AdmittedUsage& workload : workloads) {
    if (seen.insert(workload.key).second) continue;
    return BadInput(fmt::format("workload {} is named twice; name each once",
                                Excerpt(workload.key.ToString())));
  }
  return {};
}

}  // namespace espalier
