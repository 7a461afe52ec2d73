// Tells which texts of Kubernetes objects Redaction leaves out, keeps, or numbers.
#pragma once

#include <string_view>

namespace espalier {

inline constexpr std::string_view kKaiPrefix = "kai.scheduler/";

// Returns whether a field is long or telling, and nothing depends on it.
bool IsLeftOut(std::string_view field);

// Returns whether the texts of a field are words of Kubernetes or Kueue, label keys or resources.
bool IsKeptField(std::string_view field);

// Returns whether a field of Kueue's Configuration is kept: it says where pods go.
bool IsKeptOfConfiguration(std::string_view field);

// Returns whether a label or annotation is one of Kueue's or KAI's own.
bool IsOfKueueOrKai(std::string_view key);

// Returns whether an annotation is read.
bool IsReadAnnotation(std::string_view key);

// Returns whether the texts of an annotation that is read are label keys, numbers or words.
bool IsKeptAnnotation(std::string_view key);

// Returns whether a field holds a map from label keys to values (from resources to quantities).
bool HoldsLabels(std::string_view field);
bool HoldsQuantities(std::string_view field);

// Returns whether the text of a field is a quantity of its own.
bool IsQuantityField(std::string_view field);

// Returns whether the text is a quantity; some are read though they end in a B.
bool IsQuantity(std::string_view text);

// Returns whether the text is a quantity that Spark's pods ask for, in the field that says so.
bool IsSparkQuantity(std::string_view field, std::string_view text);

// Returns whether a label has the index of a pod (R22.9) or of its replica, or a number of pods,
// besides those that a topology request or a Workload names.
bool IsCountLabel(std::string_view key);

// Returns whether a name means something: Kueue, the operators and the canonical model give it to
// parts of workloads and to containers, or it is a queue, namespace or topology that readers know.
bool IsKnownName(std::string_view text);

bool IsTrueOrFalse(std::string_view text);
bool IsInteger(std::string_view text);

}  // namespace espalier
