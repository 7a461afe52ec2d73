#include "host/readers/sources/topology_claims.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

void Narrow(const std::optional<std::vector<NodeSelectorTerm>>& nodes, NodeAffinity& affinity) {
  if (!nodes) return;
  affinity.required = affinity.required ? BothTerms(*affinity.required, *nodes) : *nodes;
}

// Returns whether the claim of a pod that has a node is allocated anew when the pod goes elsewhere:
// nobody else uses it, or only pods that go with it.
bool IsFreedWith(const ClaimedPlace& place, bool shared, std::span<const std::string_view> going) {
  if (!shared) return true;
  return !going.empty() && !place.reserved_for_others &&
         std::ranges::all_of(place.reserved_for, [&](const std::string& name) {
           return std::ranges::find(going, name) != going.end();
         });
}

// Requires a level. Returns why that cannot be, beside what is requested already; empty: it can.
std::string RequireLevel(const std::string& level, GroupTopologyRequest& request) {
  if (level.empty()) return "";
  if (!request.levels) request.levels.emplace();
  std::optional<std::string>& required = request.levels->required;
  if (required && *required != level) {
    return fmt::format("it names the level {}, and {} is required beside it", level, *required);
  }
  required = level;
  request.levels->unconstrained.reset();
  return "";
}

// The name of the claim that was made of a pod's template of this name; empty: none was.
std::string GeneratedClaim(JsonValue pod, std::string_view name) {
  const auto status = Member(pod, "status");
  simdjson::dom::array made;
  if (!status || (*status)["resourceClaimStatuses"].get(made) != simdjson::SUCCESS) return "";
  for (const JsonValue one : made) {
    if (TextOf(one, "name") == name) return std::string(TextOf(one, "resourceClaimName"));
  }
  return "";
}

class Resolver {
 public:
  Resolver(const ResourceClaims& claims, GangWorkload& workload)
      : claims_(claims), workload_(workload) {}

  void Run() {
    std::vector<EqGroup*> all;
    for (GangGroup& gang : workload_.gang_groups) {
      std::vector<EqGroup*> of_gang;
      for (RankedGroup& ranked : gang.ranked_groups) {
        std::vector<EqGroup*> of_ranked;
        for (EqGroup& group : ranked.eq_groups) {
          Resolve(group.topology_request, "eqGroup " + group.name, {&group});
          if (!group.claim_problem.empty()) {
            Wait(fmt::format("eqGroup {}: {}", group.name, group.claim_problem));
          }
          of_ranked.push_back(&group);
        }
        Resolve(ranked.topology_request, "rankedGroup " + ranked.name, of_ranked);
        of_gang.insert(of_gang.end(), of_ranked.begin(), of_ranked.end());
      }
      Resolve(gang.topology_request, "gangGroup " + gang.name, of_gang);
      all.insert(all.end(), of_gang.begin(), of_gang.end());
    }
    Resolve(workload_.topology_request, "the workload", all);
  }

 private:
  void Resolve(GroupTopologyRequest& request, const std::string& of,
               const std::vector<EqGroup*>& groups) {
    for (const TopologyClaim& claim : request.claims) {
      const bool is_template = claim.resource_claim.empty();
      const std::string which =
          fmt::format("topologyRequest of {}: {} {}", of,
                      is_template ? "resourceClaimTemplate" : "resourceClaim",
                      Excerpt(is_template ? claim.resource_claim_template : claim.resource_claim));
      const ClaimedPlace* place = claims_.Find(workload_.head.key.namespace_, claim.resource_claim,
                                               claim.resource_claim_template);
      if (place == nullptr) {
        Wait(which + " is not in the input; what it asks for is not known");
        continue;
      }
      std::string problem = place->problem;
      if (problem.empty()) problem = RequireLevel(place->level, request);
      if (!problem.empty()) {
        Wait(fmt::format("{} is no topology request that is understood: {}", which, problem));
        continue;
      }
      for (EqGroup* group : groups) {
        if (!group->pod_template) continue;
        Narrow(place->nodes, group->pod_template->affinity);
        Narrow(place->allocated_nodes, group->pod_template->affinity);
      }
      if (place->allocated && !place->nodes && !place->allocated_nodes && place->level.empty()) {
        workload_.notes.push_back(which + " is allocated for every node: it asks for no place");
      }
    }
  }

  void Wait(std::string why) {
    if (workload_.waits_for.empty()) workload_.waits_for = std::move(why);
  }

  const ResourceClaims& claims_;
  GangWorkload& workload_;
};

}  // namespace

void ApplyPodClaims(JsonValue pod, std::string_view name_space, const ReadContext& context,
                    const ClusterDefaults& defaults, EqGroup& group,
                    std::span<const std::string_view> going) {
  const JsonValue spec = PodSpecOf(pod);
  if (!spec.is_object() || !Member(spec, "resourceClaims")) return;
  bool all_known = true;
  const bool is_bound = !TextOf(spec, "nodeName").empty();
  ReadList(spec, "resourceClaims", context, [&](JsonValue object) {
    std::string claim = TextMember(object, "resourceClaimName", context);
    const std::string of_template = TextMember(object, "resourceClaimTemplateName", context);
    // Every pod has a claim of its own of a template, which no other shares.
    const bool shared = !claim.empty();
    if (!shared) claim = GeneratedClaim(pod, TextOf(object, "name"));
    const ClaimedPlace* place = defaults.claims.Find(std::string(name_space), claim, of_template);
    if (place == nullptr || place->names_nothing) {
      all_known = false;
      return 0;
    }
    std::string problem = place->problem;
    if (problem.empty() && shared) problem = RequireLevel(place->level, group.topology_request);
    if (problem.empty()) {
      NodeAffinity& affinity = group.pod_template->affinity;
      Narrow(place->nodes, affinity);
      if (!is_bound || !IsFreedWith(*place, shared, going)) {
        Narrow(place->allocated_nodes, affinity);
      } else if (place->level.empty() && !place->nodes) {
        all_known = false;  // where else there are such devices
      }
    } else {
      group.claim_problem = fmt::format("resource claim {} of its pods is not understood: {}",
                                        Excerpt(claim.empty() ? of_template : claim), problem);
    }
    return 0;
  });
  if (all_known) std::erase(group.pod_template->ignored_constraints, "resource claims");
}

void ReadGroupClaims(JsonValue spec, const ReadContext& context, const ClusterDefaults& defaults,
                     GangGroup& gang, std::vector<std::string>& notes) {
  const std::string name_space = NamespaceOfObject(context.root, context);
  ReadList(spec, "resourceClaims", context, [&](JsonValue object) {
    TopologyClaim claim{TextMember(object, "name", context),
                        TextMember(object, "resourceClaimName", context),
                        TextMember(object, "resourceClaimTemplateName", context)};
    const ClaimedPlace* place =
        defaults.claims.Find(name_space, claim.resource_claim, claim.resource_claim_template);
    if (place != nullptr && place->names_nothing) {
      notes.push_back(
          fmt::format("resource claim {} of the group names no level: where its devices "
                      "are is not looked at, as of claims of pods",
                      Excerpt(claim.name)));
    } else {
      gang.topology_request.claims.push_back(std::move(claim));
    }
    return 0;
  });
}

void ResolveClaims(const ResourceClaims& claims, GangWorkload& workload) {
  Resolver(claims, workload).Run();
}

}  // namespace espalier
