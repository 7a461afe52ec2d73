#include "service/server/read_configuration.hpp"

#include <utility>

#include <fmt/format.h>

#include "service/server/object_text.hpp"

namespace espalier {
namespace {

constexpr const char* kField = "kueue_configuration";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // as a ConfigMap may have

}  // namespace

Result<SharedConfiguration> ReadConfiguration(const std::string& text, const std::string& flag,
                                              WorkBudget& budget) {
  if (text.empty()) return SharedConfiguration();
  if (text.size() > kMostBytes) {
    return BadInput(fmt::format("{}: has {} bytes; at most {} expected, as in a ConfigMap", kField,
                                text.size(), kMostBytes));
  }
  Result<ClusterRead> read = ReadObjectText(kField, text, {}, budget);
  if (!read) return tl::unexpected(read.error());
  if (!read->cluster.configuration) {
    return BadInput(
        fmt::format("{}: has no Configuration of config.kueue.x-k8s.io; one expected, "
                    "or the ConfigMap that holds it",
                    kField));
  }
  LoadedConfiguration loaded{*std::move(read->cluster.configuration), {}, {}};
  for (const Diagnostic& warning : read->diagnostics.warnings()) {
    loaded.warnings.push_back(ToString(warning));
  }
  for (const std::string& unknown :
       SetKnownFeatureGates(loaded.configuration.feature_gates, loaded.gates)) {
    loaded.warnings.push_back(fmt::format("{}: {}", loaded.configuration.place, unknown));
  }
  const auto gates = ParseFeatureGates(flag, loaded.gates);
  if (!gates) {
    return BadInput(fmt::format("{}: featureGates: {}", kField, gates.error().message));
  }
  loaded.gates = *gates;
  return std::make_shared<const LoadedConfiguration>(std::move(loaded));
}

}  // namespace espalier
