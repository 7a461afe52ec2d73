// Measures what the host does around a device.
#pragma once

#include <memory>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Measures, on one thread, all gangs nominated by the back end of a GPU but for the GPU's work: the
// state and the counts of the shapes are there, launches and copies are dropped, and the answers
// are those that an emulated device gave. They are compared with those of `other`. The stage is
// `host`. Errors are those of DeviceBackend::Make.
Result<void> RunDeviceHost(const LoadedScenario& loaded, std::shared_ptr<Backend> other,
                           const RunOptions& options, ScenarioResult& result);

}  // namespace espalier
