// Declares the checks that the webhooks of several kinds of jobs share, and those of each family of
// kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/readers/sources/job_object.hpp"
#include "host/webhooks/topology_annotations.hpp"
#include "host/webhooks/violation.hpp"

namespace espalier {

// The features that Kueue supports for a kind of job, beside suspending it.
struct JobSupport {
  bool elastic = false;
  bool prebuilt_workload = true;
};

// A job that a webhook looks at, and where to say what is wrong.
struct JobCheck {
  const JobObject& job;
  const FeatureGates& gates;
  JobSupport supports;
  Violations& found;
};

// Return the path of one of the object's labels or annotations.
std::string LabelPath(std::string_view key);
std::string AnnotationPath(std::string_view key);

// Returns whether the job names a queue, or gets a default one, so that Kueue manages it.
bool HasQueueName(const JobCheck& check);
// Returns whether the object asks to be an elastic job, and may (W5.1).
bool IsElastic(const JobCheck& check);

// Checks what objects of all kinds have in their metadata: the names of queue and prebuilt
// Workload, the maximum execution time, what gates the admission, and that elastic jobs are
// supported. Each may be called alone by kinds of which Kueue does not check all.
void CheckJobMetadata(const JobCheck& check);
void CheckQueueName(const JobCheck& check);
void CheckPrebuiltWorkload(const JobCheck& check);
void CheckMaxExecTime(const JobCheck& check);
void CheckElasticJob(const JobCheck& check);
void CheckAdmissionGates(const JobCheck& check);

// Returns what there is to check of a template, which is at `path`: of the pod set of that name,
// with the pods that were read. `metadata_of`: what has the metadata with its annotations.
PodSetToCheck ToCheck(const JobCheck& check, std::string_view pod_set, const std::string& path,
                      JsonValue metadata_of);

// Returns the pod sets that were read of the job, in order.
std::vector<const EqGroup*> PodSetsRead(const JobCheck& check);

// Says why the annotations of a pod set give no topology request, in place of all that was found
// before, and returns whether there is such a reason. For webhooks that need the pod sets.
bool HasTopologyRequestError(std::span<const PodSetToCheck> pod_sets, const JobCheck& check);

// Checks the annotations of all pod sets (R23.1 to R23.8) and, where these are sound, the groups
// that they name, if the kind's webhook looks at groups (R23.9).
void CheckPodSets(std::span<const PodSetToCheck> pod_sets, bool with_groups, const JobCheck& check);

// The webhooks of one family of kinds each.
void CheckBatchJob(const JobCheck& check);
void CheckTrainingJob(const JobCheck& check);  // of Kubeflow's training operator, and MPIJobs
void CheckJobSet(const JobCheck& check);
void CheckTrainJob(const JobCheck& check);
void CheckRayCluster(const JobCheck& check);
void CheckRayJob(const JobCheck& check);
void CheckRayService(const JobCheck& check);
void CheckSparkApplication(const JobCheck& check);
void CheckPod(const JobCheck& check);
void CheckDeployment(const JobCheck& check);
void CheckStatefulSet(const JobCheck& check);
void CheckLeaderWorkerSet(const JobCheck& check);

}  // namespace espalier
