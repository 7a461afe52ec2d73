// Lines of case files: reading them, and running what was read as `espalier conformance` does.
#include <cstdint>

#include <simdjson.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/conformance/case_file.hpp"
#include "host/conformance/difference.hpp"
#include "host/conformance/job_difference.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {
namespace {

void Run(const PlacementCase& placement) {
  auto state = ClusterState::Build(placement.cluster);
  if (!state) return;
  const Engine engine(MakeCpuBackend(1), placement.gates);
  const auto answers = engine.Nominate(*state, {&placement.request, 1});
  for (const ExpectedAnswer& expected : placement.any_of) {
    std::ignore = Difference(expected, answers.front(), placement.gates);
  }
}

void Run(const UngateCase& ungate) {
  const auto pods = UngatePodSet(ungate.pod_set);
  Expect(pods.size() <= ungate.pod_set.pods.size(), "a pod is ungated once");
  std::ignore = Difference(ungate.expected, pods);
}

void Run(const EncodeCase& encode) {
  const EncodedAssignment encoded = EncodeAssignment(encode.assignment, encode.gates);
  std::ignore = Difference(encode.expected, encoded);
  const auto decoded = DecodeAssignment(encoded);
  if (decoded) Expect(*decoded == encode.assignment, "decoding undoes encoding");
}

void Run(const JobCase& job) { std::ignore = JobDifference(job); }

// A few bytes of a sequence's header can ask for millions of nodes, which is legal but slow.
bool IsLargeGrid(std::string_view line) {
  constexpr std::int64_t kMostNodes = 1000;
  simdjson::dom::parser parser;
  simdjson::dom::array levels;
  const simdjson::padded_string padded(line);
  if (parser.parse(padded)["grid"]["levels"].get(levels) != simdjson::SUCCESS) return false;
  std::int64_t nodes = 1;
  for (const simdjson::dom::element level : levels) {
    std::int64_t fanout = 0;
    if (level["fanout"].get(fanout) != simdjson::SUCCESS) return false;
    if (__builtin_mul_overflow(nodes, fanout, &nodes)) return false;
  }
  return nodes > kMostNodes;
}

void RunSequence(std::string_view header, std::string_view gangs) {
  if (IsLargeGrid(header)) return;
  const auto sequence = ReadSequenceHeader(header);
  if (!sequence) return;
  auto state = ClusterState::Build(sequence->cluster);
  if (!state) return;
  const Engine engine(MakeCpuBackend(1), sequence->gates);
  while (!gangs.empty()) {
    const std::size_t end = std::min(gangs.find('\n'), gangs.size());
    const auto gang = ReadGang(gangs.substr(0, end), *sequence);
    gangs.remove_prefix(std::min(end + 1, gangs.size()));
    if (!gang) continue;
    const auto answers = engine.Place(*state, {&gang->request, 1}, sequence->mode);
    std::ignore = Difference(*gang, answers.front());
  }
}

}  // namespace

void RunOne(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view line = bytes.substr(0, end);
  if (IsSequenceHeader(line)) {
    RunSequence(line, bytes.substr(std::min(end + 1, bytes.size())));
  } else if (const auto read = ReadCase(line)) {
    std::visit([](const auto& value) { Run(value); }, read->value);
  } else {
    Expect(!read.error().message.empty(), "an error says what is wrong");
  }
}

}  // namespace espalier::fuzz
