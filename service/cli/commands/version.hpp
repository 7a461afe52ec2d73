// Describes what this binary was built from, by what and with what.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// "1.2.3" at the tag v1.2.3, "1.2.3+4" four commits later, "0.1.0-dev" where there is no tag yet.
std::string_view Version();
std::string_view Commit();  // abbreviated; ends in "-dirty" when files were changed

// Returns several lines, the first of which is "espalier 0.1.0 (commit)"; no trailing newline.
std::string VersionText();

}  // namespace espalier
