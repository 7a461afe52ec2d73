// Writes JSON text.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// Appends `text`, in UTF-8, as a JSON string.
void AppendJsonString(std::string& json, std::string_view text);

}  // namespace espalier
