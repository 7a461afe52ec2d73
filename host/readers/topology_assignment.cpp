#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/assignment_limits.hpp"
#include "host/readers/kubernetes_objects.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostSlices = 1000;              // R19.9
constexpr std::int32_t kMostDomainsPerSlice = 100000;  // R19.9
// Most domains that slices merely repeat, per assignment: they cost the input nothing.
constexpr std::int32_t kMostRepeats = 1000;
constexpr const char* kWantedDomains = "at most 1000000 domains in all";
constexpr std::size_t kLongestValue = 63;  // bytes, of each part of a value (R19.9)

std::string_view ShortText(JsonValue parent, std::string_view name, const ReadContext& context) {
  const std::string_view text = StringMember(parent, name, context).value_or("");
  if (text.size() <= kLongestValue) return text;
  context.Error(*Member(parent, name), "it is too long", "at most 63 bytes");
  return {};
}

// Reports that `list` must have `expected` items when it has not.
bool HasLength(JsonValue list, std::size_t expected, const ReadContext& context) {
  const std::size_t size = Items(list).size();
  if (size == expected) return true;
  context.Error(list, fmt::format("it has {} items", size), fmt::format("{} items", expected));
  return false;
}

// The values of one level in one slice: prefix + root + suffix of every domain.
struct LevelValues {
  std::string_view universal;  // when there are no roots
  std::string_view prefix;
  std::string_view suffix;
  std::optional<simdjson::dom::array> roots;
};

// Exactly one of `universal` and `individual` (R19.9).
bool HasOneForm(JsonValue value, const ReadContext& context) {
  if (Member(value, "universal").has_value() != Member(value, "individual").has_value()) {
    return true;
  }
  context.Error(value, "it has not exactly one of `universal` and `individual`", "one of the two");
  return false;
}

std::optional<LevelValues> ReadLevelValues(JsonValue level, std::int32_t domain_count,
                                           const ReadContext& context) {
  if (!HasOneForm(level, context)) return std::nullopt;
  LevelValues values;
  if (Member(level, "universal")) {
    values.universal = ShortText(level, "universal", context);
    return values;
  }
  const auto individual = ObjectMember(level, "individual", context);
  if (!individual) return std::nullopt;
  values.prefix = ShortText(*individual, "prefix", context);
  values.suffix = ShortText(*individual, "suffix", context);
  values.roots = ArrayMember(*individual, "roots", context);
  if (!values.roots) {
    context.Missing(*individual, "roots", "one root per domain");
    return std::nullopt;
  }
  if (!HasLength(*Member(*individual, "roots"), domain_count, context)) return std::nullopt;
  return values;
}

// Appends this level's value to each of the domains from `first` on.
void AppendValues(const LevelValues& level, std::size_t first, const ReadContext& context,
                  TopologyAssignment& assignment) {
  auto domain = assignment.domains.begin() + first;
  if (!level.roots) {
    for (; domain != assignment.domains.end(); ++domain) {
      domain->values.emplace_back(level.universal);
    }
    return;
  }
  for (const JsonValue item : *level.roots) {
    std::string_view root;
    if (item.get(root) != simdjson::SUCCESS || root.size() > kLongestValue) {
      context.Error(item, "it is not a root of a value", "a string of at most 63 bytes");
    }
    std::string& value = domain++->values.emplace_back();
    value.reserve(level.prefix.size() + root.size() + level.suffix.size());
    value.append(level.prefix).append(root).append(level.suffix);
  }
}

void ReadPodCounts(JsonValue slice, std::size_t first, const ReadContext& context,
                   TopologyAssignment& assignment) {
  const auto counts = ObjectMember(slice, "podCounts", context);
  if (!counts) return context.Missing(slice, "podCounts", "the number of pods per domain");
  if (!HasOneForm(*counts, context)) return;
  auto domain = assignment.domains.begin() + first;
  if (Member(*counts, "universal")) {
    const std::int32_t count = Int32Member(*counts, "universal", context, 1).value_or(0);
    for (; domain != assignment.domains.end(); ++domain) domain->count = count;
    return;
  }
  const auto individual = ArrayMember(*counts, "individual", context);
  if (!individual) return;
  if (!HasLength(*Member(*counts, "individual"), assignment.domains.size() - first, context)) {
    return;
  }
  for (const JsonValue item : *individual) {
    domain++->count = Int32Value(item, context, 1).value_or(0);
  }
}

// R19.1. On an error the slice's domains are left out or incomplete. `repeats` counts over all
// slices.
void ReadSlice(JsonValue slice, const ReadContext& context, std::int32_t& repeats,
               TopologyAssignment& assignment) {
  const auto count = Int32Member(slice, "domainCount", context, 1);
  if (!count) {
    if (!Member(slice, "domainCount")) context.Missing(slice, "domainCount", "1 to 100000");
    return;
  }
  if (*count > kMostDomainsPerSlice) {
    return context.Error(*Member(slice, "domainCount"), "it is too large", "1 to 100000");
  }
  const auto levels = ArrayMember(slice, "valuesPerLevel", context);
  if (!levels) return context.Missing(slice, "valuesPerLevel", "one entry per level");
  if (!HasLength(*Member(slice, "valuesPerLevel"), assignment.levels.size(), context)) return;
  std::vector<LevelValues> values;
  bool any_roots = false;
  for (const JsonValue level : *levels) {
    const auto read = ReadLevelValues(level, *count, context);
    if (!read) return;
    any_roots = any_roots || read->roots.has_value();
    values.push_back(*read);
  }
  if (!any_roots && (repeats += *count - 1) > kMostRepeats) {
    return context.Error(*Member(slice, "domainCount"), "all domains of the slice are the same one",
                         "1, or individual values in at least one level");
  }
  const std::size_t first = assignment.domains.size();
  if (first + static_cast<std::size_t>(*count) > kMaxAssignmentDomains) {
    return context.Error(*Member(slice, "domainCount"), "the assignment has too many domains",
                         kWantedDomains);
  }
  const std::size_t bytes = sizeof(TopologyDomainAssignment) + values.size() * sizeof(std::string);
  if (!context.Charge(slice, static_cast<std::size_t>(*count), bytes)) return;
  assignment.domains.resize(first + *count);
  for (auto domain = assignment.domains.begin() + first; domain != assignment.domains.end();
       ++domain) {
    domain->values.reserve(values.size());
  }
  for (const LevelValues& level : values) AppendValues(level, first, context, assignment);
  ReadPodCounts(slice, first, context, assignment);
}

TopologyDomainAssignment ReadDomain(JsonValue domain, std::size_t level_count,
                                    const ReadContext& context) {
  TopologyDomainAssignment read;
  read.values = TextListMember(domain, "values", context);
  read.count = Int32Member(domain, "count", context, 1).value_or(0);
  if (!Member(domain, "count")) context.Missing(domain, "count", "the number of pods");
  if (const auto values = Member(domain, "values"); values && values->is_array()) {
    HasLength(*values, level_count, context);
  } else {
    context.Missing(domain, "values", "one value per level");
  }
  return read;
}

// The first form of KEP-2724 (W8.8): domains by the labels of their nodes. The levels are the keys
// in ascending order.
void ReadGroups(JsonValue object, JsonValue groups, const ReadContext& context,
                TopologyAssignment& assignment) {
  for (const std::string_view other : {"levels", "slices", "domains"}) {
    if (const auto both = Member(object, other)) {
      context.Error(*both, "it stands beside groups", "groups alone, or levels with slices");
    }
  }
  if (groups.is_array() && Items(groups).size() > kMaxAssignmentDomains) {
    return context.Error(groups, "the assignment has too many domains", kWantedDomains);
  }
  std::vector<std::string>& levels = assignment.levels;
  assignment.domains = ReadList(object, "groups", context, [&](JsonValue group) {
    TopologyDomainAssignment read;
    std::vector<std::string> keys;
    for (const auto& [key, value] : TextMapMember(group, "nodeLabels", context)) {
      keys.push_back(key);
      read.values.push_back(value);
    }
    if (keys.empty()) {
      context.Missing(group, "nodeLabels", "a value for each level");
    } else if (levels.empty()) {
      levels = std::move(keys);
    } else if (keys != levels) {
      context.Error(*Member(group, "nodeLabels"), "its keys are not those of the first group",
                    fmt::format("{}", fmt::join(levels, ", ")));
    }
    read.count = Int32Member(group, "count", context, 1).value_or(0);
    if (!Member(group, "count")) context.Missing(group, "count", "the number of pods");
    return read;
  });
  if (levels.empty() || levels.size() > kMaxAssignmentLevels) {
    context.Error(groups, "the number of levels is wrong", "1 to 16 labels of each group");
  }
  // A host is known by its name alone (R13.8).
  const auto host = std::ranges::find(levels, kHostnameLabel);
  if (host == levels.end()) return;
  const auto at = static_cast<std::size_t>(host - levels.begin());
  for (TopologyDomainAssignment& domain : assignment.domains) {
    if (at < domain.values.size()) domain.values = {domain.values[at]};
  }
  levels = {std::string(kHostnameLabel)};
}

}  // namespace

TopologyAssignment ReadTopologyAssignment(JsonValue object, const ReadContext& context) {
  TopologyAssignment assignment;
  if (const auto groups = Member(object, "groups")) {
    ReadGroups(object, *groups, context, assignment);
    return assignment;
  }
  assignment.levels = TextListMember(object, "levels", context);
  if (assignment.levels.empty() || assignment.levels.size() > kMaxAssignmentLevels) {
    context.Error(Member(object, "levels").value_or(object), "the number of levels is wrong",
                  "1 to 16 levels");
    return assignment;
  }
  const auto domains = Member(object, "domains");
  if (domains && domains->is_array() && Items(*domains).size() > kMaxAssignmentDomains) {
    context.Error(*domains, "the assignment has too many domains", kWantedDomains);
    return assignment;
  }
  assignment.domains = ReadList(object, "domains", context, [&](JsonValue domain) {
    return ReadDomain(domain, assignment.levels.size(), context);
  });
  const auto slices = ArrayMember(object, "slices", context);
  if (!slices) return assignment;
  if (slices->size() > kMostSlices) {
    context.Error(*Member(object, "slices"), "it is too long", "at most 1000 slices");
    return assignment;
  }
  std::int32_t repeats = 0;
  for (const JsonValue slice : *slices) ReadSlice(slice, context, repeats, assignment);
  return assignment;
}

void OrderLevels(const std::vector<std::string>& levels, TopologyAssignment& assignment) {
  if (assignment.levels == levels || !std::ranges::is_permutation(assignment.levels, levels)) {
    return;
  }
  std::vector<std::size_t> from;
  for (const std::string& level : levels) {
    const auto at = std::ranges::find(assignment.levels, level);
    from.push_back(static_cast<std::size_t>(at - assignment.levels.begin()));
  }
  for (TopologyDomainAssignment& domain : assignment.domains) {
    if (domain.values.size() != from.size()) continue;  // was reported
    std::vector<std::string> values;
    for (const std::size_t level : from) values.push_back(domain.values[level]);
    domain.values = std::move(values);
  }
  assignment.levels = levels;
}

}  // namespace espalier
