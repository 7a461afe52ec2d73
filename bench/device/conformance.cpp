// Recorded cases on a chosen back end, for builds without the service.
// Usage: device_conformance BACKEND [--seconds S] FILE...
//   --seconds: begins no file after so many; the smallest files come first
// Prints a line a file as it is done. The last line is `N passed, M failed, K files left out`; exit
// code 0 only when M is 0, every file was read, and a device that was demanded answered all jobs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "bench/device/device_jobs.hpp"
#include "bench/scenarios/measure.hpp"
#include "host/conformance/run.hpp"
#include "service/backends/backends.hpp"

namespace espalier {
namespace {

// The states of more threads than this push each other's copies off the device.
constexpr int kThreads = 4;

std::uintmax_t SizeOf(const std::string& file) {
  std::error_code unreadable;
  const std::uintmax_t size = std::filesystem::file_size(file, unreadable);
  return unreadable ? 0 : size;
}

int Main(std::string_view name, double seconds, std::vector<std::string> files) {
  const auto backend = MakeBackend(name, 0);
  if (!backend) {
    fmt::print(stderr, "{}\n", backend.error().message);
    return 2;
  }
  constexpr int kShown = 20;
  ConformanceOptions options;
  options.make_backend = [&] { return *backend; };
  options.threads = kThreads;
  int shown = 0;
  const auto show = [&](const CaseFailure& failure) {
    if (shown++ >= kShown) return;
    fmt::print("{}:{}: {}\n{}\n", failure.file, failure.line, failure.name, failure.difference);
  };
  std::ranges::stable_sort(files, {}, SizeOf);
  const double start = Now();
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t done = 0;
  bool unreadable = false;
  for (; done < files.size() && Now() - start < seconds; ++done) {
    const double begun = Now();
    const ConformanceReport report = RunConformance({files[done]}, options, show);
    for (const Error& error : report.unreadable) fmt::print(stderr, "{}\n", error.message);
    unreadable = unreadable || !report.unreadable.empty();
    passed += report.passed;
    failed += report.failed;
    fmt::print("{:8.2f} s  {}: {} passed, {} failed\n", Now() - begun,
               std::filesystem::path(files[done]).filename().string(), report.passed,
               report.failed);
    std::fflush(stdout);
  }
  const bool on_device = name == "auto" || ReportDeviceJobs(**backend);
  fmt::print("{} passed, {} failed, {} files left out\n", passed, failed, files.size() - done);
  return failed == 0 && !unreadable && on_device ? 0 : 1;
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  std::string_view name;
  double seconds = 1e9;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else if (name.empty()) {
      name = argument;
    } else {
      files.emplace_back(argument);
    }
  }
  if (files.empty()) {
    fmt::print(stderr, "usage: {} BACKEND [--seconds S] FILE...\n", argv[0]);
    return 2;
  }
  return espalier::Main(name, seconds, std::move(files));
}
