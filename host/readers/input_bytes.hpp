// The bytes of an input: files, standard input, gzip.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"

namespace espalier {

// No input may be larger, plain or unpacked: the JSON parser counts in 32 bits.
inline constexpr std::uint64_t kMostInputBytes = 0xFFFFFFFF;

// Replaces every folder by the files in it and below it that end in .json, .yaml or .yml, each also
// with .gz, in order of their paths. Other paths, and `-` for standard input, stay as they are.
Result<std::vector<std::string>> ExpandPaths(const std::vector<std::string>& paths);

// Everything in a file, or in standard input for `-`. `on_bytes` hears how many bytes came since
// the last call. The string has room for `spare` more bytes without moving.
Result<std::string> ReadBytes(const std::string& path, std::size_t spare,
                              const std::function<void(std::size_t)>& on_bytes);

bool IsGzip(std::string_view bytes);
// All members of a gzip stream, with room for `spare` more bytes.
Result<std::string> Gunzip(std::string_view bytes, std::size_t spare);

}  // namespace espalier
