// YAML manifests: each document becomes valid JSON or an error.
#include <simdjson.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/yaml_to_json.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {

void RunOne(std::string_view bytes) {
  const auto texts = YamlToJson(bytes);
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
  std::ignore = ReadClusterText("input.yaml", std::string(bytes));
}

}  // namespace espalier::fuzz
