// Objects that collide, are too many, or hold what no cluster has.
#include <gmock/gmock.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::cluster_objects_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ClusterText, NoObjectOfAnyKindIsThereTwice) {
  const auto object = [](const std::string& version, const std::string& kind,
                         const std::string& name_space = "") {
    return fmt::format(R"({{"apiVersion": "{}", "kind": "{}", "metadata": {{"name": "x"{}}}}})",
                       version, kind,
                       name_space.empty() ? "" : R"(, "namespace": ")" + name_space + '"');
  };
  const auto twice = [](const std::string& one, const std::string& other) {
    return ErrorOf(TryRead(R"({"kind": "List", "items": [)" + one + "," + other + "]}"));
  };
  for (const auto& [version, kind] : {std::pair("batch/v1", "Job"),
                                      {"node.k8s.io/v1", "RuntimeClass"},
                                      {"scheduling.k8s.io/v1", "PriorityClass"},
                                      {"v1", "LimitRange"},
                                      {"jobset.x-k8s.io/v1alpha2", "JobSet"},
                                      {"apps/v1", "Deployment"},
                                      {"ray.io/v1", "RayCluster"}}) {
    EXPECT_THAT(twice(object(version, kind), object(version, kind, "default")),
                HasSubstr("it is in the input twice: f, object 1 and f, object 2"))
        << kind;
    EXPECT_THAT(twice(object(version, kind, "a"), object(version, kind, "b")),
                testing::Not(HasSubstr("twice")))
        << kind;
  }
  EXPECT_THAT(twice(object("scheduling.k8s.io/v1alpha2", "PodGroup"),
                    object("scheduling.run.ai/v2alpha2", "PodGroup")),
              testing::Not(HasSubstr("twice")));
}

// That whose name is first counts, wherever it is in the input.
TEST(ClusterText, OfTwoLimitRangesTheFirstByNameSetsTheDefaults) {
  const auto limit_range = [](const std::string& name, int cpu) {
    return fmt::format(
        "---\napiVersion: v1\nkind: LimitRange\nmetadata: {{name: {}}}\n"
        "spec: {{limits: [{{type: Container, defaultRequest: {{cpu: {}}}}}]}}\n",
        name, cpu);
  };
  const std::string workload =
      "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {name: w}\n"
      "spec: {podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c}]}}}]}\n";
  for (const std::string& text : {limit_range("a", 1) + limit_range("b", 9) + workload,
                                  limit_range("b", 9) + limit_range("a", 1) + workload}) {
    const auto read = TryRead(text);
    ASSERT_TRUE(read) << ErrorOf(read);
    EXPECT_EQ(read->cluster.workloads.at(0).pod_sets.at(0).pod_template.requests,
              (Resources{{"cpu", 1000}}));
  }
}

// YAML may begin so, and the YAML parser does not take as much as the JSON parser.
TEST(ClusterText, LongJsonBehindAHeaderOfYaml) {
  std::string list = R"({"kind": "List", "items": [)" + NodeJson("a");
  for (int i = 0; i < 40'000; ++i) list += "," + NodeJson(fmt::format("node-{}", i));
  list += "]}";
  ASSERT_GT(list.size(), std::size_t{2} << 20);
  for (const char* header : {"---\n", "# saved 2026\n\n", "\r\n  # a\r\n---\r\n# b\n"}) {
    const auto read = TryRead(header + list);
    ASSERT_TRUE(read) << ErrorOf(read);
    EXPECT_EQ(read->cluster.nodes.size(), 40'001u);
  }
  const std::string after = "---\nkind: Node\nmetadata: {name: b}\n";
  EXPECT_THAT(Names(TryRead("---\n" + NodeJson("a") + "\n" + after)), ElementsAre("a", "b"));
  EXPECT_THAT(ErrorOf(TryRead("a: b\n" + after + "---\n" + list)),
              HasSubstr("it is not valid YAML: line 5, column 1: behind this, a scalar"));
}

TEST(ClusterText, NothingAtAllIsAWarning) {
  for (const char* text : {"", " \n", "# all of it\n---\n# is a comment\n"}) {
    const auto read = TryRead(text);
    ASSERT_TRUE(read) << ErrorOf(read);
    EXPECT_EQ(read->diagnostics.RenderWarnings(),
              "f: it holds nothing, or comments alone; want what `kubectl get ... -o json` or `-o "
              "yaml` prints");
  }
  for (const char* text : {R"({"kind": "List", "items": []})", R"({"kind": "Service"})"}) {
    const auto read = TryRead(text);
    ASSERT_TRUE(read) << ErrorOf(read);
    EXPECT_THAT(read->diagnostics.warnings(), IsEmpty());
  }
}

TEST_F(Folder, OnlyFilesThatAreNamedAreToHoldSomething) {
  const std::string empty = Write("folder/empty.yaml", "");
  const auto in_folder = ReadClusterFiles({(path_ / "folder").string()});
  ASSERT_TRUE(in_folder) << ErrorOf(in_folder);
  EXPECT_THAT(in_folder->diagnostics.warnings(), IsEmpty());
  const auto named = ReadClusterFiles({empty});
  ASSERT_TRUE(named) << ErrorOf(named);
  EXPECT_THAT(named->diagnostics.RenderWarnings(), HasSubstr(empty + ": it holds nothing"));
}

// Each is counted, and the place of the first ones is looked for.
TEST(ClusterText, ManyBadTextsTakeNoLongerThanTheFirst) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "{x}\n";
  EXPECT_THAT(ErrorOf(TryRead(text)), HasSubstr("and 299900 more errors"));
}

TEST(ClusterText, NodesHoldNothingNegative) {
  EXPECT_EQ(
      ErrorOf(TryRead(R"({"kind": "Node", "metadata": {"name": "a"},
                             "status": {"allocatable": {"cpu": "8", "memory": "-1Gi"}}})")),
      "f: Node a: status.allocatable.memory: it is negative, got \"-1Gi\"; want a quantity of "
      "0 or more");
}

TEST(ClusterText, QuotasAreNotNegative) {
  for (const std::string field : {"nominalQuota", "borrowingLimit"}) {
    const std::string error = ErrorOf(TryRead(R"({"apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"resourceGroups": [
          {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [
            {"name": "cpu", ")" + field + R"(": "-5"}]}]}]}})"));
    EXPECT_THAT(
        error, HasSubstr("ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0]." + field +
                         ": it is negative, got \"-5\"; want a quantity of 0 or more"));
  }
}

TEST(ClusterText, TheFewestPodsAreNoMoreThanAll) {
  for (const auto& [least, is_wrong] : {std::pair(0, true), {1, false}, {3, false}, {4, true}}) {
    const std::string error = ErrorOf(TryRead(fmt::format(
        R"({{"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {{
          "name": "w", "namespace": "n"}}, "spec": {{"podSets": [
            {{"name": "main", "count": 3, "minCount": {}}}]}}}})",
        least)));
    EXPECT_EQ(error.find("spec.podSets[0].minCount: it is not among the counts of the pod set") !=
                  std::string::npos,
              is_wrong)
        << least << ": " << error;
  }
}

// 7 KB each, with their templates and answers.
TEST(ClusterText, UnitsOfReplicasTakeTheirMemory) {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
      "spec: {replicas: 20000, template: {spec: {containers: [{name: c}]}}}";
  const auto read = ReadClusterText("f", deployment, {.max_input = 1 << 20});
  EXPECT_THAT(ErrorOf(read), HasSubstr("there is no memory left for what it"));
}

}  // namespace
}  // namespace espalier::cluster_objects_test
