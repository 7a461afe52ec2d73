// Conversion of an AnswerBatch.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/v1/workload.pb.h"
#include "host/engine/request.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/gangs.hpp"

namespace espalier {

// The index of the leaf a domain of an assignment on `flavor` is, or nullopt for none: the domain
// is then named by its values.
using LeafIndex = std::function<std::optional<std::int32_t>(
    const std::string& flavor, const std::vector<std::string>& values)>;

// `answers` answer `requests`, one each. An empty `leaf_index` names every domain by its values.
// kInternal when an answer has a pod set its request does not have; the budget's error where the
// work is to stop.
Result<v1::AnswerBatch> ToProto(std::span<const WorkloadRequest> requests,
                                std::span<const WorkloadAnswer> answers,
                                const LeafIndex& leaf_index,
                                WorkBudget& budget = WorkBudget::Unlimited());

// The same of gangs, without the columns of domains and their counts, which ToBytes
// (place_response.hpp) writes: `answers` are those of `batch`, made of the shapes of `requests`, on
// `state`.
v1::AnswerBatch RowsToProto(const GangRequests& requests, const GangBatch& batch,
                            const GangAnswers& answers, const ClusterState& state,
                            WorkBudget& budget = WorkBudget::Unlimited());

// The inverse, for answers that name every domain by its values. Errors: kBadInput with the path of
// the field.
Result<std::vector<WorkloadAnswer>> FromProto(std::span<const WorkloadRequest> requests,
                                              const v1::AnswerBatch& message, WorkBudget& budget);

}  // namespace espalier
