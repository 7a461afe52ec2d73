// Describes what this binary was built from, by what and with what.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

std::string_view Version();  // such as "0.1.0"
std::string_view Commit();   // abbreviated; ends in "-dirty" when files were changed

// Returns several lines, the first of which is "espalier 0.1.0 (commit)"; no trailing newline.
std::string VersionText();

}  // namespace espalier
