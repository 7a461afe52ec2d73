// YAML manifests: each document becomes valid JSON or an error.
#include <limits>

#include <simdjson.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/yaml_to_json.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {

void RunOne(std::string_view bytes) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  const auto texts = YamlToJson(bytes);
  for (const std::size_t long_scalar : {std::size_t{1}, kAny}) {
    const auto again = YamlToJson(bytes, kAny, long_scalar);
    Expect(again.has_value() == texts.has_value(), "long scalars are as good as short ones");
    if (texts) Expect(*again == *texts, "long scalars are kept");
    if (!texts) Expect(again.error() == texts.error(), "long scalars change no message");
  }
  if (!texts) {
    Expect(!texts.error().message.empty(), "an error says what is wrong");
    return;
  }
  simdjson::dom::parser parser;
  for (const std::string& text : *texts) {
    const simdjson::error_code code = parser.parse(text).error();
    Expect(code == simdjson::SUCCESS || code == simdjson::DEPTH_ERROR,
           "what YAML becomes is valid JSON", text);
  }
  for (const Trees trees : {Trees::kNone, Trees::kNested, Trees::kAll}) {
    std::ignore = ReadClusterText("input.yaml", std::string(bytes), {.trees = trees});
  }
}

}  // namespace espalier::fuzz
