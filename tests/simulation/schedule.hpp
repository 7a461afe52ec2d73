// Schedules of what several controllers, a clock and faults do to a state store, step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace espalier::simulation {

enum class StepKind : std::uint8_t {
  kLook,         // a controller reads the current position
  kLoad,         // it replaces everything
  kChangeHost,   // it removes a host, adds one, or gives one another size
  kSetUsage,     // it sets the usage of a host
  kSetWorkload,  // it sets the usage of a workload
  kDecide,       // it finds room on the current state, to book or hold it later
  kBook,         // it books what it decided
  kHold,         // it holds it
  kConfirm,      // it reports a hold as usage
  kRelease,
  kExtend,
  kPassTime,  // the clock goes on
  kExpire,    // what has expired is ended
  kRestart,   // the process ends, and another one begins
};
constexpr int kStepKinds = 14;

enum class Fault : std::uint8_t {
  kNone,
  kStopped,      // nobody waits for the call any more
  kLittleMemory  // the call may use next to nothing
};

// A step means something in any order, so that steps can be left out of a schedule.
struct Step {
  StepKind kind = StepKind::kLook;
  std::uint8_t controller = 0;
  std::uint8_t what = 0;  // which host, workload or hold
  std::uint8_t how = 0;   // which amount or variant
  Fault fault = Fault::kNone;
  bool operator==(const Step&) const = default;
};

using Schedule = std::vector<Step>;

// Returns the schedule of a seed: 10 to 60 steps.
Schedule MakeSchedule(std::uint64_t seed);

// The result of a schedule that was run.
struct Outcome {
  std::string problem;       // the first difference from the model; empty: none
  std::size_t steps = 0;     // that were made
  std::int64_t changed = 0;  // steps that made a generation
  std::int64_t ended = 0;    // holds that ended
  std::int64_t refused = 0;
  std::int64_t faults = 0;  // calls that failed by a fault
};

// Makes the steps on a state store and on the model, and compares them after each.
Outcome Simulate(const Schedule& schedule);

// Returns the schedule without all steps that `fails` does not need to be true of the rest.
Schedule Shrink(Schedule schedule, const std::function<bool(const Schedule&)>& fails);

// Returns the steps as lines.
std::string ToText(const Schedule& schedule);

}  // namespace espalier::simulation
