// Prints the outcome of a workload that was placed as a tree, group by group.
#pragma once

#include <string>
#include <vector>

#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {

// A row of the table.
struct TreeRow {
  std::string group;  // path of the group; "all" for the workload
  std::string pods;   // "8", "6 of 8", or "-" for a group of groups
  std::string requested;
  std::string reached;
  TableCell placement;
};

// Returns a row for each group that has a topology request of its own, that has pods, or that was
// not placed; each has at most `limit` lines of domains.
std::vector<TreeRow> TreeRows(const PlacedTree& tree, const TopologyNames& names, Detail detail,
                              std::size_t limit);

// Writes {flavor, status, reason, groups: [{group, status, level, domain, assignment}]}; the
// domains of an assignment are in the order of their ranks.
void WriteTree(const PlacedTree& tree, ObjectWriter& out);

}  // namespace espalier
