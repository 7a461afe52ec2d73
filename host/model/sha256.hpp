// SHA-256 of short texts, without a library: what reads files is built on machines that have none.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// Returns the 64 hexadecimal digits of the SHA-256 (FIPS 180-4) of the bytes.
std::string Sha256Hex(std::string_view bytes);

}  // namespace espalier
