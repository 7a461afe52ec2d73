// The named scenarios of the suite.
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
  kNominateWarm,     // the same with counts that an earlier question left
  kSequential,       // in order, each taking its room from those after it
  kCycle,            // Kueue's scheduling cycles, until nothing more is admitted
  kChurn,            // a hundredth of the nodes changes, then the gangs are nominated
  kLoad,             // columns to a state that answers
  kEndToEnd,         // over gRPC and a unix socket: the gangs nominated
  kUpdates,          // likewise: changes of the state, and a question right after each
  kControllerCycle,  // likewise: a change, the gangs nominated, some placed and committed
  kRecorded,         // a recorded sequence, held against its answers
  kWhatIf,           // which victims make room; not there yet
};
std::string_view ToString(BenchMode mode);
// Returns whether a mode needs the service.
bool IsOverWire(BenchMode mode);

// A figure the project has set itself, for the stage `compute` unless said otherwise.
struct BenchTarget {
  std::string_view name;  // M4
  double seconds = 0;     // at most
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
  int queues = 0;        // of kCycle
  std::string recorded;  // file name under the folder of cases, of kRecorded
  std::optional<BenchTarget> target = std::nullopt;
  bool smoke = false;
  bool gate = false;

  std::string full_name() const { return variant.empty() ? name : name + "/" + variant; }
};

const std::vector<Scenario>& AllScenarios();

// Those that are named, in the order of the table: "B21" and "B21-nominate-131k" are all variants,
// "B21-nominate-131k/R8" or "B21/R8" one. Error (kBadInput): a name that nothing matches.
Result<std::vector<Scenario>> FindScenarios(std::span<const std::string> names);

// smoke, gate or full.
std::vector<Scenario> ScenariosOfSuite(std::string_view suite);

}  // namespace espalier
