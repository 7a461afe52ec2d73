#include "service/cli/options/backend_options.hpp"

#include <fmt/format.h>

#include "service/backends/backends.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {

void AddBackendOptions(CLI::App& command, BackendOptions& options) {
  command
      .add_option("--backend", options.name,
                  "Where to decide. auto: large batches on a GPU where there is one, all else on\n"
                  "the CPU; cpu; cuda: everything on the GPU, an error without one; emulated: as\n"
                  "cuda, on a device played by the host. The answers are the same")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "emulated"}))
      ->capture_default_str();
  command
      .add_option("--threads", options.threads,
                  "Threads of the CPU to decide with; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void ReportDeviceFault(const Backend& backend) {
  const auto status = StatusOfDevice(backend);
  if (!status || !status->fault) return;
  Tell(fmt::format("device \"{}\": {}: {}; the CPU answered", status->device,
                   Name(status->fault->fault), status->fault->message));
}

}  // namespace espalier
