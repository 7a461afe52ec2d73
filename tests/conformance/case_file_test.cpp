#include "host/conformance/case_file.hpp"

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace espalier::case_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CaseFile> Read(const std::string& path, std::uint64_t max_input = kMostInputBytes) {
  InputLimit limit(max_input);
  return ReadCaseFile(path, limit);
}

std::filesystem::path Scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / (std::to_string(getpid()) + name);
}

std::string Write(const std::string& name, const std::string& text) {
  const auto path = Scratch(name);
  std::ofstream(path) << text;
  return path.string();
}

std::string WriteGzip(const std::string& name, const std::string& text) {
  const auto path = Scratch(name).string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return path;
}

TEST(CaseFile, PlainAndGzipReadAlike) {
  const std::string text = "{\"a\":1}\n{\"b\":2}\n\n";
  EXPECT_THAT(Read(Write("plain", text))->lines, ElementsAre("{\"a\":1}", "{\"b\":2}"));
  EXPECT_THAT(Read(WriteGzip("gzip", text))->lines, ElementsAre("{\"a\":1}", "{\"b\":2}"));
}

TEST(CaseFile, BeyondTheLimitIsAnError) {
  const std::string text(1000, ' ');
  for (const std::string& path : {Write("long", text), WriteGzip("long.gz", text)}) {
    EXPECT_TRUE(Read(path, 1000));
    const auto file = Read(path, 999);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().error_class, ErrorClass::kBadInput);
    EXPECT_EQ(file.error().message,
              path +
                  ": the input is larger than 999 bytes in all, unpacked; want less, or a "
                  "higher --max-input");
  }
  // An empty line is a string like any other.
  EXPECT_FALSE(Read(Write("lines", std::string(1000, '\n')), 10'000));
  InputLimit limit(1999);
  EXPECT_TRUE(ReadCaseFile(Write("first", text), limit));
  EXPECT_FALSE(ReadCaseFile(Write("second", text), limit));
}

TEST(CaseFile, AbsentFileIsNotFound) {
  const auto file = Read("/no/such/file.jsonl");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().error_class, ErrorClass::kNotFound);
  EXPECT_THAT(file.error().message, HasSubstr("/no/such/file.jsonl: cannot be read: No such file"));
}

TEST(CaseFile, FolderAndTruncatedGzipAreErrors) {
  EXPECT_FALSE(Read(testing::TempDir()));

  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i * 7919 % 10'007) + "\n";
  const std::string path = WriteGzip("truncated", text);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto file = Read(path);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().error_class, ErrorClass::kBadInput);
  EXPECT_THAT(file.error().message, HasSubstr(path + ": the gzip stream is truncated"));
}

TEST(ReadCase, Placement) {
  const auto read = ReadCase(R"({"name":"p","gates":{"TASHandleOverlappingFlavors":false},
    "topology":{"name":"t","levels":["rack","kubernetes.io/hostname"]},
    "flavor":{"name":"f","nodeLabels":{"pool":"a"},"tolerations":[{"operator":"Exists"}]},
    "nodes":[{"metadata":{"name":"n1","labels":{"rack":"r1","kubernetes.io/hostname":"h1"}},
              "status":{"allocatable":{"cpu":"1500m","pods":"3"},
                        "conditions":[{"type":"Ready","status":"True"}]}}],
    "pods":[{"metadata":{"name":"d","namespace":"x"},"status":{"phase":"Running"},
             "spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"cpu":"100m"}}}]}},
            {"metadata":{"name":"e","namespace":"x"},"status":{"phase":"Failed"},
             "spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"cpu":"7"}}}]}}],
    "leafUsage":[{"leaf":"h1","tas":{"cpu":200,"pods":1},"nonTas":{"cpu":50}}],
    "assumedUsage":[{"leaf":"h1","usage":{"cpu":10}}],
    "request":{"simulateEmpty":true,"podSets":[{"count":2,"implied":true,"podSetGroup":"g",
      "podSet":{"name":"main","topologyRequest":{"required":"rack"},
                "template":{"spec":{"nodeSelector":{"disk":"ssd"}}}},
      "requests":{"cpu":300},
      "podSetUpdates":[{"name":"main","nodeSelector":{"zone":"a"}}],
      "previousAssignment":{"levels":["kubernetes.io/hostname"],"slices":[{"domainCount":1,
        "valuesPerLevel":[{"universal":"h1"}],"podCounts":{"universal":1}}]}}]},
    "expect":{"main":{"assignment":{"levels":["kubernetes.io/hostname"],
                                    "domains":[{"values":["h1"],"count":2}]}},"gone":{}}})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "p");
  const auto& placement = std::get<PlacementCase>(read->value);
  EXPECT_FALSE(placement.gates.handle_overlapping_flavors);
  EXPECT_FALSE(placement.cluster.share_usage_between_flavors);
  EXPECT_EQ(placement.cluster.nodes[0].allocatable, (Resources{{"cpu", 1500}, {"pods", 3}}));
  EXPECT_EQ(placement.cluster.flavors[0].topology_name, "t");
  EXPECT_THAT(
      placement.cluster.non_tas_usage,
      ElementsAre(NodeUsage{"n1", {{"cpu", 100}, {"pods", 1}}}, NodeUsage{"n1", {{"cpu", 50}}}));
  EXPECT_THAT(placement.cluster.tas_usage,
              ElementsAre(FlavorLeafUsage{"f", "h1", {{"cpu", 200}, {"pods", 1}}}));
  EXPECT_TRUE(placement.request.simulate_empty);
  EXPECT_THAT(placement.request.assumed_usage, ElementsAre(LeafUsage{"h1", {{"cpu", 10}}}));
  const PodSetRequest& pod_set = placement.request.pod_sets[0];
  EXPECT_EQ(pod_set.flavor, "f");
  EXPECT_EQ(pod_set.count, 2);
  EXPECT_EQ(pod_set.requests, (Resources{{"cpu", 300}}));
  EXPECT_TRUE(pod_set.implied);
  EXPECT_EQ(pod_set.group, "g");
  EXPECT_EQ(pod_set.topology_request->required, "rack");
  EXPECT_EQ(pod_set.pod_template.node_selector, (StringMap{{"disk", "ssd"}}));
  EXPECT_EQ(pod_set.updates[0].node_selector, (StringMap{{"zone", "a"}}));
  EXPECT_EQ(pod_set.previous_assignment->domains[0].values[0], "h1");
  EXPECT_FALSE(placement.request.replacement);
  EXPECT_EQ(placement.any_of[0].Find("main")->assignment->domains[0].count, 2);
  EXPECT_EQ(*placement.any_of[0].Find("gone"), ExpectedPodSet{});
}

TEST(ReadCase, UsageOfOthersIsBookedOnAnAvailableNodeOfTheLeaf) {
  const auto read = ReadCase(R"({"name":"p","topology":{"name":"t","levels":["block","rack"]},
    "flavor":{"name":"f"},"nodes":[
      {"metadata":{"name":"n1","labels":{"block":"b","rack":"r"}},"status":{}},
      {"metadata":{"name":"n2","labels":{"block":"b","rack":"r"}},
       "status":{"conditions":[{"type":"Ready","status":"True"}]}}],
    "leafUsage":[{"leaf":"b,r","nonTas":{"cpu":50}},{"leaf":"b,gone","nonTas":{"cpu":1}}],
    "request":{"podSets":[]},"expect":{}})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(std::get<PlacementCase>(read->value).cluster.non_tas_usage,
              ElementsAre(NodeUsage{"n2", {{"cpu", 50}}}));
}

TEST(ReadCase, UnknownFieldsAreErrors) {
  const std::string line = R"({"name":"p","topology":{"name":"t","levels":["l"]},
    "flavor":{"name":"f"},"request":{"podSets":[{"requests":{"cpu":1},"podSet":{"name":"main"}}]},
    "leafUsage":[{"leaf":"a"}],"expect":{"main":{}},
    "victims":[{"name":"v","usage":[{"leaf":"a","usage":{"cpu":1}}]}],
    "expectVictims":{"fits":true,"prefix":1,"targets":["v"],"result":{"main":{}}}})";
  ASSERT_TRUE(ReadCase(line));
  for (const std::string before :
       {R"("name":"p")", R"("name":"t")", R"("name":"f")", R"("podSets":)", R"("requests":)",
        R"("leaf":"a"})", R"("name":"v")", R"("leaf":"a","usage")", R"("fits":)"}) {
    std::string wrong = line;
    wrong.insert(wrong.find(before), R"("vicitms":1,)");
    const auto read = ReadCase(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_THAT(read.error().message, HasSubstr("vicitms: cases have no field vicitms"));
  }
}

TEST(ReadCase, VictimsInOrder_R29_3) {
  const auto read = ReadCase(R"({"name":"p","topology":{"name":"t","levels":["l"]},
    "flavor":{"name":"f"},"request":{"podSets":[]},"expect":{},
    "victims":[{"name":"b","usage":[{"leaf":"x","usage":{"cpu":2,"pods":1}}]},{"name":"a"}],
    "expectVictims":{"fits":true,"prefix":2,"targets":["a","b"],"result":{"main":{}}}})");
  ASSERT_TRUE(read) << read.error().message;
  const auto& what_if = std::get<PlacementCase>(read->value).what_if;
  ASSERT_TRUE(what_if);
  EXPECT_THAT(what_if->victims,
              ElementsAre(Victim{"b", {{"f", "x", {{"cpu", 2}, {"pods", 1}}}}}, Victim{"a", {}}));
  EXPECT_TRUE(what_if->fits);
  EXPECT_EQ(what_if->prefix, 2u);
  EXPECT_THAT(what_if->targets, ElementsAre("a", "b"));
  EXPECT_EQ(*what_if->result.Find("main"), ExpectedPodSet{});
}

std::string ReplacementLine(const std::string& metadata) {
  return R"({"name":"p","topology":{"name":"t","levels":["l"]},"flavor":{"name":"f"},
    "request":{"podSets":[],"workload":{"metadata":{"name":"w")" +
         metadata + R"(},"status":{"unhealthyNodes":[{"name":"x6"}],"admission":{
      "clusterQueue":"","podSetAssignments":[{"name":"main","count":1}]}}}},"expect":{}})";
}

TEST(ReadCase, ReplacementKnowsItsOwner_R17_2) {
  const auto owned = [](const std::string& metadata) {
    const auto read = ReadCase(ReplacementLine(metadata));
    EXPECT_TRUE(read) << read.error().message;
    const auto& replacement = std::get<PlacementCase>(read->value).request.replacement;
    EXPECT_THAT(replacement->unhealthy_nodes, ElementsAre("x6"));
    EXPECT_EQ(replacement->admitted[0].name, "main");
    return replacement->owned_by_single_pod;
  };
  const std::string pod = R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"})";
  EXPECT_FALSE(owned(""));
  EXPECT_TRUE(owned(R"(,"ownerReferences":[)" + pod + "]"));
  EXPECT_FALSE(owned(R"(,"ownerReferences":[)" + pod + "," + pod + "]"));
  EXPECT_FALSE(owned(R"(,"ownerReferences":[)" + pod +
                     R"(],"annotations":{"kueue.x-k8s.io/is-group-workload":"true"})"));
  EXPECT_TRUE(owned(R"(,"ownerReferences":[)" + pod +
                    R"(],"annotations":{"kueue.x-k8s.io/is-group-workload":"yes"})"));
}

TEST(ReadCase, Ungate) {
  const auto read = ReadCase(R"({"name":"u","ungate":{"offset":1,"maxRank":5,
    "podSetAssignment":{"name":"main","count":2,"topologyAssignment":{"levels":["rack"],
      "slices":[{"domainCount":2,"valuesPerLevel":[{"individual":{"roots":["a","b"]}}],
                 "podCounts":{"universal":1}}]}},
    "topologyRequest":{"podIndexLabel":"i"},
    "pods":[{"name":"p","gated":true,"labels":{"i":"1"}},{"name":"q","nodeSelector":{"rack":"b"}}]
    },"expectUngate":{"p":"a"}})");
  ASSERT_TRUE(read) << read.error().message;
  const auto& ungate = std::get<UngateCase>(read->value);
  EXPECT_EQ(ungate.pod_set.assignment.domains[1].values[0], "b");
  EXPECT_EQ(ungate.pod_set.offset, 1);
  EXPECT_EQ(ungate.pod_set.max_rank, 5);
  EXPECT_EQ(ungate.pod_set.pods[0].scheduling_gates.size(), 1u);
  EXPECT_TRUE(ungate.pod_set.pods[1].scheduling_gates.empty());
  EXPECT_EQ(ungate.expected, (StringMap{{"p", "a"}}));
}

TEST(ReadCase, Encode) {
  const auto read = ReadCase(R"({"name":"e","encode":{"levels":["rack"],
    "domains":[{"values":["a"],"count":1},{"values":["b"],"count":2}]},
    "expectEncoded":{"levels":["rack"],"slices":[{"domainCount":2,
      "valuesPerLevel":[{"individual":{"roots":["a","b"]}}],"podCounts":{"individual":[1,2]}}]}})");
  ASSERT_TRUE(read) << read.error().message;
  const auto& encode = std::get<EncodeCase>(read->value);
  EXPECT_EQ(encode.expected, EncodeAssignment(encode.assignment, encode.gates));
}

TEST(ReadCase, ErrorsNameTheField) {
  const auto message = [](std::string_view line) {
    const auto read = ReadCase(line);
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(message("{\"name\":"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(message("{\"name\":\"x\"}"), HasSubstr("one of request, ungate and encode"));
  EXPECT_THAT(message(R"({"name":"x","encode":{},"expectEncoded":[]})"),
              HasSubstr("expectEncoded"));
  EXPECT_THAT(message(R"({"name":"x","gates":{"TASProfilMixed":true},"encode":{},
                          "expectEncoded":{}})"),
              HasSubstr("did you mean TASProfileMixed"));
  EXPECT_THAT(message(R"({"name":"x","encode":{"levels":["a"],"domains":[{"values":[],"count":1}]},
                          "expectEncoded":{}})"),
              HasSubstr("encode.domains[0]"));
  EXPECT_THAT(message(R"({"name":"x","topology":{"name":"t","levels":["l"]},"flavor":{"name":"f"},
                          "request":{"podSets":[{"podSet":{"name":"m"},"count":1,
                            "requests":{"cpu":"1"}}]},"expect":{}})"),
              HasSubstr("request.podSets[0].requests.cpu"));
}

constexpr std::string_view kHeader = R"({"sequence":"s","mode":"sequential","gates":null,
  "topology":"t","grid":{"levels":[{"key":"block","prefix":"b","fanout":2},
    {"key":"rack","prefix":"r","fanout":3},{"key":"kubernetes.io/hostname","prefix":"n","fanout":4}],
    "allocatable":{"cpu":"4","pods":"10"}},
  "prefill":{"seed":85,"percent":100,"slots":8,"perSlot":{"cpu":100}},
  "shapes":[{"requests":{"cpu":1},"topologyRequest":{"required":"rack"},
             "leaderRequests":{"cpu":2}}]})";

TEST(ReadSequence, GridIsAFullTree) {
  EXPECT_TRUE(IsSequenceHeader(kHeader));
  EXPECT_FALSE(IsSequenceHeader("{\"gang\":0}"));
  const auto sequence = ReadSequenceHeader(kHeader);
  ASSERT_TRUE(sequence) << sequence.error().message;
  EXPECT_EQ(sequence->mode, PlacementMode::kSequential);
  EXPECT_THAT(sequence->cluster.topologies[0].levels,
              ElementsAre("block", "rack", "kubernetes.io/hostname"));
  ASSERT_EQ(sequence->cluster.nodes.size(), 24u);
  const Node& node = sequence->cluster.nodes[17];
  EXPECT_EQ(node.name, "n17");
  EXPECT_EQ(node.labels,
            (StringMap{{"block", "b1"}, {"kubernetes.io/hostname", "n17"}, {"rack", "r1"}}));
  EXPECT_TRUE(node.ready);
}

TEST(ReadSequence, PrefillFollowsSplitMix64) {
  const auto sequence = ReadSequenceHeader(kHeader);
  const auto& usage = sequence->cluster.tas_usage;
  ASSERT_EQ(usage.size(), 24u);
  // The first output of splitmix64 from state 85 + 1 decides node n1, independently computed.
  std::uint64_t x = 86 + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  const auto slots = static_cast<Amount>(1 + (x >> 8) % 8);
  EXPECT_EQ(usage[1], (FlavorLeafUsage{"default", "n1", {{"cpu", 100 * slots}, {"pods", slots}}}));
}

TEST(ReadSequence, GangTakesItsShape) {
  const auto sequence = ReadSequenceHeader(kHeader);
  const auto gang = ReadGang(
      R"({"gang":7,"shape":0,"count":5,"expect":{"main":{"digest":"00","domains":3}}})", *sequence);
  ASSERT_TRUE(gang) << gang.error().message;
  EXPECT_EQ(gang->number, 7);
  EXPECT_EQ(gang->request.pod_sets[0].count, 5);
  EXPECT_EQ(gang->request.pod_sets[1].name, "leader");
  EXPECT_EQ(gang->request.pod_sets[1].count, 1);
  EXPECT_EQ(gang->request.pod_sets[1].group, gang->request.pod_sets[0].group);
  EXPECT_EQ(*gang->placed.Find("main"), (AssignmentDigest{"00", 3}));

  const auto unknown = ReadGang(R"({"gang":1,"shape":1,"count":5,"expect":{}})", *sequence);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("less than 1"));
}

TEST(ReadSequence, AbsurdGridIsRefused) {
  for (const std::string fanouts : {"9000000000000000000,100", "-2,-3", "0,5", "2000,2001"}) {
    const std::size_t comma = fanouts.find(',');
    const auto sequence = ReadSequenceHeader(
        R"({"sequence":"s","mode":"nominate","topology":"t","grid":{"levels":[{"key":"a","fanout":)" +
        fanouts.substr(0, comma) + R"(},{"key":"b","fanout":)" + fanouts.substr(comma + 1) +
        "}]}}");
    ASSERT_FALSE(sequence) << fanouts;
    EXPECT_THAT(sequence.error().message, HasSubstr("1 to 4000000 nodes"));
  }
}

TEST(Digest, IsFnv1aOverTheDomains) {
  // FNV-1a 64 of the empty text and of "a:1;", from the published parameters.
  EXPECT_EQ(Digest({{"l"}, {}}), (AssignmentDigest{"cbf29ce484222325", 0}));
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : std::string("a,b:1;")) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211u;
  }
  std::ostringstream hex;
  hex << std::hex << std::setw(16) << std::setfill('0') << hash;
  EXPECT_EQ(Digest({{"l", "m"}, {{{"a", "b"}, 1}}}), (AssignmentDigest{hex.str(), 1}));
}

}  // namespace
}  // namespace espalier::case_file_test
