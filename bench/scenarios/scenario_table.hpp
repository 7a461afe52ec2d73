// The named scenarios of the benchmark suite.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scenarios/topologies.hpp"
#include "host/model/result.hpp"

namespace espalier {

enum class BenchMode {
  kNominate,         // all gangs on one state, every shape counted anew
  kNominateWarm,     // the same with counts kept from an earlier call
  kSequential,       // in order; each placement is booked before the next gang
  kCycle,            // Kueue's scheduling cycles, until nothing more is admitted
  kChurn,            // a hundredth of the nodes changes, then the gangs are nominated
  kLoad,             // columns to a state that answers
  kEndToEnd,         // over gRPC and a unix socket: the gangs nominated
  kUpdates,          // over gRPC: changes of the state, and a gang right after each
  kControllerCycle,  // over gRPC: a change, all gangs nominated, some committed
  kDispatch,         // over gRPC: which of many named states hold the gangs
  kOpenLoop,         // over gRPC: calls at fixed moments, whether others are answered or not
  kVictims,          // over gRPC: which running gangs make room for each of the gangs
  kNested,           // gangs of kReplicasTogether replicas in one block, in order
  kRecorded,         // a recorded sequence, compared with its answers
  kWhatIf,           // which running gangs make room, and which of them may stay
  kWhatIfBatch,      // thousands of changed states: in which of them does a gang fit?
  kAtlas,            // up to which of eight priorities all have to go, gang by gang and domain
  kDeviceHost,       // what the host does around a GPU, whose work is replayed
};
// Number of gangs of the mix that make up one workload of kNested.
inline constexpr std::int64_t kReplicasTogether = 8;
std::string_view ToString(BenchMode mode);
// Returns whether a mode needs the service.
bool IsOverWire(BenchMode mode);

// A target of the project, for the stage `compute` unless said otherwise.
struct BenchTarget {
  std::string_view name;  // M4
  double seconds = 0;     // maximum
  bool per_gang = false;  // `seconds` is for one gang
  std::string_view stage = "compute";
};

struct Scenario {
  std::string name;     // B21-nominate-131k
  std::string variant;  // R8; empty when there is only one
  BenchMode mode = BenchMode::kNominate;
  TopologyChoice topology;
  std::string prefill = "P0";
  std::string mix;
  std::int64_t gangs = 0;
  int queues = 0;        // for kCycle
  std::string recorded;  // for kRecorded: file name under the folder of cases
  std::optional<BenchTarget> target = std::nullopt;
  bool smoke = false;
  bool gate = false;

  std::string full_name() const { return variant.empty() ? name : name + "/" + variant; }
};

const std::vector<Scenario>& AllScenarios();

// Returns the scenarios with these names, in the order of the table: "B21" and "B21-nominate-131k"
// are all variants, "B21-nominate-131k/R8" or "B21/R8" one. Errors (kBadInput): a name that nothing
// matches.
Result<std::vector<Scenario>> FindScenarios(std::span<const std::string> names);

// Returns the scenarios of a suite: smoke, gate or full.
std::vector<Scenario> ScenariosOfSuite(std::string_view suite);

}  // namespace espalier
