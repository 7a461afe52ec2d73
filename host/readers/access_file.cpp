#include "host/readers/access_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include "host/model/excerpt.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/yaml_to_json.hpp"

namespace espalier {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
constexpr std::string_view kCertificate = "certificate:";
constexpr std::string_view kSpiffe = "spiffe://";
constexpr std::string_view kUser = "user:";
constexpr const char* kWhoIsWanted =
    "certificate:NAME, spiffe://DOMAIN/PATH, user:NUMBER, any-certificate or anyone";

tl::unexpected<Error> Wrong(const std::string& path, const std::string& problem) {
  return BadInput(fmt::format("{}: {}", Excerpt(path), problem));
}

// A misspelled key must not leave a rule without what it says.
void CheckFields(JsonValue object, std::span<const std::string_view> known,
                 const ReadContext& context) {
  for (const auto field : Fields(object)) {
    if (std::ranges::find(known, field.key) != known.end()) continue;
    context.Error(field.value, fmt::format("the key {} is unknown", Excerpt(field.key)),
                  fmt::format("{}", fmt::join(known, ", ")));
  }
}

bool IsPlain(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte <= ' ' || byte == 0x7F;
  });
}

// Reads `who` into a rule. Returns whether it is one.
bool ReadWho(std::string_view text, AccessRule& rule) {
  if (text == "anyone") {
    rule.who = AccessRule::Who::kAnyone;
    return true;
  }
  if (text == "any-certificate") {
    rule.who = AccessRule::Who::kAnyCertificate;
    return true;
  }
  if (text.starts_with(kSpiffe)) {
    rule.who = AccessRule::Who::kSpiffe;
    rule.name = text;
    return IsPlain(text.substr(kSpiffe.size()));
  }
  if (text.starts_with(kUser)) {
    const std::string_view number = text.substr(kUser.size());
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), rule.user);
    rule.who = AccessRule::Who::kUser;
    return error == std::errc() && end == number.data() + number.size() &&
           rule.user != std::numeric_limits<std::uint32_t>::max();  // what the system calls no user
  }
  if (text.starts_with(kCertificate)) {
    rule.who = AccessRule::Who::kCertificate;
    rule.name = text.substr(kCertificate.size());
    return IsPlain(rule.name) && !rule.name.starts_with(kSpiffe);
  }
  return false;
}

Permissions ReadMay(JsonValue object, const ReadContext& context) {
  Permissions may;
  const auto list = ArrayMember(object, "may", context);
  if (!list) {
    if (!Member(object, "may")) {
      context.Missing(object, "may",
                      fmt::format("a list of {}", fmt::join(kPermissionNames, ", ")));
    }
    return may;
  }
  for (const JsonValue item : *list) {
    std::string_view name;
    const bool is_text = item.get(name) == simdjson::SUCCESS;
    const auto found = std::ranges::find(kPermissionNames, name);
    if (is_text && found != kPermissionNames.end()) {
      may.Add(static_cast<Permission>(found - kPermissionNames.begin()));
    } else {
      context.Error(item, "there is no such permission",
                    fmt::format("{}", fmt::join(kPermissionNames, ", ")));
    }
  }
  return may;
}

AccessRules ReadRules(JsonValue root, const ReadContext& context) {
  constexpr std::string_view kRootFields[] = {"rules"};
  constexpr std::string_view kRuleFields[] = {"who", "may"};
  AccessRules read;
  CheckRepeatedKeys(root, context);
  CheckFields(root, kRootFields, context);
  if (!Member(root, "rules")) context.Missing(root, "rules", "a list of rules");
  std::map<std::string, std::size_t, std::less<>> seen;
  read.rules = ReadList(root, "rules", context, [&](JsonValue object) {
    AccessRule rule;
    CheckFields(object, kRuleFields, context);
    const std::string who = RequiredText(object, "who", context);
    if (!who.empty() && !ReadWho(who, rule)) {
      context.Error(*Member(object, "who"), "it names nobody", kWhoIsWanted);
    } else if (const auto [first, is_new] = seen.emplace(who, seen.size());
               !who.empty() && !is_new) {
      context.Error(*Member(object, "who"), "there is a rule for it before", "one rule for each");
    }
    rule.may = ReadMay(object, context);
    return rule;
  });
  return read;
}

}  // namespace

Result<AccessRules> ReadAccessFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) {
    return tl::unexpected<Error>(
        Error{ErrorClass::kUnavailable,
              fmt::format("{}: cannot be read: {}", Excerpt(path), std::strerror(errno))});
  }
  InputStream stream(path, file);
  InputLimit limit(kMostBytes);
  const auto text = ReadBytes(stream, 0, limit, [](std::size_t) {});
  if (!text) return tl::unexpected(Error{ErrorClass::kUnavailable, text.error().message});
  const auto documents = YamlToJson(*text);
  if (!documents) return Wrong(path, documents.error().message);
  if (documents->size() != 1) {
    return Wrong(path,
                 fmt::format("holds {} YAML documents; want one, with `rules`", documents->size()));
  }
  simdjson::dom::parser parser;
  JsonValue root;
  if (parser.parse(documents->front()).get(root) != simdjson::SUCCESS || !root.is_object()) {
    return Wrong(path, "is not a map; want `rules` with a list");
  }
  Diagnostics diagnostics(/*strict=*/true);
  const ReadContext context{
      .diagnostics = diagnostics, .file = path, .root = root, .object = "access"};
  AccessRules rules = ReadRules(root, context);
  if (!diagnostics.ok()) return BadInput(diagnostics.RenderErrors());
  return rules;
}

}  // namespace espalier
