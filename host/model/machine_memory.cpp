#include "host/model/machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// The number in a file; no limit where there is no file, or a word ("max") in it.
std::int64_t ReadLimit(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t limit = 0;
  return stream >> limit && limit > 0 ? limit : kNoLimit;
}

// The least of the limits that `name` holds in `group` and the groups above it, up to `top`. The
// path of a group may be that outside of a container: what does not exist limits nothing.
std::int64_t LeastLimit(const fs::path& top, const std::string& group, const char* name) {
  std::int64_t least = ReadLimit(top / name);
  fs::path folder = top;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    least = std::min(least, ReadLimit(folder / name));
  }
  return least;
}

std::int64_t ControlGroupLimit(const fs::path& root) {
  std::int64_t least = kNoLimit;
  std::ifstream groups(root / "proc/self/cgroup");
  const fs::path top = root / "sys/fs/cgroup";
  // Lines are "NUMBER:CONTROLLERS:PATH"; version 2 names no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, LeastLimit(top, path, "memory.max"));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      least = std::min(least, LeastLimit(top / "memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::int64_t ResourceLimit(__rlimit_resource resource) {
  rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(kNoLimit)) {
    return kNoLimit;
  }
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

std::int64_t MachineMemoryBytes(const fs::path& root) {
  const std::int64_t physical =
      std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  return std::min(
      {physical, ControlGroupLimit(root), ResourceLimit(RLIMIT_AS), ResourceLimit(RLIMIT_DATA)});
}

}  // namespace espalier
