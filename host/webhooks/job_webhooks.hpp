// Tells what Kueue's validating webhooks refuse of jobs, kind by kind.
//
// A kind is added in two places: a row in job_webhooks.cpp, and a function in the file of its
// family that says what its webhook checks, in its order, with the checks of job_checks.hpp where
// they are those of other kinds.
#pragma once

#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/webhooks/violation.hpp"

namespace espalier {

struct JobObject;

// Returns whether Kueue makes Workloads of the job's kind, so that it has a webhook here.
bool HasJobWebhook(const JobObject& job);
// Returns the job's kind, and where it is: "queue.yaml, object 3".
std::string JobKind(const JobObject& job);
std::string JobPlace(const JobObject& job);

// Returns what the webhook of the job's kind refuses, in its order; nothing for other kinds.
std::vector<Violation> ValidateJob(const JobObject& job, const FeatureGates& gates);

}  // namespace espalier
