// Reading JSON in pieces: where it is cut, and that it changes nothing but time and memory.
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/json_splitter.hpp"
#include "host/readers/kept_fields.hpp"
#include "tests/sanitizers.hpp"

namespace espalier::json_pieces_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The pieces of a text that comes in blocks of `block` bytes, those of items with a star; nothing
// but "refused" where it cannot be cut.
std::vector<std::string> Split(std::string_view text, std::size_t piece_bytes, std::size_t block) {
  JsonSplitter splitter(piece_bytes, 0);
  std::vector<JsonPiece> pieces;
  bool sound = true;
  for (std::size_t at = 0; at < text.size() && sound; at += block) {
    sound = splitter.Add(text.substr(at, block), pieces);
  }
  if (!sound || !splitter.Complete()) return {"refused"};
  std::vector<std::string> texts;
  for (const JsonPiece& piece : pieces) texts.push_back((piece.is_items ? "*" : "") + piece.text);
  return texts;
}

TEST(JsonSplitter, CutsBetweenItemsWhereverABlockEnds) {
  const std::string text = R"( {"a": [{}, 1], "items" : [ {"b": "]\\\"},{"} , {"items": [1]},[{}]
], "c": {"items": [{}, {}]}} {"d": 1}
)";
  for (std::size_t block = 1; block <= text.size(); ++block) {
    EXPECT_THAT(
        Split(text, 1, block),
        ElementsAre(R"(*{"items":[ {"b": "]\\\"},{"} ]})", R"(*{"items":[ {"items": [1]}]})",
                    "*{\"items\":[[{}]\n]}",
                    R"({"a": [{}, 1], "items" : [], "c": {"items": [{}, {}]}})", R"({"d": 1})"))
        << block;
    EXPECT_THAT(
        Split(text, 1000, block),
        ElementsAre("*{\"items\":[ {\"b\": \"]\\\\\\\"},{\"} , {\"items\": [1]},[{}]\n]}",
                    R"({"a": [{}, 1], "items" : [], "c": {"items": [{}, {}]}})", R"({"d": 1})"))
        << block;
  }
}

TEST(JsonSplitter, CutsOnlyTheListOfThatName) {
  for (const char* text :
       {R"({"items": {"a": [1, 2]}})", R"({"a": "items", "b": [{}, {}]})", R"({"Items": [{}, {}]})",
        R"({"items": 1, "a": [{}, {}]})", R"({"items": []})"}) {
    EXPECT_THAT(Split(text, 1, 1000), ElementsAre(text));
  }
  EXPECT_THAT(Split(R"({"items": [{}], "items": [{}, {}]})", 1, 1000),
              ElementsAre(R"(*{"items":[{}]})", R"({"items": [], "items": [{}, {}]})"));
}

// Each piece would be sound, the whole is not.
TEST(JsonSplitter, RefusesACommaWithoutAnItem) {
  EXPECT_THAT(Split(R"({"items": [{}, ]})", 1, 1000), ElementsAre("refused"));
  EXPECT_THAT(Split(R"({"items": [{},,{}]})", 1, 1000),
              ElementsAre(R"(*{"items":[{}]})", R"(*{"items":[,{}]})", R"({"items": []})"));
}

TEST(JsonSplitter, RefusesWhatIsNoObject) {
  for (const char* text : {"[]", "1", "kind: Node", "{} x", "{", "{\"a", "{\"a\\", R"({"items": [)",
                           R"({"items": [{}, {)"}) {
    EXPECT_THAT(Split(text, 1, 1000), ElementsAre("refused")) << text;
  }
  EXPECT_THAT(Split(" \n ", 1, 1000), IsEmpty());
}

std::string KeptOf(const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  EXPECT_EQ(parser.parse(json).get(root), simdjson::SUCCESS);
  std::string kept;
  AppendKeptFields(root, kept);
  return kept;
}

TEST(KeptFields, LeavesOutWhatNobodyReads) {
  EXPECT_EQ(KeptOf(R"({"kind": "Node", "metadata": {"name": "a", "managedFields": [{}],
                       "annotations": {"b": "c"}}, "spec": {"podCIDR": 1, "taints": [{"key": "d"}]},
                       "status": {"images": [1], "conditions": [{"type": "Ready", "message": ""}],
                       "allocatable": {"cpu": 1.0, "x": 18446744073709551615, "y": -1}}})"),
            R"({"kind":"Node","metadata":{"name":"a"},"spec":{"taints":[{"key":"d"}]},)"
            R"("status":{"conditions":[{"type":"Ready"}],)"
            R"("allocatable":{"cpu":1.0,"x":18446744073709551615,"y":-1}}})");
  EXPECT_EQ(KeptOf(R"({"kind": "Pod", "metadata": {"annotations": {"b": "c"}},
                       "spec": {"volumes": [], "containers": [{"name": "a", "env": []}, 1]}})"),
            R"({"kind":"Pod","metadata":{"annotations":{"b":"c"}},)"
            R"("spec":{"containers":[{"name":"a"},1]}})");
  EXPECT_EQ(KeptOf(R"({"kind": "Other", "metadata": {"managedFields": {}, "a": [null, true]},
                       "managedFields": "\u0000\"\\\u001fÄ"})"),
            R"({"kind":"Other","metadata":{"a":[null,true]},)"
            "\"managedFields\":\"\\u0000\\\"\\\\\\u001fÄ\"}");
  EXPECT_EQ(KeptOf(R"([{"metadata": {"managedFields": 1}}])"),
            R"([{"metadata":{"managedFields":1}}])");
}

// The tables of containers, metadata and conditions are shared by kinds that are not kept alike.
TEST(KeptFields, LeavesOutOfOtherKindsWhatTheirReadersPassOver) {
  const auto pod = [](const std::string& spec) {
    return KeptOf(R"({"kind":"Pod","spec":{"containers":[{"ports":[1],"args":[1]}],"volumes":[1])" +
                  spec + R"(},"status":{"conditions":[{"message":""}]}})");
  };
  EXPECT_EQ(pod(""), R"({"kind":"Pod","spec":{"containers":[{"ports":[1]}],"volumes":[1]},)"
                     R"("status":{}})");
  EXPECT_EQ(pod(R"(,"nodeName":"n")"),
            R"({"kind":"Pod","spec":{"containers":[{}],"nodeName":"n"},"status":{}})");
  const std::string rest =
      R"("spec":{"template":{"metadata":{"managedFields":[]},"spec":{"containers":[{"args":[1]}],)"
      R"("volumes":[]}}},"status":{"conditions":[{"message":""}],"images":[]}})";
  EXPECT_EQ(KeptOf(R"({"kind":"Job","metadata":{"annotations":{},"managedFields":[]},)" + rest),
            R"({"kind":"Job","metadata":{"annotations":{}},)" + rest);
}

std::string Outcome(const Result<ClusterRead>& read) {
  if (!read) return read.error().message;
  return read->diagnostics.RenderWarnings() + SkippedLine(read->facts);
}

void ExpectTheSameInPieces(const std::string& text) {
  const auto whole = ReadClusterText("f", text, {.keep_errors = true, .piece_bytes = 0});
  for (const std::size_t piece_bytes : {1, 100, 1 << 18}) {
    const auto read = ReadClusterText("f", text, {.keep_errors = true, .piece_bytes = piece_bytes});
    EXPECT_EQ(Outcome(read), Outcome(whole)) << text;
    if (!read || !whole) continue;
    EXPECT_EQ(read->diagnostics.RenderErrors(), whole->diagnostics.RenderErrors()) << text;
    EXPECT_TRUE(read->cluster == whole->cluster) << text;
    EXPECT_EQ(read->facts.objects, whole->facts.objects) << text;
  }
}

constexpr const char* kNode =
    R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "labels": {"a": "b"}},
        "status": {"allocatable": {"cpu": "1"}}})";
constexpr const char* kPod =
    R"({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "s"}})";

TEST(Pieces, ChangeNothing) {
  const auto list = [](const std::string& items) {
    return R"({"kind": "List", "items": [)" + items + R"(], "apiVersion": "v1"})";
  };
  const std::string node = kNode;
  const std::string pod = kPod;
  const std::string hostname =
      R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "h", "labels":
          {"kubernetes.io/hostname": "other"}}})";
  const std::string wrong =
      R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w", "labels": {"a": 1}},
          "spec": {"taints": {}}, "status": {"conditions": [{"type": 1}]}})";
  const std::string other = R"({"kind": "Event", "apiVersion": "v1"})";
  ExpectTheSameInPieces(list(node + "," + pod + "," + other + "," + hostname));
  ExpectTheSameInPieces(list(pod + "," + wrong + "," + node + "," + node + "," + wrong));
  ExpectTheSameInPieces(list(node) + list(pod) + pod + node);
  ExpectTheSameInPieces(list(list(node) + "," + pod + "," + list(pod)));
  ExpectTheSameInPieces(list("1, null, {}, []"));
  ExpectTheSameInPieces(list(node + ", {\"kind\": \"Node\", \"apiVersion\": \"v2/x\"}"));
  ExpectTheSameInPieces(list(""));
  ExpectTheSameInPieces(R"({"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata":
                            {"name": "a"}}, {"metadata": {"name": "b"}}, )" +
                        node + "]}");
  ExpectTheSameInPieces(R"({"kind": "ConfigMap", "items": [)" + node + "]}");
  ExpectTheSameInPieces(R"({"items": [)" + node + "]}");
  ExpectTheSameInPieces(R"({"kind": "List", "items": [)" + node + R"(], "items": [)" + pod + "]}");
  ExpectTheSameInPieces(R"({"kind": "List", "\u0069tems": [)" + node + R"(], "items": [)" + pod +
                        "]}");
}

TEST(Pieces, ChangeNoWarningAboutFields) {
  const auto pod = [](const std::string& spec, const std::string& status) {
    return R"({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "managedFields": [
               {"a": 1, "a": 2}], "managedFields": 1, "nam": 1}, "spec": {)" +
           spec + R"(, "nodeNam": 1}, "status": {)" + status + R"(, "phas": 1}})";
  };
  const std::string containers =
      R"("containers": [{"env": [{"a": 1, "a": 2}], "imag": "i", "ports": [{}], "ports": []}])";
  const std::string conditions =
      R"("conditions": [{"la{tProbeTime": 1}], "conditions": [], "containerStatuses": [{}, 1])";
  for (const char* node : {R"("nodeName": "n", )", ""}) {
    ExpectTheSameInPieces(pod(node + containers, conditions));
    ExpectTheSameInPieces(pod(node + std::string(R"("volumes": [], "volumes": [1])"), conditions));
  }
  ExpectTheSameInPieces(
      R"({"kind": "List", "apiVersion": "v1", "items": [{"kind": "Node", "apiVersion": "v1",
          "metadata": {"name": "n", "annotations": {"kueue.x-k8s.io/topolog": 1}, "label": {}},
          "status": {"images": [{"a": 1, "a": 2}], "conditions": [{"typ": 1, "message": 1,
          "message": 2}], "images": []}}]})");
}

TEST(Pieces, ChangeNoMessageAboutDamage) {
  const std::string text = std::string(R"({"kind": "List", "items": [)") + kNode + ",\n" + kPod +
                           "],\n\"metadata\": {}}\n";
  for (std::size_t n = 0; n < text.size(); ++n) {
    ExpectTheSameInPieces(text.substr(0, n));
    for (const char c : {'}', ']', ',', '"', '\\', '{', ':', 'x', '\xff'}) {
      std::string damaged = text;
      damaged[n] = c;
      ExpectTheSameInPieces(damaged);
    }
  }
  ExpectTheSameInPieces(std::string(R"({"kind": "List", "items": [)") + kNode +
                        R"(, {"kind": "Event", "a": 1e400}, {"kind": "Pod", "a": 1e400}]})");
}

TEST(Pieces, NestAsDeepAsWithout) {
  for (const int depth : {1020, 1021, 1022, 1023, 1024}) {
    ExpectTheSameInPieces(R"({"kind": "List", "items": [{"kind": "Event", "a": )" +
                          std::string(depth - 3, '[') + std::string(depth - 3, ']') + "}]}");
  }
}

// Sanitizers keep what is freed.
#if !defined(ESPALIER_SANITIZED)
class PiecesOfMuchInput : public testing::TestWithParam<bool> {};

// 128 MiB, in a file or through a pipe.
TEST_P(PiecesOfMuchInput, TakeLittleMemory) {
  constexpr int kNodes = 16 << 10;
  constexpr long kMostKiB = 48 << 10;
  const bool piped = GetParam();
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / fmt::format("espalier-pieces-{}", ::getpid());
  const auto write = [&] {
    const std::string annotation(8 << 10, 'x');
    std::ofstream file(path);
    file << R"({"kind": "List", "apiVersion": "v1", "items": [)";
    for (int i = 0; i < kNodes; ++i) {
      file << (i > 0 ? "," : "") << R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": ")"
           << i << R"(", "annotations": {"a": ")" << annotation << "\"}}}\n";
    }
    file << "]}";
  };
  std::thread writer;
  if (piped) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    writer = std::thread(write);
  } else {
    write();
  }
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  const long before = peak();
  const auto read = ReadClusterFiles({path.string()});
  if (piped) writer.join();
  std::filesystem::remove(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cluster.nodes.size(), static_cast<std::size_t>(kNodes));
  EXPECT_LT(peak() - before, kMostKiB);
}

INSTANTIATE_TEST_SUITE_P(FileAndPipe, PiecesOfMuchInput, testing::Bool());
#endif

// A list within the list has indexes of its own.
TEST(Pieces, ListsWithinListsHaveTheirOwnNodes) {
  const auto node = [](const std::string& name, int cpu, const std::string& more = "") {
    return fmt::format(R"({{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{}"{}}},
                            "status": {{"allocatable": {{"cpu": "{}"}}}}}})",
                       name, more, cpu);
  };
  const auto list = [](const std::string& kind, const std::string& items) {
    return R"({"apiVersion": "v1", "kind": ")" + kind + R"(", "items": [)" + items + "]}";
  };
  const std::string other_hostname = R"(, "labels": {"kubernetes.io/hostname": "other"})";
  const std::string pod = R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})";
  for (const std::string& text : {list("List", node("a", 8) + "," + list("NodeList", node("b", 2))),
                                  list("List", node("a", 8) + "," + node("b", 2, other_hostname) +
                                                   "," + list("PodList", pod))}) {
    const auto read = ReadClusterText("f", text);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->cluster.nodes.size(), 2u);
    EXPECT_EQ(read->cluster.nodes[0].name, "a");
    EXPECT_EQ(read->cluster.nodes[0].allocatable, (Resources{{"cpu", 8000}}));
    EXPECT_EQ(read->cluster.nodes[1].name, "b");
    EXPECT_EQ(read->cluster.nodes[1].allocatable, (Resources{{"cpu", 2000}}));
  }
}

}  // namespace
}  // namespace espalier::json_pieces_test
