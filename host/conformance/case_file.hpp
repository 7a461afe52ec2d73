// Recorded cases: what a scheduler was asked and what it answered, one JSON object a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/assignment_encoding.hpp"
#include "host/kueue/ungater.hpp"
#include "host/readers/input_bytes.hpp"

namespace espalier {

// At most one of `assignment` and `reason`; with neither, the pod set must have neither.
struct ExpectedPodSet {
  std::optional<TopologyAssignment> assignment;
  std::optional<EncodedAssignment> encoded;  // of `assignment`; absent: not compared
  std::optional<std::string> reason;
  bool operator==(const ExpectedPodSet&) const = default;
};

// By pod set name; a pod set that is missing must have no answer.
using ExpectedAnswer = FlatMap<ExpectedPodSet>;

// One workload placed on one flavor of one cluster.
struct PlacementCase {
  FeatureGates gates;
  ClusterStateInput cluster;
  WorkloadRequest request;
  std::vector<ExpectedAnswer> any_of;  // not empty; each of them is right
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

struct Case {
  std::string name;
  std::variant<PlacementCase, UngateCase, EncodeCase> value;
};

// Gangs that are placed on one generated cluster; the first line of a sequence file.
struct Sequence {
  std::string name;
  FeatureGates gates;
  PlacementMode mode = PlacementMode::kNominate;
  ClusterStateInput cluster;
  std::vector<WorkloadRequest> shapes;  // pod set `main` has no count yet
};

// What identifies an assignment that is too long to be recorded.
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

// Counts what is read against the limit. Errors: the file is not there (kNotFound), cannot be read,
// its gzip data ends early or the limit is reached (kBadInput).
Result<CaseFile> ReadCaseFile(const std::string& path, InputLimit& limit);

// True when the line is the header of a sequence; all further lines of its file are gangs.
bool IsSequenceHeader(std::string_view line);

// Errors (kBadInput) name the case and the field.
Result<Case> ReadCase(std::string_view line);
Result<Sequence> ReadSequenceHeader(std::string_view line);
Result<SequenceGang> ReadGang(std::string_view line, const Sequence& sequence);

AssignmentDigest Digest(const TopologyAssignment& assignment);

}  // namespace espalier
