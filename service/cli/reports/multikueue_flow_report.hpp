// Prints the steps of a job that changes its size in a worker cluster of MultiKueue.
#pragma once

#include <string>
#include <vector>

#include "host/kueue/multikueue/multikueue_flow.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// Returns a table with a row for each write of each step.
std::string FlowTable(const std::vector<FlowStep>& steps, const TextStyle& style = {});

// Writes {steps: [{at, event, decision, writes: [{cluster, kind, name, field, value}], job:
// {inSync, suspended, runs}}]}.
std::string FlowObject(const std::vector<FlowStep>& steps, ObjectWriter& out);

}  // namespace espalier
