// Declares --backend and --threads for every command that decides.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "host/engine/backend.hpp"

namespace espalier {

struct BackendOptions {
  std::string name = "auto";  // as MakeBackend takes it
  int threads = 0;            // 0: one per core
};

// Declares the options; the values in `options` are the defaults.
void AddBackendOptions(CLI::App& command, BackendOptions& options);

// Reports on standard error when the device failed and the CPU answered in its place.
void ReportDeviceFault(const Backend& backend);

}  // namespace espalier
