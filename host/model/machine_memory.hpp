// Finds out how much memory the process may use.
#pragma once

#include <cstdint>
#include <filesystem>

namespace espalier {

// Returns the bytes of memory this process may use: the least of the machine's memory, the limits
// of its control group and those above it (version 1 and 2), and its RLIMIT_AS and RLIMIT_DATA.
// `root` is the directory that contains proc and sys/fs/cgroup.
std::int64_t MachineMemoryBytes(const std::filesystem::path& root = "/");

}  // namespace espalier
