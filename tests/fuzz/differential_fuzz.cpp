// Bytes choose a small instance; the oracle and every way of running the engine answer it alike:
// the CPU back end with one thread and with several, and the decisions on teams of 1 and 4 lanes.
#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/device_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "tests/differential/check.hpp"
#include "tests/differential/generator.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {

using differential::Instance;

namespace {

std::string CaseOf(const Instance& instance) {
  return CaseLine("fuzz", instance, AskOracle(instance));
}

// The decisions on teams of that many lanes.
std::shared_ptr<DeviceBackend> MakeTeams(std::int32_t lanes) {
  DeviceBackendOptions options;
  options.every_batch = true;
  const auto open = [lanes] { return MakeEmulatedDevice({.lanes = lanes}); };
  auto backend = DeviceBackend::Make("emulated", open, MakeCpuBackend(1), options);
  Expect(backend.has_value(), "an emulated device opens");
  return *backend;
}

void ExpectSame(const Instance& instance, const WorkloadAnswer& expected,
                const WorkloadAnswer& answer, std::string_view what) {
  if (answer == expected) return;
  const auto difference = differential::Difference(expected, answer);
  Expect(false, what, difference.value_or("shortfalls differ") + "\n" + CaseOf(instance));
}

// The same question several times at once.
std::vector<WorkloadAnswer> AskThreads(const Instance& instance) {
  const std::vector<WorkloadRequest> requests(3, instance.request);
  const auto state = ClusterState::Build(instance.cluster);
  if (!state) return {};
  return Engine(MakeCpuBackend(3), instance.gates).Nominate(*state, requests);
}

}  // namespace

void RunOne(std::string_view bytes) {
  const auto one_thread = MakeCpuBackend(1);
  const auto serial_team = MakeTeams(1);
  const auto thread_team = MakeTeams(4);

  Random random(bytes);
  const Instance instance = differential::Generate(random);
  if (const auto problem = differential::Check(instance, one_thread)) {
    Expect(false, "the engine answers like the oracle", *problem + "\n" + CaseOf(instance));
  }
  const WorkloadAnswer expected = AskEngine(instance, one_thread);
  for (const WorkloadAnswer& answer : AskThreads(instance)) {
    ExpectSame(instance, expected, answer, "several threads answer alike");
  }
  ExpectSame(instance, expected, AskEngine(instance, serial_team), "a team of one answers alike");
  ExpectSame(instance, expected, AskEngine(instance, thread_team), "a team of four answers alike");
  Expect(serial_team->status().faults + thread_team->status().faults == 0, "no team gave up");
}

}  // namespace espalier::fuzz
