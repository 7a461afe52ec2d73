// Topology assignments of v1beta1 (`domains`) and v1beta2 (`slices`): the reader of objects and the
// decoder of the encoded form (section 19).
#include <optional>

#include "host/conformance/case_json.hpp"
#include "host/kueue/objects/assignment_encoding.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {
namespace {

std::optional<TopologyAssignment> Read(std::string_view text) {
  const auto read = ReadLine<TopologyAssignment>(text, ReadTopologyAssignment);
  return read ? std::optional(*read) : std::nullopt;
}

// The compact JSON does not escape, and the API allows a value no more than 63 bytes per part.
bool IsPlain(const TopologyAssignment& assignment) {
  const auto plain = [](const std::string& text) {
    return text.size() <= 63 && text.find_first_of("\"\\") == std::string::npos &&
           std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20; });
  };
  return std::ranges::all_of(assignment.levels, plain) &&
         std::ranges::all_of(assignment.domains, [&](const TopologyDomainAssignment& domain) {
           return std::ranges::all_of(domain.values, plain);
         });
}

void CheckRoundTrip(const TopologyAssignment& assignment, const FeatureGates& gates) {
  const EncodedAssignment encoded = EncodeAssignment(assignment, gates);
  const auto decoded = DecodeAssignment(encoded);
  const std::string json = ToJson(encoded);
  if (!IsPlain(assignment)) return;
  Expect(decoded && *decoded == assignment, "decoding undoes encoding", json);
  // The reader bounds how often a slice may repeat one domain, the decoder does not.
  if (const auto reread = Read(json)) {
    Expect(*reread == assignment, "reading undoes printing", json);
  }
}

}  // namespace

void RunOne(std::string_view bytes) {
  const auto assignment = Read(bytes);
  const auto encoded = ReadLine<EncodedAssignment>(bytes, ReadEncodedAssignment);
  const auto decoded = encoded ? DecodeAssignment(*encoded) : BadInput("not read");
  // An object with `domains` is of v1beta1, which the decoder does not know.
  const bool only_slices = bytes.find("domains") == std::string_view::npos;
  if (assignment && decoded && only_slices) {
    Expect(*assignment == *decoded, "the reader and the decoder agree", ToJson(*encoded));
  }
  if (!assignment) return;
  FeatureGates gates;
  CheckRoundTrip(*assignment, gates);
  gates.assignments_encoding_by_hostname_prefix = false;
  CheckRoundTrip(*assignment, gates);
}

}  // namespace espalier::fuzz
