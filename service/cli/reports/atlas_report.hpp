// Tells an atlas: workload by workload in how many domains there is room, and without whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/questions/questions.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {

// A pending workload on the flavors of one of its requests.
struct AtlasEntry {
  std::string workload;  // NAMESPACE/NAME
  std::string cluster_queue;
  std::int64_t priority = 0;
  std::string flavors;
  std::optional<std::size_t> row = {};  // of the atlas; nullopt: nothing was asked
  std::string reason = {};              // why nothing was asked
  std::vector<std::string> not_honoured = {};
};

struct AtlasReport {
  NamedAtlas atlas;
  std::vector<AtlasEntry> entries;  // in queue order, the flavors of a workload in that of trying
};

// The numbers of domains of a row, by step.
struct StepCounts {
  // Counts the domains whose step is given, by step; the last is that of `never`.
  StepCounts(const NamedAtlas& atlas, const NamedAtlas::Row& row);

  std::vector<std::int64_t> domains;
  // The first domain, in path order, with the lowest step; nullopt: none of them ever has room.
  std::optional<std::size_t> best;

  // Returns how many have room once everybody below a priority is gone.
  std::int64_t Below(const NamedAtlas& atlas, std::int64_t priority) const;
};

// Returns whom a step lets go: "nobody", "up to 50" (all of priority 50 or lower), or "never".
std::string StepText(const NamedAtlas& atlas, PriorityStep step);

// Returns whether a workload fits anywhere, on any of its flavors, once enough are gone.
bool EachHasRoom(const AtlasReport& report);

std::string AtlasTable(const AtlasReport& report, const NamesByFlavor& names,
                       const TextStyle& style);

// Writes the fields of the same, and the step of every domain.
void WriteAtlas(const AtlasReport& report, ObjectWriter& out);

// Draws the rows of the entries, workloads that ask for the same as one, on a sheet for each level
// of a flavor. Of more rows or columns than a sheet may have several that follow on each other are
// one, with the lowest step of any.
ReportedAtlas PictureOf(const AtlasReport& report, const NamesByFlavor& names);

}  // namespace espalier
