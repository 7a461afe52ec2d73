// Reads Kueue's Configuration: an object of its own, or the text in the ConfigMap of Kueue's
// manager.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "host/model/kueue_configuration.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/known_fields.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// The key of the ConfigMap under which the text is.
inline constexpr std::string_view kConfigurationKey = "controller_manager_config.yaml";
// The name that Kueue's manifests give the ConfigMap.
inline constexpr std::string_view kConfigurationName = "kueue-manager-config";

// Returns the text that a ConfigMap has under that key; nullopt when it has none.
std::optional<std::string_view> ConfigurationText(JsonValue config_map);

// A kind of jobs and the integration of Kueue's that manages it.
struct Framework {
  std::string_view name;  // as in integrations.frameworks
  std::string_view group;
  std::string_view kind;
};

// Returns all of Kueue's integrations, by name.
std::span<const Framework> Frameworks();

// Returns the fields of a Configuration. All of them matter.
KnownFields KnownConfigurationFields();

// Returns the Configuration that the input has. Two of them are an error that names both, unless
// they say the same; a text that is a Configuration of something else is none.
std::optional<KueueConfiguration> FindKueueConfiguration(const ObjectIndex& index,
                                                         Diagnostics& diagnostics);

}  // namespace espalier
