#include "host/conformance/difference.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace espalier {
namespace {

std::string DomainText(const TopologyDomainAssignment& domain) {
  return fmt::format("{}:{}", fmt::join(domain.values, ","), domain.count);
}

// "4 domains, 9 pods: x1:2 x2:3 x3:2 ..."
std::string Summary(const TopologyAssignment& assignment) {
  constexpr std::size_t kShown = 8;
  std::int64_t pods = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) pods += domain.count;
  std::string text = fmt::format("{} domains, {} pods:", assignment.domains.size(), pods);
  for (std::size_t i = 0; i < std::min(kShown, assignment.domains.size()); ++i) {
    text += fmt::format(" {}", DomainText(assignment.domains[i]));
  }
  return assignment.domains.size() > kShown ? text + " ..." : text;
}

std::string Summary(const PodSetAnswer& answer) {
  if (answer.failure) return "reason: " + answer.failure->reason;
  if (answer.assignment) return "assignment of " + Summary(*answer.assignment);
  return "neither assignment nor reason";
}

std::string Summary(const ExpectedPodSet& expected) {
  if (expected.reason) return "reason: " + *expected.reason;
  if (expected.assignment) return "assignment of " + Summary(*expected.assignment);
  return "neither assignment nor reason";
}

std::string WantGot(std::string_view want, std::string_view got) {
  return fmt::format("want {}\n got {}", want, got);
}

// Two texts, cut to the surroundings of the first byte where they differ, and a mark under it.
std::string TextDifference(std::string_view want, std::string_view got) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kShown = 160;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(want, got).in1 - want.begin());
  const std::size_t start = want.size() <= kShown && got.size() <= kShown ? 0
                            : at > kBefore                                ? at - kBefore
                                                                          : 0;
  const auto part = [&](std::string_view text) {
    return fmt::format("{}{}{}", start > 0 ? "..." : "", text.substr(start, kShown),
                       text.size() - start > kShown ? "..." : "");
  };
  const std::size_t mark = at - start + (start > 0 ? 3 : 0);
  return fmt::format("differs at byte {}\nwant {}\n got {}\n     {:>{}}", at, part(want), part(got),
                     "^", mark + 1);
}

std::optional<std::string> PodSetDifference(const ExpectedPodSet& expected, const PodSetAnswer& got,
                                            const FeatureGates& gates) {
  if (expected.reason && got.failure && !got.assignment) {
    if (*expected.reason == got.failure->reason) return std::nullopt;
    return "reason " + TextDifference(*expected.reason, got.failure->reason);
  }
  if (expected.assignment && got.assignment && !got.failure) {
    if (auto difference = Difference(*expected.assignment, *got.assignment)) return difference;
    if (!expected.encoded) return std::nullopt;
    return Difference(*expected.encoded, EncodeAssignment(*got.assignment, gates));
  }
  const bool expects_nothing = !expected.reason && !expected.assignment;
  if (expects_nothing && !got.assignment && !got.failure) return std::nullopt;
  return WantGot(Summary(expected), Summary(got));
}

const PodSetAnswer* Find(const WorkloadAnswer& answer, std::string_view name) {
  const auto it = std::ranges::find(answer.pod_sets, name, &PodSetAnswer::name);
  return it == answer.pod_sets.end() ? nullptr : &*it;
}

std::string InPodSet(std::string_view name, std::string_view difference) {
  return fmt::format("pod set {}: {}", name, difference);
}

}  // namespace

std::optional<std::string> Difference(const ExpectedAnswer& expected, const WorkloadAnswer& got,
                                      const FeatureGates& gates) {
  for (const auto& [name, want] : expected) {
    const PodSetAnswer* answer = Find(got, name);
    if (!answer) return InPodSet(name, WantGot(Summary(want), "no answer"));
    if (auto difference = PodSetDifference(want, *answer, gates))
      return InPodSet(name, *difference);
  }
  for (const PodSetAnswer& answer : got.pod_sets) {
    if (expected.Contains(answer.name)) continue;
    return InPodSet(answer.name, WantGot("no answer", Summary(answer)));
  }
  return std::nullopt;
}

std::optional<std::string> Difference(const VictimsCase& expected, const PrefixAnswer& got,
                                      const FeatureGates& gates) {
  const auto fits_text = [](bool fits) { return fits ? "it fits" : "it does not fit"; };
  if (expected.fits != got.fits) {
    return "with victims gone: " + WantGot(fits_text(expected.fits), fits_text(got.fits));
  }
  if (!expected.fits) return std::nullopt;
  if (expected.prefix != got.prefix) {
    return "prefix: " + WantGot(std::to_string(expected.prefix), std::to_string(got.prefix));
  }
  std::vector<std::string> targets;
  for (const std::size_t target : got.targets) targets.push_back(expected.victims[target].name);
  if (expected.targets != targets) {
    return "targets: " + WantGot(fmt::format("{}", fmt::join(expected.targets, ", ")),
                                 fmt::format("{}", fmt::join(targets, ", ")));
  }
  auto difference = Difference(expected.result, got.answer, gates);
  return difference ? std::optional("with the targets gone: " + *difference) : std::nullopt;
}

std::optional<std::string> Difference(const SequenceGang& expected, const WorkloadAnswer& got) {
  const PodSetAnswer* failure = got.FirstFailure();
  if (expected.reason) {
    if (!failure) return WantGot("reason: " + *expected.reason, "a placement");
    if (failure->failure->reason == *expected.reason) return std::nullopt;
    return "reason " + TextDifference(*expected.reason, failure->failure->reason);
  }
  for (const auto& [name, want] : expected.placed) {
    const PodSetAnswer* answer = Find(got, name);
    const std::string want_text = fmt::format("{} domains, digest {}", want.domains, want.digest);
    if (!answer) return InPodSet(name, WantGot(want_text, "no answer"));
    if (!answer->assignment) return InPodSet(name, WantGot(want_text, Summary(*answer)));
    const AssignmentDigest digest = Digest(*answer->assignment);
    if (digest == want) continue;
    return InPodSet(name, WantGot(want_text, fmt::format("digest {}, {}", digest.digest,
                                                         Summary(*answer->assignment))));
  }
  for (const PodSetAnswer& answer : got.pod_sets) {
    if (expected.placed.Contains(answer.name)) continue;
    return InPodSet(answer.name, WantGot("no answer", Summary(answer)));
  }
  return std::nullopt;
}

std::optional<std::string> Difference(const StringMap& expected,
                                      const std::vector<UngatedPod>& got) {
  StringMap domains;
  for (const UngatedPod& pod : got) domains.Set(pod.pod.name, pod.domain);
  for (const auto& [pod, domain] : expected) {
    const std::string* sent_to = domains.Find(pod);
    if (sent_to && *sent_to == domain) continue;
    return fmt::format("pod {}: {}", pod, WantGot(domain, sent_to ? *sent_to : "still gated"));
  }
  for (const auto& [pod, domain] : domains) {
    if (!expected.Contains(pod))
      return fmt::format("pod {}: {}", pod, WantGot("still gated", domain));
  }
  return std::nullopt;
}

std::optional<std::string> Difference(const TopologyAssignment& expected,
                                      const TopologyAssignment& got) {
  if (expected.levels != got.levels) {
    return "levels: " + WantGot(fmt::format("{}", fmt::join(expected.levels, ", ")),
                                fmt::format("{}", fmt::join(got.levels, ", ")));
  }
  const auto [want, have] = std::ranges::mismatch(expected.domains, got.domains);
  if (want == expected.domains.end() && have == got.domains.end()) return std::nullopt;
  return fmt::format("domain {}: want {}, got {}\n{}", want - expected.domains.begin(),
                     want == expected.domains.end() ? "none" : DomainText(*want),
                     have == got.domains.end() ? "none" : DomainText(*have),
                     WantGot(Summary(expected), Summary(got)));
}

std::optional<std::string> Difference(const EncodedAssignment& expected,
                                      const EncodedAssignment& got) {
  if (expected == got) return std::nullopt;
  return "v1beta2 form " + TextDifference(ToJson(expected), ToJson(got));
}

}  // namespace espalier
