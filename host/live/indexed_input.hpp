// A ClusterStateInput with indexes by name, so that it can be changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/live/admitted_workloads.hpp"
#include "host/live/hold.hpp"
#include "host/live/input_as_of.hpp"
#include "host/live/keyed_usage.hpp"
#include "host/live/state_delta.hpp"
#include "host/live/state_tally.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/packing/name_index.hpp"

namespace espalier {

class IndexedInput {
 public:
  // Indexes `input`; usage given in several parts is added up.
  explicit IndexedInput(ClusterStateInput input);

  // Returns the input; its usage of leaves includes that of the workloads and of the holds.
  const ClusterStateInput& input() const { return input_; }

  // Returns the workloads that are known by key, as they are now.
  std::shared_ptr<const AdmittedWorkloads> ShareWorkloads() { return keyed_.ShareWorkloads(); }

  const Holds& holds() const { return keyed_.holds(); }

  // Sets when a hold, which is there, expires; nothing else changes.
  void ExtendHold(const std::string& hold, HoldClock::TimePoint expires) {
    keyed_.ExtendHold(hold, expires);
  }

  // Returns the node of a name, or null.
  const Node* FindNode(const std::string& name) const;

  // Returns what pods of no topology-aware workload use of a node, or null.
  const NodeUsage* FindNonTasUsage(const std::string& node) const;

  // Returns what the workloads and holds use on a leaf together, or null.
  const Resources* UsedByKey(std::string_view flavor, std::string_view leaf) const {
    return keyed_.UsedOn(flavor, leaf);
  }

  // Returns the change from the state before Apply returned `undo` to the current one. It refers to
  // `undo` and to this object until this is changed again.
  StateChange ChangeFrom(const StateDelta& undo) const;

  // Returns the approximate bytes of memory that the input takes.
  std::int64_t bytes() const { return tally_.bytes + keyed_.tally().bytes; }

  // Returns the checksum of the input, which is updated with every change.
  std::uint64_t checksum() const { return tally_.checksum + keyed_.tally().checksum; }

  // Applies the whole delta or, on an error, nothing. Returns the delta that undoes it, whose usage
  // of leaves includes that of the workloads and of the holds. Errors: kBadInput when it removes
  // something that does not exist, names a workload twice, or usage of workloads and holds on a
  // leaf exceeds an int64 of a resource.
  Result<StateDelta> Apply(StateDelta delta);

  // Undoes the Apply that returned `undo`.
  void TakeBack(StateDelta undo);

  void AddTasUsage(const std::vector<FlavorLeafUsage>& usage);

  // Begins to read the input as it is now, which ends the reading before.
  std::shared_ptr<InputAsOf> BeginReading();

  // Appends the next `most` values of a reading to `part`, in the order of StateChunks; the usage
  // of leaves is without that of workloads and holds. Returns whether more follow, or nullopt when
  // the reading is not of this input, or was ended.
  std::optional<bool> ReadOn(InputAsOf& reading, std::size_t most, ClusterStateInput& part);

 private:
  template <class Value>
  class List;

  // Makes all changes but those of workloads and holds.
  StateDelta Change(StateDelta delta);
  // Applies the workloads and holds of a delta, and adds that of all of them to its usage of
  // leaves. Returns the former ones; on an error nothing has changed.
  Result<KeyedUsage::Entries> TakeKeyed(StateDelta& delta);

  template <class Usage>
  void Add(std::vector<Usage>& usages, NameIndex& index, Usage usage);
  template <class Usage>
  void AddUsage(Usage& sum, const Resources& usage);
  // Indexes a whole list; usage with the same key is added up.
  template <class Value>
  void IndexAll(std::vector<Value>& values, NameIndex& index);

  // Keeps for the reader the value at a position of its list, which is about to change. What
  // workloads and holds use of a leaf must not have changed before.
  template <class Value>
  void Keep(const std::vector<Value>& values, std::size_t position);
  // Returns a value as a reader gets it.
  template <class Value>
  Value AsRead(const Value& value) const;

  ClusterStateInput input_;
  std::shared_ptr<InputAsOf> reading_;  // null: nobody reads
  // Positions in the lists of input_, by the keys of their values.
  NameIndex nodes_;
  NameIndex topologies_;
  NameIndex flavors_;
  NameIndex non_tas_usage_;
  NameIndex tas_usage_;
  KeyedUsage keyed_;  // its usage of leaves is in input_ too, but while it is replaced
  StateTally tally_;  // of input_
};

}  // namespace espalier
