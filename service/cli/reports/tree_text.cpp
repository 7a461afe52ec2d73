#include "service/cli/reports/tree_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

void WriteAssignment(const TopologyAssignment& assignment, ObjectWriter& out) {
  out.Key("assignment");
  out.BeginMap();
  out.Field("levels", assignment.levels);
  out.Key("domains");
  out.BeginList();
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    out.BeginMap();
    out.Field("values", domain.values);
    out.Field("count", std::int64_t{domain.count});
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

// "required block, preferred rack"
std::string Requested(const NestedGroup& group, const TopologyNames& names) {
  std::vector<std::string> parts;
  if (group.required) parts.push_back("required " + names.LevelName(*group.required));
  if (group.preferred) parts.push_back("preferred " + names.LevelName(*group.preferred));
  if (group.ranks == RankPlacement::kContiguous) parts.emplace_back("ranks in order");
  if (group.ranks == RankPlacement::kTogether) parts.emplace_back("equal ranks together");
  if (group.ranks == RankPlacement::kBalanced) parts.emplace_back("ranks balanced");
  if (group.ranks == RankPlacement::kStriped) parts.emplace_back("ranks striped");
  if (group.rank_level) parts.back() += fmt::format(" over {}", names.LevelName(*group.rank_level));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::int64_t PodsOf(const TopologyAssignment& assignment) {
  std::int64_t pods = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) pods += domain.count;
  return pods;
}

std::string PodsText(const NestedGroup& group, const NestedGroupAnswer& answer) {
  if (!group.pods)
    return IsPlaced(answer.status) ? "-" : fmt::to_string(MostPods(group) / group.copies);
  const std::int64_t placed = answer.assignment ? PodsOf(*answer.assignment) : 0;
  if (placed == group.pods->max_count || !IsPlaced(answer.status)) {
    return fmt::to_string(group.pods->max_count);
  }
  return fmt::format("{} of {}", placed, group.pods->max_count);
}

}  // namespace

std::vector<TreeRow> TreeRows(const PlacedTree& tree, const TopologyNames& names, Detail detail,
                              std::size_t limit) {
  const auto refused = [&](const std::string& why) {
    return TableCell("not placed: " + why, Color::kBad);
  };
  const NestedAnswer& answer = tree.answer;
  if (!IsPlaced(answer.status)) {
    return {{"all", fmt::to_string(MostPods(tree.request.root)),
             Requested(tree.request.root, names), "-", refused(answer.reason)}};
  }
  std::vector<TreeRow> rows;
  for (const NestedGroupAnswer& placed : answer.groups) {
    const NestedGroup* group = GroupAt(tree.request.root, placed.path);
    if (group == nullptr) continue;
    TreeRow row{placed.path.empty() ? "all" : placed.path, PodsText(*group, placed),
                Requested(*group, names), "-", ""};
    if (!IsPlaced(placed.status)) {
      row.placement = refused(VerdictText(placed.status));
    } else if (placed.assignment) {
      row.reached = ReachedLevel(*placed.assignment, names);
      std::vector<std::string> lines = DomainLines(*placed.assignment, names, detail, limit);
      const std::int64_t left = group->pods->max_count - PodsOf(*placed.assignment);
      if (left > 0 && !RequiresPods(tree.request.root)) {
        lines.push_back(fmt::format("not placed: {} pod{} more, for which there is no room", left,
                                    left == 1 ? "" : "s"));
      }
      row.placement = std::move(lines);
    } else if (!group->pods && (group->required || group->preferred || group->rank_level)) {
      row.reached = placed.level ? names.LevelName(*placed.level) : "cluster";
      row.placement = fmt::format("{}", fmt::join(placed.values, "/"));
    } else {
      continue;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void WriteTree(const PlacedTree& tree, ObjectWriter& out) {
  out.BeginMap();
  out.Field("flavor", std::string_view(tree.request.flavor));
  out.Field("status", Name(tree.answer.status));
  if (!tree.answer.reason.empty()) out.Field("reason", std::string_view(tree.answer.reason));
  out.Key("groups");
  out.BeginList();
  for (const NestedGroupAnswer& group : tree.answer.groups) {
    out.BeginMap();
    out.Field("group", std::string_view(group.path));
    out.Field("status", Name(group.status));
    if (group.level) {
      out.Field("level", std::string_view(*group.level));
      out.Field("domain", group.values);
    }
    if (group.assignment) WriteAssignment(*group.assignment, out);
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

}  // namespace espalier
