// How much memory there is to share out.
#pragma once

#include <cstdint>
#include <filesystem>

namespace espalier {

// Returns the bytes of memory this process may use: the least of the machine's memory, the limits
// of its control group and those above it (version 1 and 2), and its RLIMIT_AS and RLIMIT_DATA.
// `root` is where proc and sys/fs/cgroup are found.
std::int64_t MachineMemoryBytes(const std::filesystem::path& root = "/");

}  // namespace espalier
