// Label keys as Kubernetes allows them.
#pragma once

#include <string_view>

namespace espalier {

// An optional DNS prefix of at most 253 bytes and a '/', then a name of 1 to 63 letters, digits,
// '-', '_' and '.' that begins and ends with a letter or digit.
bool IsQualifiedName(std::string_view text);

}  // namespace espalier
