// Declares what is true of a cluster, whatever a server knows of it (what controllers would find at
// the API server), and, by the generations that a server named, who had which room when.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/live/admitted_usage.hpp"
#include "host/live/state_delta.hpp"
#include "host/live/state_position.hpp"
#include "host/packing/cluster_state.hpp"
#include "tests/chaos/counts.hpp"
#include "tests/generated/random.hpp"

namespace espalier::chaos {

// Thread-safe.
class World {
 public:
  World();

  // Held shared by who reports something to the server and notes here that it is reported;
  // exclusively by who loads the server from here, or changes nodes or what leaves use: a load
  // replaces whatever was reported after its contents were read.
  std::shared_mutex reporting;

  struct Contents {
    ClusterStateInput input;  // without what the workloads use
    std::vector<AdmittedUsage> workloads;
  };
  Contents Read() const;
  std::optional<AdmittedUsage> AnyWorkload(const std::string& namespace_, Random& random) const;

  // Notes that the contents were loaded, as the state of this position.
  void NoteLoad(const StatePosition& position);
  // Returns whether anybody has loaded a server of this epoch.
  bool IsLoaded(std::uint64_t epoch) const;

  void Admit(const AdmittedUsage& workload);
  void Forget(const ObjectKey& workload);
  // Notes what a commit with this token booked on leaves.
  void Commit(const std::string& token, const StatePosition& position,
              const std::vector<FlavorLeafUsage>& usage);

  // Changes nodes or what leaves use, here; `reporting` must be held exclusively. Returns what to
  // tell the server. `ended` are the bookings that are over with it.
  StateDelta Change(Random& random, std::vector<std::string>& ended);
  // Counts up with every change; a hold that was asked for before the change of a leaf is done may
  // be broken by it.
  std::int64_t Now();
  // Notes that a change of nodes, which Change has made, is known to the server.
  void NoteChanged();
  bool MayBeBroken(const std::vector<FlavorLeafUsage>& usage, std::int64_t since) const;

  // Notes that a booking of this name began, or ended, with this position.
  void Begin(const std::string& name, const StatePosition& position,
             const std::vector<FlavorLeafUsage>& usage);
  void End(const std::string& name, const StatePosition& position);
  // Notes that a booking ended at an unknown time: it counts for its first generation only.
  void EndSometime(const std::string& name, std::uint64_t epoch);

  // Reports every leaf that was booked beyond what it has, in any generation, and forgets epochs
  // other than `current`.
  void CheckBookings(std::uint64_t current, Tally& tally);

 private:
  struct Booking {
    std::vector<FlavorLeafUsage> usage;
    std::uint64_t from = 0;   // generation
    std::uint64_t until = 0;  // the first without it
  };
  using Bookings = std::map<std::string, Booking>;
  // Names the bookings on a leaf in a generation.
  static std::string WhoHas(const Bookings& bookings, const std::string& leaf,
                            std::uint64_t generation);

  mutable std::mutex mutex_;  // guards all below
  ClusterStateInput fixed_;   // topologies and flavors
  std::map<std::string, Node> nodes_;
  std::map<std::string, Node> removed_;
  std::map<std::string, Resources> other_pods_;  // usage by node
  std::map<ObjectKey, AdmittedUsage> admitted_;
  std::map<std::string, std::vector<FlavorLeafUsage>> committed_;  // by token
  std::map<std::string, std::int64_t> gone_at_;                    // leaves, by Now
  std::set<std::string> going_;
  std::int64_t now_ = 0;
  std::set<std::uint64_t> loaded_;              // epochs
  std::map<std::uint64_t, Bookings> bookings_;  // by epoch
};

}  // namespace espalier::chaos
