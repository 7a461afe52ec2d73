// Declares the oracle of the simulation: what a state store is to hold and to answer, in maps and a
// few rules, without any of its code.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/live/hold_clock.hpp"
#include "host/model/result.hpp"

namespace espalier::simulation {

// One cpu resource on hosts that are leaves; amounts in thousandths.
using AmountsByHost = std::map<std::string, std::int64_t>;

struct ModelHold {
  std::string workload;
  AmountsByHost usage;
  HoldClock::TimePoint expires{};
  bool operator==(const ModelHold&) const = default;
};

// A change of everything but holds; what is not there is not changed.
struct ModelChange {
  std::set<std::string> remove_hosts;
  AmountsByHost set_hosts;                             // allocatable
  AmountsByHost set_usage;                             // of leaves; 0: forget it
  std::map<std::string, AmountsByHost> set_workloads;  // empty usage: forget it
};

// Every call returns why the store refuses it, or nothing. Then it has happened.
class Model {
 public:
  using Refusal = std::optional<ErrorClass>;

  // The current generation; 0: nothing is loaded.
  std::uint64_t generation() const { return generation_; }
  const std::map<std::string, ModelHold>& holds() const { return holds_; }
  const AmountsByHost& hosts() const { return hosts_; }
  const AmountsByHost& usage() const { return usage_; }
  const std::map<std::string, AmountsByHost>& workloads() const { return workloads_; }
  // Returns what is left on a host.
  std::int64_t Remaining(const std::string& host) const;

  // Replaces everything but holds, and fills `dropped` with those whose host is gone.
  Refusal Load(AmountsByHost hosts, std::map<std::string, AmountsByHost> workloads,
               std::set<std::string>& dropped);
  // Changes the state of generation `base`; fills `broken` with the holds that it ends.
  Refusal Update(std::uint64_t base, const ModelChange& change, std::set<std::string>& broken);
  Refusal Book(std::uint64_t base, const AmountsByHost& usage);

  Refusal Hold(std::uint64_t base, const std::string& id, const ModelHold& hold);
  // Without `base`: of whatever is current.
  Refusal Confirm(const std::string& id, std::optional<std::uint64_t> base,
                  const ModelChange& change, bool reported, HoldClock::TimePoint now,
                  std::set<std::string>& broken);
  Refusal Release(const std::string& id, HoldClock::TimePoint now);
  Refusal Extend(const std::string& id, HoldClock::TimePoint now, HoldClock::TimePoint expires);
  // Ends what has expired. Returns when the next hold expires.
  HoldClock::TimePoint Expire(HoldClock::TimePoint now);

  // Forgets everything, as a restart does.
  void Restart() { *this = {}; }

 private:
  bool IsCurrent(std::uint64_t base) const { return generation_ != 0 && base == generation_; }
  bool IsLive(const std::string& id, HoldClock::TimePoint now) const;
  bool HasUnknownHost(const ModelChange& change) const;
  void Apply(const ModelChange& change, std::set<std::string>& broken);
  // Ends holds on hosts that are not there.
  void EndLost(std::set<std::string>& ended);

  std::uint64_t generation_ = 0;
  AmountsByHost hosts_;
  AmountsByHost usage_;  // of nobody in particular
  std::map<std::string, AmountsByHost> workloads_;
  std::map<std::string, ModelHold> holds_;
};

}  // namespace espalier::simulation
