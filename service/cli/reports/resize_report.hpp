// Prints a plan of a resize.
#pragma once

#include <string>

#include "host/kueue/elastic/resize_plan.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// Returns the plan as lines and tables: the decision, pods that leave, slices, usage.
std::string ResizeText(const ResizePlan& plan, const TextStyle& style = {});

// Writes {workload, decision, counts, leaving, slices, usage, reason, notes}; amounts are
// Kubernetes quantities.
std::string ResizeObject(const ResizePlan& plan, ObjectWriter& out);

}  // namespace espalier
