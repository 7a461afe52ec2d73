// Converts answers to and from an AnswerBatch.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "espalier/v1/workload.pb.h"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/gangs.hpp"

namespace espalier {

// Returns the index of the leaf that a domain of an assignment on `flavor` is; nullopt when there
// is none, so that the domain is named by its values.
using LeafIndex = std::function<std::optional<std::int32_t>(
    const std::string& flavor, const std::vector<std::string>& values)>;

// Returns the message with `answers`, one for each of `requests`. An empty `leaf_index` names every
// domain by its values. Errors: kInternal when an answer has a pod set that its request does not
// have; the budget's error when the work must stop.
Result<v1::AnswerBatch> ToProto(std::span<const WorkloadRequest> requests,
                                std::span<const WorkloadAnswer> answers,
                                const LeafIndex& leaf_index,
                                WorkBudget& budget = WorkBudget::Unlimited());

// The rows of leaves in an answer's table of named domains, by flavor and leaf; 0: the leaf is not
// in the answer.
using NamedLeaves = std::unordered_map<const FlavorSnapshot*, std::vector<std::uint32_t>>;

// The answers of gangs without the columns of domains and their counts, which ToBytes
// (place_response.hpp) writes.
struct AnswerRows {
  v1::AnswerBatch message;
  std::optional<NamedLeaves> named;  // absent: domains go by leaf index
};

// Returns the rows for the answers of gangs, which are those of `batch`, which was made of the
// shapes of `requests`, on `state`. With `by_name` domains are named by their values.
AnswerRows RowsToProto(const GangRequests& requests, const GangBatch& batch,
                       const GangAnswers& answers, const ClusterState& state, bool by_name,
                       WorkBudget& budget = WorkBudget::Unlimited());

// Reads what ToProto writes, for answers that name every domain by its values. Errors: kBadInput
// with the path of the field.
Result<std::vector<WorkloadAnswer>> FromProto(std::span<const WorkloadRequest> requests,
                                              const v1::AnswerBatch& message, WorkBudget& budget);

}  // namespace espalier
