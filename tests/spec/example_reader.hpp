// Reads the worked examples of docs/spec/worked-examples.md, which says what their lines mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// One question to a cluster, with the answers that the document gives.
struct ExampleQuestion {
  std::size_t line = 0;  // of the first answer, 1 is the first of the document
  FeatureGates gates;
  ClusterStateInput cluster;
  WorkloadRequest request;
  std::vector<std::string> answers;  // "NAME -> TEXT", in order; no text: no domains
};

// The questions of one example.
struct WorkedExample {
  std::string name;  // "E1"
  std::vector<ExampleQuestion> questions;
};

// Returns the examples of a Markdown document in its order; blocks of one name are one example.
// Errors (kBadInput) name the line: a word that is not understood, a number that is none, a block
// without an end or without a question, a question without an answer.
Result<std::vector<WorkedExample>> ReadExamples(std::string_view document);

}  // namespace espalier
