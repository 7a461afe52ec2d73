// Reads recorded cases: the questions put to a scheduler and its answers, one JSON object per line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/objects/assignment_encoding.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "host/model/workload.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/json_fields.hpp"
#include "host/what_if/prefix_search.hpp"

namespace espalier {

// The expected answer for a pod set. Has an assignment or a reason; with neither, the answer must
// have neither.
struct ExpectedPodSet {
  std::optional<TopologyAssignment> assignment;
  std::optional<EncodedAssignment> encoded;  // encoded form of `assignment`; absent: not compared
  std::optional<std::string> reason;
  bool operator==(const ExpectedPodSet&) const = default;
};

// Expected answers by pod set name; a pod set that is missing must have no answer.
using ExpectedAnswer = FlatMap<ExpectedPodSet>;

// The workloads that may be removed, in order, and the result of upstream's search (R29.3).
struct VictimsCase {
  std::vector<Victim> victims;
  bool fits = false;
  // The fields below are set only when it fits.
  std::size_t prefix = 0;
  std::vector<std::string> targets;  // names, in upstream's order
  ExpectedAnswer result;
};

// One workload placed on one flavor of one cluster.
struct PlacementCase {
  FeatureGates gates;
  ClusterStateInput cluster;
  WorkloadRequest request;
  std::vector<ExpectedAnswer> any_of;  // not empty; each of them is correct
  std::optional<VictimsCase> what_if;
};

struct UngateCase {
  PodSetToUngate pod_set;
  StringMap expected;  // pod name -> domain id, for exactly the pods to be ungated
};

struct EncodeCase {
  FeatureGates gates;
  TopologyAssignment assignment;
  EncodedAssignment expected;
};

// A job, and what Kueue's webhooks and controllers make of it.
struct JobCase {
  FeatureGates gates;
  std::string objects;  // the job and the other objects, as JSON documents
  // Lines of the validating webhook. Where there are any nothing else follows.
  std::vector<std::string> job_errors;
  std::size_t workloads = 0;
  Workload workload;            // the first: as the readers would read it, where there is any
  std::string reconcile_error;  // why there is none
};

struct Case {
  std::string name;
  std::variant<PlacementCase, UngateCase, EncodeCase, JobCase> value;
};

// Gangs that are placed on one generated cluster; the first line of a sequence file.
struct Sequence {
  std::string name;
  FeatureGates gates;
  PlacementMode mode = PlacementMode::kNominate;
  ClusterStateInput cluster;
  std::vector<WorkloadRequest> shapes;  // pod set `main` has no count yet
};

// Identifies an assignment that is too long to be recorded.
struct AssignmentDigest {
  std::string digest;  // FNV-1a 64 over "v1,v2:count;" of every domain in order, 16 hex digits
  std::int64_t domains = 0;
  bool operator==(const AssignmentDigest&) const = default;
};

struct SequenceGang {
  std::int64_t number = 0;
  std::int64_t shape = 0;  // index into Sequence::shapes
  WorkloadRequest request;
  std::optional<std::string> reason;  // absent: the gang must be placed
  FlatMap<AssignmentDigest> placed;   // by pod set name
};

// The lines of a case file, plain or gzip; blank lines at the end are dropped.
struct CaseFile {
  std::string path;
  std::vector<std::string> lines;
};

// Reads a case file; the bytes count against the limit. Errors: the file does not exist
// (kNotFound), cannot be read, its gzip data ends early or the limit is reached (kBadInput).
Result<CaseFile> ReadCaseFile(const std::string& path, InputLimit& limit);

// Returns whether the line is the header of a sequence; all further lines of its file are gangs.
bool IsSequenceHeader(std::string_view line);

// Reads a line of a file, as do the next two. Errors (kBadInput) name the case and the field.
Result<Case> ReadCase(std::string_view line);
Result<Sequence> ReadSequenceHeader(std::string_view line);
Result<SequenceGang> ReadGang(std::string_view line, const Sequence& sequence);

// Reads the object of a line with a job, the kind of which is in the object's `kind`.
JobCase ReadJobCase(JsonValue root, const ReadContext& context);

AssignmentDigest Digest(const TopologyAssignment& assignment);

}  // namespace espalier
