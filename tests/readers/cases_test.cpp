// Every recorded case: its objects read without a finding, and both encodings of an assignment
// decode to the same (R19.1).
#include <filesystem>

#include <gtest/gtest.h>

#include "host/readers/input_bytes.hpp"
#include "host/readers/json_documents.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "tests/readers/json_text.hpp"

namespace espalier::cases_test {
namespace {

template <class Read>
void ForEach(JsonValue parent, std::string_view name, const ReadContext& context, Read read) {
  if (const auto list = ArrayMember(parent, name, context)) {
    for (const JsonValue item : *list) read(item);
  }
}

void ReadRequest(JsonValue request, const ReadContext& context) {
  if (const auto workload = Member(request, "workload")) ReadWorkload(*workload, context);
  ForEach(request, "podSets", context, [&](JsonValue entry) {
    if (const auto pod_set = Member(entry, "podSet")) ReadPodSet(*pod_set, context);
    if (const auto previous = Member(entry, "previousAssignment")) {
      ReadTopologyAssignment(*previous, context);
    }
    ForEach(entry, "podSetUpdates", context,
            [&](JsonValue update) { ReadPodSetUpdate(update, context); });
  });
}

// The number of assignments that came in both encodings.
int CompareEncodings(JsonValue line, const ReadContext& context) {
  const auto encode = Member(line, "encode");
  const auto expected = Member(line, "expectEncoded");
  if (encode && expected) {
    EXPECT_EQ(ReadTopologyAssignment(*encode, context), ReadTopologyAssignment(*expected, context));
    return 1;
  }
  int compared = 0;
  const auto expect = Member(line, "expect");
  if (!expect || !expect->is_object()) return 0;
  for (const auto [pod_set, answer] : Fields(*expect)) {
    const auto assignment = answer.is_object() ? Member(answer, "assignment") : std::nullopt;
    const auto encoded = answer.is_object() ? Member(answer, "encoded") : std::nullopt;
    if (!assignment || !encoded) continue;
    EXPECT_EQ(ReadTopologyAssignment(*assignment, context),
              ReadTopologyAssignment(*encoded, context));
    ++compared;
  }
  return compared;
}

TEST(RecordedCases, AreReadWithoutFindings) {
  Diagnostics diagnostics;
  simdjson::dom::parser parser;
  int lines = 0;
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ESPALIER_SOURCE_DIR) +
                                                               "/tests/data/cases")) {
    InputLimit limit(kMostInputBytes);
    const auto text = ReadUnpacked(entry.path().string(), limit);
    ASSERT_TRUE(text.has_value());
    for (const std::string_view document : SplitJsonDocuments(*text)) {
      JsonValue line;
      ASSERT_EQ(parser.parse(document.data(), document.size()).get(line), simdjson::SUCCESS);
      const std::string file = entry.path().filename();
      std::string_view name = "case";
      std::ignore = line["name"].get(name);
      const ReadContext context{diagnostics, file, line, "", name};
      ForEach(line, "nodes", context, [&](JsonValue node) { ReadNode(node, context); });
      ForEach(line, "pods", context, [&](JsonValue pod) { ReadPod(pod, context); });
      if (const auto request = Member(line, "request")) ReadRequest(*request, context);
      compared += CompareEncodings(line, context);
      ++lines;
    }
  }
  EXPECT_EQ(diagnostics.RenderErrors(), "");
  EXPECT_EQ(diagnostics.RenderWarnings(), "");
  EXPECT_GT(lines, 15000);
  EXPECT_GT(compared, 2000);
}

}  // namespace
}  // namespace espalier::cases_test
