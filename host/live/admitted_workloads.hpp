// Keeps the admitted workloads that a state knows by key.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/live/admitted_usage.hpp"
#include "host/model/result.hpp"

namespace espalier {

// A map of workloads by key, of which each state may have a version: versions share what they have
// in common.
class AdmittedWorkloads {
 public:
  AdmittedWorkloads() = default;
  AdmittedWorkloads& operator=(const AdmittedWorkloads&) = delete;

  // Returns a version of what is here now, which does not change any more.
  std::shared_ptr<const AdmittedWorkloads> Share();

  std::size_t size() const { return size_; }

  // Returns the workload of a key, or null.
  const AdmittedUsage* Find(const ObjectKey& key) const;

  // Returns all workloads by key, ascending.
  std::vector<const AdmittedUsage*> ByKey() const;

  // Returns the key of the job of a workload: that of the first workload of its chain of slices.
  // The key itself for a workload that is not here.
  ObjectKey JobOf(const ObjectKey& workload) const;

  // Returns the job of a workload that is here as one workload (W5.5): its newest slice, which is
  // the one whose quota was reserved last, with the usage of all slices that are here.
  AdmittedUsage WholeJob(const ObjectKey& workload) const;

  // Replaces the workload of the same key, or adds it; one without usage is removed. Returns the
  // workload that was there, or null.
  std::shared_ptr<const AdmittedUsage> Exchange(AdmittedUsage workload);

 private:
  using Entry = std::shared_ptr<const AdmittedUsage>;
  // Namespace, name of the job, name.
  using SliceKey = std::tuple<std::string_view, std::string_view, std::string_view>;
  struct ByJob {
    using is_transparent = void;
    static SliceKey KeyOf(const Entry& slice) {
      return {slice->key.namespace_, slice->job, slice->key.name};
    }
    static const SliceKey& KeyOf(const SliceKey& key) { return key; }
    bool operator()(const auto& a, const auto& b) const { return KeyOf(a) < KeyOf(b); }
  };
  static constexpr std::size_t kShards = 512;

  // A part of the workloads, which versions share until one of them changes it.
  template <class Entries>
  struct Shared {
    std::shared_ptr<Entries> entries;  // null: none
    bool own = false;                  // no other version has it

    // Returns the entries for changing them.
    Entries& Own() {
      if (!own)
        entries = entries ? std::make_shared<Entries>(*entries) : std::make_shared<Entries>();
      own = true;
      return *entries;
    }
  };

  AdmittedWorkloads(const AdmittedWorkloads&) = default;
  static std::size_t ShardOf(const ObjectKey& key);

  std::array<Shared<std::vector<Entry>>, kShards> shards_;  // by key
  // Workloads of a job that is not called as they are, by its key.
  std::array<Shared<std::set<Entry, ByJob>>, kShards> slices_;
  std::size_t size_ = 0;
};

// Returns the workload with one entry per leaf, in order, without amounts of 0, and without a job
// that has its own name.
AdmittedUsage InOrder(AdmittedUsage workload);

// Checks that no two workloads have the same key. Errors: kBadInput.
Result<void> CheckNamedOnce(const std::vector<AdmittedUsage>& workloads);

}  // namespace espalier
