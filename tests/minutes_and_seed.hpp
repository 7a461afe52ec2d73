// The arguments of the programs that go on for minutes: `--minutes N [--seed S]`.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>

namespace espalier {

struct MinutesAndSeed {
  std::uint64_t minutes = 0;  // 1 or more
  std::uint64_t seed = 0;     // drawn by chance where none was given
};

// Returns nothing where the arguments are wrong.
inline std::optional<MinutesAndSeed> ParseMinutesAndSeed(int argc, char** argv) {
  MinutesAndSeed options{0, std::uint64_t{std::random_device{}()} << 32};
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view text = argv[i + 1];
    if (name != "--minutes" && name != "--seed") return std::nullopt;
    std::uint64_t& value = name == "--minutes" ? options.minutes : options.seed;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  }
  if (argc % 2 == 0 || options.minutes == 0) return std::nullopt;
  return options;
}

}  // namespace espalier
