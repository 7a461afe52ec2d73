// Files, folders, formats and what goes wrong with them.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::cluster_files_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(ClusterText, OneObjectListTypedListAndStream) {
  EXPECT_THAT(Names(TryRead(NodeJson("a"))), ElementsAre("a"));
  EXPECT_THAT(
      Names(TryRead(R"({"kind": "List", "items": [)" + NodeJson("b") + "," + NodeJson("a") + "]}")),
      ElementsAre("b", "a"));
  EXPECT_THAT(Names(TryRead(R"({"kind": "NodeList", "apiVersion": "v1",
                             "items": [{"metadata": {"name": "a"}}]})")),
              ElementsAre("a"));
  EXPECT_THAT(Names(TryRead(NodeJson("a") + NodeJson("b") + "\n" +
                            R"({"kind": "List", "items": [)" + NodeJson("c") + "]}\n")),
              ElementsAre("a", "b", "c"));
}

TEST(ClusterText, Yaml) {
  EXPECT_THAT(Names(TryRead("kind: Node\nmetadata:\n  name: a\n---\nkind: List\nitems:\n- kind: "
                            "Node\n  metadata: {name: b}\n")),
              ElementsAre("a", "b"));
}

TEST(ClusterText, YamlAndJsonReadTheSame) {
  const auto yaml = TryRead(R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: team}
spec:
  podSets:
  - name: main
    count: 4
    topologyRequest: {unconstrained: yes}
    template:
      spec:
        nodeSelector: {gen: "7"}
        containers:
        - resources: {requests: {cpu: 0.5, memory: 1e9, nvidia.com/gpu: 8}}
)");
  const auto json = TryRead(R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "w", "namespace": "team"}, "spec": {"podSets": [{"name": "main", "count": 4,
      "topologyRequest": {"unconstrained": true}, "template": {"spec": {
        "nodeSelector": {"gen": "7"}, "containers": [{"resources": {"requests":
          {"cpu": "500m", "memory": "1G", "nvidia.com/gpu": "8"}}}]}}}]}})");
  ASSERT_TRUE(yaml.has_value()) << ErrorOf(yaml);
  ASSERT_TRUE(json.has_value()) << ErrorOf(json);
  EXPECT_EQ(yaml->cluster, json->cluster);
}

// A server reads what a client sent in this way.
TEST(ClusterText, ReadsWithinTheBudgetOfACall) {
  std::string json = R"({"kind": "List", "apiVersion": "v1", "items": [)" + NodeJson("n");
  std::string yaml;
  for (int i = 0; i < 20'000; ++i) {
    json += "," + NodeJson("n" + std::to_string(i));
    yaml += fmt::format("---\nkind: Pod\napiVersion: v1\nmetadata: {{name: p{}}}\n", i);
  }
  json += "]}";
  for (const std::string& text : {json, yaml, Gzip(json), Gzip(yaml)}) {
    WorkBudget enough(std::int64_t{1} << 30);
    int pauses = 0;
    enough.OnPause([&] { ++pauses; });
    enough.RequestPause();
    const auto read = ReadClusterText("f", text, {.budget = &enough});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_GT(pauses, 10);
    EXPECT_GT(enough.charged(), std::ssize(yaml));

    const auto error_with = [&](WorkBudget& budget, std::uint64_t most) {
      const auto failed = ReadClusterText("f", text, {.max_input = most, .budget = &budget});
      return failed ? Error{ErrorClass::kInternal, "no error"} : failed.error();
    };
    WorkBudget little(std::int64_t{1} << 20);
    EXPECT_EQ(error_with(little, kMostInputBytes).error_class, ErrorClass::kExhausted);
    // However far it has come when nobody waits for it any more.
    for (int wait = 0; wait < pauses; wait += 1 + pauses / 5) {
      WorkBudget cancelled;
      int left = wait;
      cancelled.OnPause([&] {
        if (left-- == 0) cancelled.Stop({ErrorClass::kCancelled, "nobody waits"});
      });
      cancelled.RequestPause();
      EXPECT_EQ(error_with(cancelled, kMostInputBytes).message, "nobody waits") << wait;
    }
    const Error too_large = error_with(enough, 100'000);
    EXPECT_EQ(too_large.error_class, ErrorClass::kExhausted);
    EXPECT_EQ(too_large.message, "f: is larger than 97.6 KiB, unpacked; ask for less at once");
  }
}

TEST(ClusterText, Gzip) {
  EXPECT_THAT(Names(TryRead(Gzip(NodeJson("a")))), ElementsAre("a"));
  EXPECT_THAT(Names(TryRead(Gzip(NodeJson("a")) + Gzip(NodeJson("b")))), ElementsAre("a", "b"));
  EXPECT_THAT(Names(TryRead(Gzip("kind: Node\nmetadata: {name: node-y}\n"))),
              ElementsAre("node-y"));
}

TEST(ClusterText, NothingIsAnEmptyCluster) {
  EXPECT_THAT(Names(TryRead("")), IsEmpty());
  EXPECT_THAT(Names(TryRead("\n  \n")), IsEmpty());
  EXPECT_THAT(Names(TryRead(R"({"kind": "List", "items": []})")), IsEmpty());
}

TEST(ClusterText, ByteOrderMarkIsIgnored) {
  EXPECT_THAT(Names(TryRead("\xEF\xBB\xBF" + NodeJson("a"))), ElementsAre("a"));
}

TEST(ClusterText, OtherKindsAreCountedAndSkipped) {
  const auto read = TryRead(R"({"kind": "List", "items": [{"kind": "Service"}, {"kind": "Service"},
      {"kind": "Workload", "apiVersion": "scheduling.k8s.io/v1alpha1", "metadata": {"name": "x"}},
      {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "plain"}}]})");
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_EQ(SkippedLine(read->facts),
            "skipped: 1 Job without Kueue labels or annotations, 2 Service, 1 "
            "Workload.scheduling.k8s.io");
  EXPECT_THAT(read->facts.objects, IsEmpty());
}

TEST(ClusterText, SmallKindsMayComeAfterThePodsThatNeedThem) {
  const auto read = TryRead(R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "n"},
                             "spec": {"runtimeClassName": "kata"}}
      {"kind": "RuntimeClass", "metadata": {"name": "kata"},
       "overhead": {"podFixed": {"cpu": "1"}}})");
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_EQ(read->cluster.pods.at(0).requests, (Resources{{"cpu", 1000}}));
}

TEST(ClusterText, LimitRangesCountForTemplatesAndNotForPods) {
  // A pod had them filled in when it was created, or was there before the LimitRange.
  const auto read = TryRead(R"(
kind: LimitRange
metadata: {name: l, namespace: team}
spec: {limits: [{type: Container, defaultRequest: {cpu: 1}}]}
---
kind: Pod
metadata: {name: p, namespace: team}
spec: {containers: [{name: c}]}
---
kind: Workload
metadata: {name: w, namespace: team}
spec: {podSets: [{template: {spec: {containers: [{name: c}]}}}]}
)");
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_EQ(read->cluster.pods.at(0).requests, Resources());
  EXPECT_EQ(read->cluster.workloads.at(0).pod_sets.at(0).pod_template.requests,
            (Resources{{"cpu", 1000}}));
}

TEST(ClusterText, PriorityComesFromTheClassWhenTheWorkloadHasNone) {
  const auto read = TryRead(R"({"kind": "Workload", "metadata": {"name": "w"},
        "spec": {"priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "prod"}}}
      {"kind": "WorkloadPriorityClass", "metadata": {"name": "prod"}, "value": 1000})");
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_EQ(read->cluster.workloads.at(0).priority, 1000);
}

// Kubernetes takes the lowest where two classes became the default at once.
TEST(ClusterText, TheLowestDefaultPriorityCounts) {
  const auto read = TryRead(R"(
{"kind": "PriorityClass", "metadata": {"name": "a"}, "value": 7, "globalDefault": true}
{"kind": "PriorityClass", "metadata": {"name": "b"}, "value": -3, "globalDefault": true}
{"kind": "PriorityClass", "metadata": {"name": "c"}, "value": 5, "globalDefault": true}
{"kind": "PriorityClass", "metadata": {"name": "d"}, "value": -9}
{"kind": "Job", "metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
 "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
)");
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_EQ(read->cluster.workloads.at(0).priority, -3);
}

TEST(ClusterText, AJobWithItsWorkloadIsNotReadTwice) {
  constexpr std::string_view kJob = R"({"kind": "Job", "metadata": {"name": "j", "namespace": "n",
      "uid": "u", "labels": {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {"template": {}}})";
  const auto workload = [](std::string_view owner) {
    return fmt::format(R"({{"kind": "Workload", "metadata": {{"name": "w", "namespace": "n",
        "ownerReferences": [{{"kind": "Job", {}}}]}}}})",
                       owner);
  };
  const auto count = [&](const std::string& text) {
    const auto read = TryRead(text);
    EXPECT_TRUE(read.has_value()) << ErrorOf(read);
    return read ? read->cluster.workloads.size() : 0;
  };
  const std::string job(kJob);
  EXPECT_EQ(count(job), 1u);
  EXPECT_EQ(count(job + workload(R"("name": "other", "uid": "u")")), 1u);
  EXPECT_EQ(count(job + workload(R"("name": "j")")), 1u);
  EXPECT_EQ(count(job + workload(R"("name": "other", "uid": "v")")), 2u);
}

// A client takes a missing namespace in the same way.
TEST(ClusterText, WithoutANamespaceItIsDefault) {
  const auto read = TryRead(R"(
{"kind": "LocalQueue", "metadata": {"name": "q"}, "spec": {"clusterQueue": "c"}}
{"kind": "LocalQueue", "metadata": {"name": "r", "namespace": ""}, "spec": {"clusterQueue": "c"}}
{"kind": "Workload", "metadata": {"name": "w", "namespace": "default",
                                  "ownerReferences": [{"kind": "Job", "name": "j"}]}}
{"kind": "Job", "metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
 "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}
{"kind": "LimitRange", "metadata": {"name": "l"},
 "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}}
{"kind": "Workload", "metadata": {"name": "v"},
 "spec": {"podSets": [{"template": {"spec": {"containers": [{"name": "c"}]}}}]}}
{"kind": "Pod", "metadata": {"name": "p"}}
)");
  ASSERT_TRUE(read) << ErrorOf(read);
  const Cluster& cluster = read->cluster;
  EXPECT_EQ(cluster.local_queues.at(0).key, (ObjectKey{"default", "q"}));
  EXPECT_EQ(cluster.local_queues.at(1).key, (ObjectKey{"default", "r"}));
  EXPECT_EQ(cluster.pods.at(0).key, (ObjectKey{"default", "p"}));
  ASSERT_THAT(cluster.workloads, SizeIs(2)) << "the Job is that of w";
  EXPECT_EQ(cluster.workloads[1].key, (ObjectKey{"default", "v"}));
  EXPECT_EQ(cluster.workloads[1].pod_sets.at(0).pod_template.requests, (Resources{{"cpu", 1000}}));
  const auto twice = TryRead(R"({"kind": "Pod", "metadata": {"name": "p"}}
{"kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": {"nodeName": "n"}})");
  EXPECT_THAT(ErrorOf(twice), HasSubstr("it is in the input twice"));
}

// Samples that are meant for `kubectl create` have no names.
TEST(ClusterText, WithoutANameItIsNamedAfterItsGenerateName) {
  const auto read = TryRead(R"(
{"kind": "Node", "metadata": {"generateName": "n-"}}
{"kind": "Workload", "metadata": {"generateName": "job-"}}
{"kind": "Workload", "metadata": {"generateName": "job-", "namespace": "team"}}
{"kind": "Workload", "metadata": {"name": "", "generateName": "job-", "namespace": "default"}}
{"kind": "Workload", "metadata": {"name": "mine", "generateName": "job-"}}
)");
  ASSERT_TRUE(read) << ErrorOf(read);
  std::vector<std::string> names;
  for (const Workload& workload : read->cluster.workloads) names.push_back(workload.key.ToString());
  EXPECT_THAT(names,
              ElementsAre("default/job-?1", "team/job-?1", "default/job-?2", "default/mine"));
  EXPECT_THAT(Names(read), ElementsAre("n-?1"));
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "Pod", "metadata": {"generateName": "p-"}}
{"kind": "Pod", "metadata": {"generateName": "p-"}, "spec": {"nodeName": 3}})")),
              HasSubstr("f, object 2: Pod p-?2: spec.nodeName"));
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "Pod", "metadata": {"name": 3, "generateName": "p-"}})")),
              HasSubstr("metadata.name"));
}

// With another content it is not known which one counts; with the same it counts once.
TEST(ClusterText, TheSameObjectTwiceNamesBothPlaces) {
  const std::string other =
      R"({"kind": "Node", "metadata": {"name": "a"}, "spec": {"unschedulable": true}})";
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "List", "items": [)" + NodeJson("a") + "," +
                              NodeJson("b") + "," + other + "]}")),
              HasSubstr("f, object 3: Node a: it is in the input twice: f, object 1 and f, object "
                        "3"));
  const auto same = TryRead(R"({"kind": "List", "items": [)" + NodeJson("a") + "," + NodeJson("b") +
                            "," + NodeJson("a") + "]}");
  EXPECT_THAT(Names(same), ElementsAre("a", "b"));
  ASSERT_EQ(same->diagnostics.warnings().size(), 1u);
  EXPECT_THAT(ToString(same->diagnostics.warnings()[0]),
              HasSubstr("it is in the input twice with the same content, and counts once: f, "
                        "object 1 and f, object 3"));
}

TEST(ClusterText, EveryObjectsErrorsComeTogetherInInputOrder) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format(
        R"({{"kind": "Pod", "metadata": {{"name": "p{}"}}, "spec": {{"nodeName": 1}}}})", i);
  }
  const std::string error = ErrorOf(TryRead(text));
  EXPECT_THAT(error,
              AllOf(testing::StartsWith("f, object 1: Pod p0: spec.nodeName: it is not a "
                                        "string, got 1; want a string\nf, object 2: Pod p1: "),
                    testing::EndsWith("and 900 more errors")));
}

TEST(ClusterText, WarningsAndStrict) {
  const std::string text = R"(
kind: Node
metadata: {name: node, labels: {kubernetes.io/hostname: other}}
---
kind: ResourceFlavor
metadata: {name: f}
spec: {topologyName: gone, nodeLabels: {a: b}}
)";
  const auto read = TryRead(text);
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_THAT(
      read->diagnostics.RenderWarnings(),
      AllOf(
          HasSubstr("f, object 1: Node node: metadata.labels[kubernetes.io/hostname]: "),
          HasSubstr("f, object 2: ResourceFlavor f: spec.topologyName: this Topology is not in")));
  EXPECT_EQ(read->diagnostics.warning_count(), 2u);
  EXPECT_FALSE(TryRead(text, true).has_value());
}

TEST(ClusterText, DamagedInputIsAnError) {
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "Node", "metadata": {"name": )")),
              HasSubstr("f: it is not valid JSON: line 1, column 38: the text ends here"));
  EXPECT_THAT(ErrorOf(TryRead(NodeJson("a") + "\n" + R"({"kind": "Node")")),
              HasSubstr("line 2, column 16: the text ends here"));
  const std::string packed = Gzip(NodeJson("a"));
  EXPECT_THAT(ErrorOf(TryRead(packed.substr(0, packed.size() - 9))), HasSubstr("truncated"));
  EXPECT_THAT(ErrorOf(TryRead(packed.substr(0, 4) + "rubbish")), HasSubstr("gzip stream"));
  EXPECT_THAT(ErrorOf(TryRead("a: [")), HasSubstr("f: it is not valid YAML: "));
  EXPECT_THAT(ErrorOf(TryRead("only words")), HasSubstr("it is not a Kubernetes object"));
  EXPECT_THAT(ErrorOf(TryRead("{}")), HasSubstr("kind: it is missing"));
  EXPECT_THAT(ErrorOf(TryRead("[1]")), HasSubstr("it is not a Kubernetes object"));
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "List", "items": [3, {"kind": 7}]})")),
              AllOf(HasSubstr("it is not a Kubernetes object, got 3"), HasSubstr("kind")));
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "List", "items": {}})")),
              HasSubstr("items: it is not a list"));
  EXPECT_THAT(ErrorOf(TryRead(std::string(100000, '['))), HasSubstr("f: it is not valid JSON"));
  EXPECT_THAT(ErrorOf(TryRead(std::string("\x1f\x8b"))), HasSubstr("truncated"));
}

TEST(ClusterText, NullsAndRepeatedKeysAreHandled) {
  EXPECT_TRUE(TryRead(R"({"kind": "Node", "metadata": {"name": "a", "labels":
      {"kubernetes.io/hostname": null}}, "spec": null, "status": {"conditions": null}})")
                  .has_value());
  EXPECT_TRUE(TryRead(R"({"kind": "Job", "metadata": {"name": "a", "labels":
      {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": null}},
      "spec": {"template": {"metadata": {"annotations": null}}}})")
                  .has_value());
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [
      {"resources": {"requests": {"cpu": "1", "cpu": "-1"}}}]}})")),
              HasSubstr("it is negative"));
  EXPECT_THAT(ErrorOf(TryRead(R"({"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [
      {"resources": {"requests": {"cpu": null, "cpu": "-1"}}}]}})")),
              HasSubstr("it is negative"));
}

TEST(ClusterText, EveryCutOfAnInputIsHandled) {
  const std::string text = R"({"kind": "List", "items": [)" + NodeJson("a") + "]}";
  for (std::size_t n = 1; n < text.size(); ++n)
    EXPECT_FALSE(TryRead(text.substr(0, n)).has_value());
  const std::string packed = Gzip(text);
  for (std::size_t n = 2; n < packed.size(); ++n) {
    EXPECT_FALSE(TryRead(packed.substr(0, n)).has_value()) << n;
  }
}

TEST_F(Folder, IsReadRecursivelyInNameOrder) {
  Write("b.yaml", "kind: Node\nmetadata: {name: b}\n");
  Write("sub/c.json.gz", Gzip(NodeJson("c")));
  Write("a.json", NodeJson("a"));
  Write("z.yml", "kind: Node\nmetadata: {name: z}\n");
  Write("notes.txt", "not an input");
  const auto read = ReadClusterFiles({path_.string()});
  EXPECT_THAT(Names(read), ElementsAre("a", "b", "c", "z"));
  EXPECT_EQ(read->facts.files, 4u);
  EXPECT_THAT(read->facts.objects, ElementsAre(Pair("Node", 4u)));
}

TEST_F(Folder, WithoutInputIsAnError) {
  EXPECT_THAT(ErrorOf(ReadClusterFiles({path_.string()})), HasSubstr("the folder holds no input"));
}

TEST_F(Folder, FilesKeepTheOrderOfTheArgumentsAndNeedNoEnding) {
  const std::string b = Write("b", NodeJson("b"));
  const std::string a = Write("a", NodeJson("a"));
  EXPECT_THAT(Names(ReadClusterFiles({b, a})), ElementsAre("b", "a"));
}

TEST_F(Folder, DuplicatesOverTwoFilesNameBoth) {
  const std::string a = Write("a.json", NodeJson("n"));
  const std::string b = Write(
      "b.json", R"({"kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": true}})");
  EXPECT_THAT(ErrorOf(ReadClusterFiles({a, b})),
              HasSubstr("it is in the input twice: " + a + " and " + b));
}

TEST_F(Folder, AMissingFileIsNotFound) {
  const auto read = ReadClusterFiles({(path_ / "gone.json").string()});
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().error_class, ErrorClass::kNotFound);
  EXPECT_THAT(read.error().message, HasSubstr("gone.json: cannot be read: "));
}

TEST_F(Folder, DashIsStandardInput) {
  const std::string file = Write("in.json.gz", Gzip(NodeJson("from-stdin")));
  ASSERT_NE(std::freopen(file.c_str(), "rb", stdin), nullptr);
  EXPECT_THAT(Names(ReadClusterFiles({"-"})), ElementsAre("from-stdin"));
}

// A pipe can be read once only, and what is not JSON or not sound is read twice.
TEST_F(Folder, PipesAreReadAsFilesAre) {
  const std::string list = R"({"kind": "List", "items": [)" + NodeJson("a") + "," + NodeJson("b");
  const std::string long_list = list + "," + std::string(3 << 20, ' ');  // of several blocks
  for (const std::string& text :
       {list + "]}", long_list + NodeJson("c") + "]}", Gzip(list + "]}"),
        long_list + NodeJson("c") + ",]}", list, std::string(), std::string("kind: Node\n"),
        "kind: Node\nmetadata: {name: a}\n---" + std::string(3 << 20, '\n') +
            "kind: Node\nmetadata: {name: b}\n",
        list + R"(], "a": 1e400})"}) {
    const std::string file = Write("in", text);
    const std::string pipe = (path_ / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << text; });
    const auto of_pipe = ReadClusterFiles({pipe});
    writer.join();
    fs::remove(pipe);
    std::vector<std::string> expected = Names(ReadClusterFiles({file}));
    for (std::string& line : expected) {
      for (std::size_t at = 0; (at = line.find(file, at)) != line.npos; at += pipe.size()) {
        line.replace(at, file.size(), pipe);
      }
    }
    EXPECT_EQ(Names(of_pipe), expected) << text.substr(0, 200);
  }
}

TEST_F(Folder, ProgressReachesTheTotal) {
  const std::string a = Write("a.json", NodeJson("a"));
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> last;
  ASSERT_TRUE(ReadClusterFiles({a}, {}, [&](std::string_view phase, auto done, auto total) {
                last[std::string(phase)] = {done, total};
              }).has_value());
  EXPECT_THAT(last, SizeIs(2));
  for (const auto& [phase, progress] : last) EXPECT_EQ(progress.first, progress.second) << phase;
}

}  // namespace
}  // namespace espalier::cluster_files_test
