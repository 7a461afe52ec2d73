// What this binary was built from, by what and with what.
#pragma once

#include <string>

namespace espalier {

// Several lines, the first "espalier 0.1.0 (commit)"; no trailing newline.
std::string VersionText();

}  // namespace espalier
