// What this binary was built from, by what and with what.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

std::string_view Version();  // "0.1.0"
std::string_view Commit();   // abbreviated, "-dirty" behind it where files were changed

// Several lines, the first "espalier 0.1.0 (commit)"; no trailing newline.
std::string VersionText();

}  // namespace espalier
