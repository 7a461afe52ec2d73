// Writes quantities as Kubernetes does.
#pragma once

#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

// Returns the quantity as Kubernetes writes it: "0.25" as "250m", "1500e6" as "1500e6", 2048Ki as
// "2Mi". The format of the text is kept: binary, decimal or with an exponent; binary quantities
// below 1024 become decimal ones. Errors are those of ParseQuantity.
Result<std::string> CanonicalText(std::string_view text);

}  // namespace espalier
