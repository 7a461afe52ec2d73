// Recorded cases on a chosen back end, for builds without the service.
// Usage: device_conformance BACKEND FILE...
// The last line is `N passed, M failed`; exit code 0 only when M is 0 and every file was read.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "host/conformance/run.hpp"
#include "service/backends/backends.hpp"

int main(int argc, char** argv) {
  using namespace espalier;
  if (argc < 3) {
    fmt::print(stderr, "usage: {} BACKEND FILE...\n", argv[0]);
    return 2;
  }
  const auto backend = MakeBackend(argv[1], 0);
  if (!backend) {
    fmt::print(stderr, "{}\n", backend.error().message);
    return 2;
  }
  constexpr int kShown = 20;
  ConformanceOptions options;
  options.make_backend = [&] { return *backend; };
  int shown = 0;
  const ConformanceReport report = RunConformance(
      std::vector<std::string>(argv + 2, argv + argc), options, [&](const CaseFailure& failure) {
        if (shown++ >= kShown) return;
        fmt::print("{}:{}: {}\n{}\n", failure.file, failure.line, failure.name, failure.difference);
      });
  for (const Error& error : report.unreadable) fmt::print(stderr, "{}\n", error.message);
  if (const auto status = StatusOfDevice(**backend)) {
    fmt::print("device {}: {} jobs there, {} on the CPU, {} faults\n", status->device,
               status->jobs_on_device, status->jobs_on_cpu, status->faults);
    if (status->fault) fmt::print("last fault: {}\n", status->fault->message);
  }
  fmt::print("{} passed, {} failed\n", report.passed, report.failed);
  return report.failed == 0 && report.unreadable.empty() ? 0 : 1;
}
