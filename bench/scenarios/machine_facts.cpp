#include "bench/scenarios/machine_facts.hpp"

#include <fstream>
#include <string_view>

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace espalier {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

MachineFacts ReadMachineFacts() {
  MachineFacts facts;
  facts.cpu = CpuModel();
  cpu_set_t cores;
  facts.cores = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
  facts.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  utsname name{};
  if (uname(&name) == 0) facts.kernel = std::string(name.sysname) + " " + name.release;
  return facts;
}

void ResetPeakMemory() {
  // The peak is that of the process so far where this is not allowed.
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::int64_t PeakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace espalier
