// Checks pod templates as Kueue's webhook of Workloads does (R23.13).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Returns the lines with which the webhook refuses a Workload with these pod templates, one for
// each pod set: labels that are none (`with_labels`: it has those of the templates), requests that
// are negative or of `pods`. What cannot be read is passed over, as it is reported where the
// templates are read.
std::vector<std::string> TemplateErrors(const std::vector<std::optional<JsonValue>>& templates,
                                        bool with_labels, const ReadContext& context);

// Returns the lines of the webhook for the slices that pod sets ask for (R23.12).
std::vector<std::string> SliceSizeErrors(const std::vector<PodSet>& pod_sets);

}  // namespace espalier
