// Reads what questions are about: victims and changed nodes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <google/protobuf/repeated_field.h>

#include "espalier/v1/questions.pb.h"
#include "host/kueue/validation/certificate.hpp"
#include "host/live/proposed_change.hpp"
#include "host/live/state_store.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// Lists of positions, one for each question.
using Lists = std::vector<std::vector<std::uint32_t>>;

// Returns the victims, with their usage in the snapshot unless the message gives another; a slice
// of an elastic job stands for all slices of the job. They are to go from `state`, which is that of
// the snapshot or a changed one. Errors name the victim: kNotFound, or kBadInput for one that is
// named twice, by another slice too, or gives back more than it holds.
Result<std::vector<RunningWorkload>> ReadVictims(const v1::Victims& message,
                                                 const PublishedState& snapshot,
                                                 const ClusterState& state, WorkBudget& budget);

// Returns the change that a question supposes. Errors: kBadInput with the path of the field, also
// for what cannot be supposed.
Result<ProposedChange> ReadChange(
    const google::protobuf::RepeatedPtrField<std::string>& drained_nodes,
    const v1::UpdateStateRequest& change, WorkBudget& budget);

// Splits `positions`, each below `limit` and at most once in its list, into `lists` lists. Without
// offsets and positions all lists are empty. Errors name the field.
Result<Lists> ReadLists(const google::protobuf::RepeatedField<std::uint32_t>& offsets,
                        const google::protobuf::RepeatedField<std::uint32_t>& positions,
                        std::int64_t lists, std::int64_t limit, std::string_view field,
                        WorkBudget& budget);

}  // namespace espalier
