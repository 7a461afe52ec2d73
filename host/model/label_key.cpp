#include "host/model/label_key.hpp"

#include <algorithm>

#include "host/model/ascii.hpp"

namespace espalier {
namespace {

bool IsName(std::string_view name) {
  const auto allowed = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= 63 && IsAlphanumeric(name.front()) &&
         IsAlphanumeric(name.back()) && std::ranges::all_of(name, allowed);
}

// Between two dots; unlike names on their own these have no limit of 63 bytes.
bool IsDnsPart(std::string_view part) {
  const auto letter = [](char c) { return IsLower(c) || IsDigit(c); };
  return !part.empty() && letter(part.front()) && letter(part.back()) &&
         std::ranges::all_of(part, [&](char c) { return letter(c) || c == '-'; });
}

}  // namespace

bool IsDnsSubdomain(std::string_view text) {
  return text.size() <= 253 && HasDnsSubdomainCharacters(text);
}

bool HasDnsSubdomainCharacters(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!IsDnsPart(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return IsDnsPart(text);
}

bool IsQualifiedName(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsName(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

}  // namespace espalier
