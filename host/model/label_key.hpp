// Checks names by the rules of Kubernetes.
#pragma once

#include <string_view>

namespace espalier {

// Returns whether `text` is a qualified name: an optional DNS prefix of at most 253 bytes and a
// '/', then a name of 1 to 63 letters, digits, '-', '_' and '.' that begins and ends with a letter
// or digit.
bool IsQualifiedName(std::string_view text);

// Returns whether `text` is a DNS subdomain, as names of clusters are: lower-case letters, digits
// and '-' between dots, each part beginning and ending with a letter or digit; 1 to 253 bytes.
bool IsDnsSubdomain(std::string_view text);
// Returns the same of a text of any length.
bool HasDnsSubdomainCharacters(std::string_view text);

}  // namespace espalier
