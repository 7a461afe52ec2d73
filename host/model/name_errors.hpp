// Says what is wrong with names, in the words of Kubernetes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Returns why the text is no name of an object: lower-case words of a domain. Empty: it is one.
std::vector<std::string> DnsSubdomainErrors(std::string_view text);

// Returns why the text is no label key, or no value of a label. Empty: it is one.
std::vector<std::string> LabelKeyErrors(std::string_view text);
std::vector<std::string> LabelValueErrors(std::string_view text);

// Returns why the text is no path after a domain, as in "acme.io/foo". Empty: it is one.
std::vector<std::string> DomainPathErrors(std::string_view text);

}  // namespace espalier
