#include "host/model/name_errors.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/model/ascii.hpp"
#include "host/model/label_key.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostOfADomain = 253;  // bytes
constexpr std::size_t kMostOfAName = 63;

constexpr std::string_view kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kNameCharacters =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

std::string TooLong(std::size_t most) { return fmt::format("must be no more than {} bytes", most); }

// Returns whether the characters are those of a name, which may be of any length.
bool HasNameCharacters(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::vector<std::string> DnsSubdomainErrors(std::string_view text) {
  std::vector<std::string> errors;
  if (text.size() > kMostOfADomain) errors.push_back(TooLong(kMostOfADomain));
  if (!HasDnsSubdomainCharacters(text)) errors.emplace_back(kSubdomain);
  return errors;
}

std::vector<std::string> LabelKeyErrors(std::string_view text) {
  std::vector<std::string> errors;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' "
                      "(e.g. 'example.com/MyName')",
                      kNameCharacters)};
    }
    if (slash == 0) errors.emplace_back("prefix part must be non-empty");
    for (const std::string& error :
         slash == 0 ? std::vector<std::string>() : DnsSubdomainErrors(text.substr(0, slash))) {
      errors.push_back("prefix part " + error);
    }
  }
  if (name.empty()) {
    errors.emplace_back("name part must be non-empty");
  } else if (name.size() > kMostOfAName) {
    errors.push_back("name part " + TooLong(kMostOfAName));
  }
  if (!HasNameCharacters(name)) errors.push_back(fmt::format("name part {}", kNameCharacters));
  return errors;
}

std::vector<std::string> LabelValueErrors(std::string_view text) {
  std::vector<std::string> errors;
  if (text.size() > kMostOfAName) errors.push_back(TooLong(kMostOfAName));
  if (!text.empty() && !HasNameCharacters(text)) errors.emplace_back(kLabelValue);
  return errors;
}

std::vector<std::string> DomainPathErrors(std::string_view text) {
  constexpr std::string_view kOfPaths = "/-._~%!$&'()*+,;=:";
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return {"must be a domain-prefixed path (such as \"acme.io/foo\")"};
  }
  std::vector<std::string> errors = DnsSubdomainErrors(text.substr(0, slash));
  const auto is_of_path = [&](char c) {
    return IsAlphanumeric(c) || kOfPaths.find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(text.substr(slash + 1), is_of_path)) {
    errors.emplace_back(
        "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
  }
  return errors;
}

}  // namespace espalier
