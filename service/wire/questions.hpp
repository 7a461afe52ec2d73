// Converts the messages in questions.proto that hold results.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "espalier/v1/questions.pb.h"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/questions/questions.hpp"
#include "host/what_if/census.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

v1::WorkloadName ToProto(const ObjectKey& key);

// Writes who may go, with what each gives back and its priority.
v1::Victims ToProto(std::span<const RunningWorkload> victims);

// Writes all of a certificate but its answers.
void Write(const Certificate& certificate, v1::ExplainResponse& message);

// Reads all of a certificate but its answers.
Certificate FromProto(const v1::ExplainResponse& message);

// Writes the victims of a domain; `positions` are those of the victims by whose indices it counts.
void Write(const NamedDomainVictims& domain, std::span<const std::uint32_t> positions,
           v1::DomainVictims& message);

// Write a part of an atlas.
void Write(const NamedAtlas::Level& level, v1::AtlasLevel& message);
void Write(const NamedAtlas::Row& row, v1::AtlasRow& message);

// Appends what a message tells of an atlas of `requests` requests to what those before it told.
// Errors: kBadInput for what does not go together.
Result<void> AppendFromProto(const v1::AtlasResponse& message, std::size_t requests,
                             NamedAtlas& atlas);

// The domains of a census that are told.
enum class CensusDomains { kNone, kWithRoom, kAll };

// Writes the levels that are wanted, none named: all, and their domains. The budget's error where
// it is more than an answer may have.
Result<void> Write(const GangCensus& census, const FlavorSnapshot& snapshot,
                   const std::set<std::string>& levels, CensusDomains domains, WorkBudget& budget,
                   v1::CountGangsResponse& message);

// Writes a gang that was counted as a whole.
void Write(const NamedCensus& census, CensusDomains domains, v1::CountGangsResponse& message);

void Write(const AssignmentCheck& check, v1::ValidateResponse& message);

AssignmentCheck FromProto(const v1::ValidateResponse& message);

// Writes workloads with a proposed admission. Errors: kBadInput for amounts that the wire does not
// carry.
Result<v1::ValidateRequest> ToProto(std::span<const Workload> workloads);
// Reads workloads with a proposed admission. Errors: kBadInput with the path of the field.
Result<std::vector<Workload>> FromProto(const v1::ValidateRequest& message, WorkBudget& budget);

}  // namespace espalier
