#include "host/kueue/objects/assignment_encoding.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "host/model/assignment_limits.hpp"

namespace espalier {
namespace {

using Domains = std::span<const TopologyDomainAssignment>;

constexpr std::size_t kMaxLevelBytes = 317;
constexpr std::size_t kMaxSlices = 1000;
constexpr std::size_t kMaxValueBytes = 63;
constexpr std::size_t kMaxDomainsPerSlice = 100'000;

std::size_t CommonPrefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::size_t CommonSuffix(std::string_view a, std::string_view b) {
  const auto [end, unused] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(end - a.rbegin());
}

// R19.3 for one level.
EncodedValues EncodeLevel(Domains domains, std::size_t level) {
  const std::string_view first = domains.front().values[level];
  std::size_t prefix = first.size();
  std::size_t suffix = first.size();
  std::size_t shortest = first.size();
  std::size_t longest = first.size();
  for (const TopologyDomainAssignment& domain : domains) {
    const std::string_view value = domain.values[level];
    prefix = CommonPrefix(first.substr(0, prefix), value);
    suffix = CommonSuffix(first.substr(first.size() - suffix), value);
    shortest = std::min(shortest, value.size());
    longest = std::max(longest, value.size());
  }
  if (prefix == longest) return std::string(first);
  prefix = std::min(prefix, shortest - suffix);  // the suffix is kept whole

  IndividualValues individual{
      std::string(first.substr(0, prefix)), std::string(first.substr(first.size() - suffix)), {}};
  individual.roots.reserve(domains.size());
  for (const TopologyDomainAssignment& domain : domains) {
    const std::string& value = domain.values[level];
    individual.roots.push_back(value.substr(prefix, value.size() - prefix - suffix));
  }
  return individual;
}

EncodedPodCounts EncodePodCounts(Domains domains) {
  const auto differs = [&](const TopologyDomainAssignment& domain) {
    return domain.count != domains.front().count;
  };
  if (std::ranges::none_of(domains, differs)) return domains.front().count;
  std::vector<std::int32_t> counts;
  counts.reserve(domains.size());
  for (const TopologyDomainAssignment& domain : domains) counts.push_back(domain.count);
  return counts;
}

EncodedSlice EncodeSlice(Domains domains, std::size_t levels) {
  EncodedSlice slice;
  slice.domain_count = static_cast<std::int32_t>(domains.size());
  for (std::size_t level = 0; level < levels; ++level) {
    slice.values_per_level.push_back(EncodeLevel(domains, level));
  }
  slice.pod_counts = EncodePodCounts(domains);
  return slice;
}

// The candidate prefixes of one hostname, as lengths in rising order: the heads that end with a
// '-' that is not its last character (R19.7).
std::vector<std::uint32_t> CandidateLengths(std::string_view hostname) {
  std::vector<std::uint32_t> lengths;
  for (std::size_t i = 0; i + 1 < hostname.size(); ++i) {
    if (hostname[i] == '-') lengths.push_back(static_cast<std::uint32_t>(i + 1));
  }
  return lengths;
}

// The lengths of the runs of neighbouring domains that go into slices of their own.
std::vector<std::size_t> WholeRun(std::size_t domains) { return {domains}; }

// Runs of neighbours whose keys, of the given lengths, are equal.
std::vector<std::size_t> RunsOfEqualKeys(std::span<const std::string_view> hostnames,
                                         std::span<const std::uint32_t> key_lengths) {
  std::vector<std::size_t> runs;
  std::string_view previous;
  for (std::size_t i = 0; i < hostnames.size(); ++i) {
    const std::string_view key = hostnames[i].substr(0, key_lengths[i]);
    if (i > 0 && key == previous) {
      ++runs.back();
    } else {
      runs.push_back(1);
    }
    previous = key;
  }
  return runs;
}

std::size_t SlicesOfRun(std::size_t run) {
  return (run + kMaxDomainsPerSlice - 1) / kMaxDomainsPerSlice;
}

// R19.7: the runs under the deepest keys that need no more slices than the API allows.
std::vector<std::size_t> HostnamePrefixRuns(Domains domains) {
  std::vector<std::string_view> hostnames;
  std::vector<std::vector<std::uint32_t>> candidates;
  std::unordered_map<std::string_view, std::size_t> occurrences;
  std::size_t depth = 0;
  for (const TopologyDomainAssignment& domain : domains) {
    const std::string_view hostname = hostnames.emplace_back(domain.values.back());
    const auto& lengths = candidates.emplace_back(CandidateLengths(hostname));
    for (const std::uint32_t length : lengths) ++occurrences[hostname.substr(0, length)];
    depth = std::max(depth, lengths.size());
  }
  // A longer candidate never occurs more often than a shorter one: the usable ones come first.
  for (std::size_t i = 0; i < hostnames.size(); ++i) {
    std::erase_if(candidates[i], [&](std::uint32_t length) {
      return occurrences[hostnames[i].substr(0, length)] < 2;
    });
  }
  std::vector<std::uint32_t> key_lengths(hostnames.size());
  for (; depth > 0; --depth) {
    for (std::size_t i = 0; i < hostnames.size(); ++i) {
      const std::size_t usable = std::min(depth, candidates[i].size());
      key_lengths[i] = usable == 0 ? 0 : candidates[i][usable - 1];
    }
    std::vector<std::size_t> runs = RunsOfEqualKeys(hostnames, key_lengths);
    std::size_t slices = 0;
    for (const std::size_t run : runs) slices += SlicesOfRun(run);
    if (slices <= kMaxSlices) return runs;
  }
  return WholeRun(domains.size());
}

// R19.6
std::vector<EncodedSlice> EncodeByHostnamePrefix(const TopologyAssignment& assignment) {
  const Domains domains = assignment.domains;
  const bool keyed = domains.size() > 1 && !assignment.levels.empty() &&
                     assignment.levels.back() == kHostnameLabel;
  std::vector<EncodedSlice> slices;
  std::size_t first = 0;
  for (std::size_t run : keyed ? HostnamePrefixRuns(domains) : WholeRun(domains.size())) {
    while (run > 0) {
      const std::size_t chunk = std::min(run, kMaxDomainsPerSlice);
      slices.push_back(EncodeSlice(domains.subspan(first, chunk), assignment.levels.size()));
      first += chunk;
      run -= chunk;
    }
  }
  return slices;
}

// R19.4
EncodedAssignment EncodeAsOneSlice(const TopologyAssignment& assignment) {
  EncodedAssignment encoded{assignment.levels, {}};
  encoded.slices.push_back(EncodeSlice(assignment.domains, assignment.levels.size()));
  return encoded;
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class List, class AppendItem>
void AppendList(std::string& out, const List& list, const AppendItem& append_item) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    append_item(out, item);
  }
  out += ']';
}

void AppendValues(std::string& out, const EncodedValues& values) {
  if (const auto* universal = std::get_if<std::string>(&values)) {
    out += "{\"universal\":";
    AppendQuoted(out, *universal);
    out += '}';
    return;
  }
  const auto& individual = std::get<IndividualValues>(values);
  out += "{\"individual\":{";
  if (!individual.prefix.empty()) {
    out += "\"prefix\":";
    AppendQuoted(out, individual.prefix);
    out += ',';
  }
  if (!individual.suffix.empty()) {
    out += "\"suffix\":";
    AppendQuoted(out, individual.suffix);
    out += ',';
  }
  out += "\"roots\":";
  AppendList(out, individual.roots, AppendQuoted);
  out += "}}";
}

void AppendCount(std::string& out, std::int32_t count) {
  fmt::format_to(std::back_inserter(out), "{}", count);
}

void AppendPodCounts(std::string& out, const EncodedPodCounts& counts) {
  if (const auto* universal = std::get_if<std::int32_t>(&counts)) {
    out += "{\"universal\":";
    AppendCount(out, *universal);
  } else {
    out += "{\"individual\":";
    AppendList(out, std::get<std::vector<std::int32_t>>(counts), AppendCount);
  }
  out += '}';
}

void AppendSlice(std::string& out, const EncodedSlice& slice) {
  out += "{\"domainCount\":";
  AppendCount(out, slice.domain_count);
  out += ",\"valuesPerLevel\":";
  AppendList(out, slice.values_per_level, AppendValues);
  out += ",\"podCounts\":";
  AppendPodCounts(out, slice.pod_counts);
  out += '}';
}

Result<void> CheckLevels(const std::vector<std::string>& levels) {
  if (levels.empty() || levels.size() > kMaxAssignmentLevels) {
    return BadInput(
        fmt::format("levels: {} items, want 1 to {}", levels.size(), kMaxAssignmentLevels));
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].size() <= kMaxLevelBytes) continue;
    return BadInput(
        fmt::format("levels[{}]: {} bytes, want at most {}", i, levels[i].size(), kMaxLevelBytes));
  }
  return {};
}

Result<void> CheckValueLength(const std::string& field, std::string_view value) {
  if (value.size() <= kMaxValueBytes) return {};
  return BadInput(
      fmt::format("{}: {} bytes, want at most {}", field, value.size(), kMaxValueBytes));
}

Result<void> CheckValues(const std::string& field, const EncodedValues& values, std::size_t count) {
  if (const auto* universal = std::get_if<std::string>(&values)) {
    return CheckValueLength(field + ".universal", *universal);
  }
  const auto& [prefix, suffix, roots] = std::get<IndividualValues>(values);
  if (roots.size() != count) {
    return BadInput(fmt::format("{}.individual.roots: {} items, want domainCount, which is {}",
                                field, roots.size(), count));
  }
  if (auto checked = CheckValueLength(field + ".individual.prefix", prefix); !checked) {
    return checked;
  }
  if (auto checked = CheckValueLength(field + ".individual.suffix", suffix); !checked) {
    return checked;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i].size() <= kMaxValueBytes) continue;
    return CheckValueLength(fmt::format("{}.individual.roots[{}]", field, i), roots[i]);
  }
  return {};
}

Result<void> CheckPodCounts(const std::string& field, const EncodedPodCounts& pod_counts,
                            std::size_t domain_count) {
  if (const auto* universal = std::get_if<std::int32_t>(&pod_counts)) {
    if (*universal >= 1) return {};
    return BadInput(fmt::format("{}.universal: {}, want at least 1", field, *universal));
  }
  const auto& counts = std::get<std::vector<std::int32_t>>(pod_counts);
  if (counts.size() != domain_count) {
    return BadInput(fmt::format("{}.individual: {} items, want domainCount, which is {}", field,
                                counts.size(), domain_count));
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] >= 1) continue;
    return BadInput(fmt::format("{}.individual[{}]: {}, want at least 1", field, i, counts[i]));
  }
  return {};
}

Result<void> CheckSlice(const std::string& field, const EncodedSlice& slice, std::size_t levels) {
  if (slice.domain_count < 1 ||
      static_cast<std::size_t>(slice.domain_count) > kMaxDomainsPerSlice) {
    return BadInput(fmt::format("{}.domainCount: {}, want 1 to {}", field, slice.domain_count,
                                kMaxDomainsPerSlice));
  }
  const auto count = static_cast<std::size_t>(slice.domain_count);
  if (slice.values_per_level.size() != levels) {
    return BadInput(fmt::format("{}.valuesPerLevel: {} items, want one per level, which is {}",
                                field, slice.values_per_level.size(), levels));
  }
  for (std::size_t level = 0; level < levels; ++level) {
    const std::string level_field = fmt::format("{}.valuesPerLevel[{}]", field, level);
    if (auto checked = CheckValues(level_field, slice.values_per_level[level], count); !checked) {
      return checked;
    }
  }
  return CheckPodCounts(field + ".podCounts", slice.pod_counts, count);
}

// R19.9
Result<void> CheckLimits(const EncodedAssignment& encoded) {
  if (auto checked = CheckLevels(encoded.levels); !checked) return checked;
  if (encoded.slices.size() > kMaxSlices) {
    return BadInput(
        fmt::format("slices: {} items, want at most {}", encoded.slices.size(), kMaxSlices));
  }
  std::size_t domains = 0;
  for (std::size_t i = 0; i < encoded.slices.size(); ++i) {
    const EncodedSlice& slice = encoded.slices[i];
    auto checked = CheckSlice(fmt::format("slices[{}]", i), slice, encoded.levels.size());
    if (!checked) return checked;
    domains += static_cast<std::size_t>(slice.domain_count);
  }
  if (domains > kMaxAssignmentDomains) {
    return BadInput(
        fmt::format("slices: {} domains in all, want at most {}", domains, kMaxAssignmentDomains));
  }
  return {};
}

std::string DomainValue(const EncodedValues& values, std::size_t domain) {
  if (const auto* universal = std::get_if<std::string>(&values)) return *universal;
  const auto& individual = std::get<IndividualValues>(values);
  return individual.prefix + individual.roots[domain] + individual.suffix;
}

}  // namespace

EncodedAssignment EncodeAssignment(const TopologyAssignment& assignment,
                                   const FeatureGates& gates) {
  EncodedAssignment encoded{assignment.levels, {}};
  if (assignment.domains.empty()) return encoded;
  if (!gates.assignments_encoding_by_hostname_prefix) return EncodeAsOneSlice(assignment);
  encoded.slices = EncodeByHostnamePrefix(assignment);
  if (encoded.slices.size() <= 1 || assignment.domains.size() > kMaxDomainsPerSlice) return encoded;
  EncodedAssignment one_slice = EncodeAsOneSlice(assignment);
  return ToJson(one_slice).size() < ToJson(encoded).size() ? one_slice : encoded;  // R19.5
}

Result<TopologyAssignment> DecodeAssignment(const EncodedAssignment& encoded) {
  if (auto checked = CheckLimits(encoded); !checked) return tl::unexpected(checked.error());
  TopologyAssignment assignment{encoded.levels, {}};
  for (const EncodedSlice& slice : encoded.slices) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(slice.domain_count); ++i) {
      TopologyDomainAssignment& domain = assignment.domains.emplace_back();
      for (const EncodedValues& values : slice.values_per_level) {
        domain.values.push_back(DomainValue(values, i));
      }
      const auto* universal = std::get_if<std::int32_t>(&slice.pod_counts);
      domain.count =
          universal ? *universal : std::get<std::vector<std::int32_t>>(slice.pod_counts)[i];
    }
  }
  return assignment;
}

std::string ToJson(const EncodedAssignment& encoded) {
  std::string out = "{\"levels\":";
  AppendList(out, encoded.levels, AppendQuoted);
  if (!encoded.slices.empty()) {
    out += ",\"slices\":";
    AppendList(out, encoded.slices, AppendSlice);
  }
  out += '}';
  return out;
}

}  // namespace espalier
