// The role hash of pods, by which Kueue tells the pods of a group apart. The hashes of the first
// test were recorded from Kueue's webhook.
#include "host/readers/sources/role_hash.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <simdjson.h>

namespace espalier::role_hash_test {
namespace {

std::string HashOf(const std::string& pod_spec) {
  simdjson::dom::parser parser;
  JsonValue spec;
  EXPECT_EQ(parser.parse(pod_spec).get(spec), simdjson::SUCCESS) << pod_spec;
  return RoleHash(spec);
}

// A PodSpec of one container with these resources.
std::string OneContainer(const std::string& resources, const std::string& more = "") {
  return R"({"containers": [{"name": "main", "image": "i", "resources": )" + resources + "}]" +
         more + "}";
}

TEST(RoleHash, IsThatOfKueue) {
  const std::pair<std::string, std::string> rows[] = {
      {OneContainer(R"({"requests": {"cpu": "1500m"}})"), "025f4178"},
      {OneContainer(R"({"requests": {"memory": "200M", "cpu": "0.25"}})"), "af1d3cf2"},
      {OneContainer(R"({"requests": {"cpu": 3, "memory": "2G"}})"), "fe706271"},
      {OneContainer(R"({"limits": {"cpu": "3"}})"), "5a03e517"},
      {OneContainer("{}"), "7aa6c7b8"},
      {R"({"containers": [{"name": "main"}]})", "7aa6c7b8"},
      {OneContainer(R"({"requests": {"cpu": "-1", "memory": "1Gi"}})"), "d8e222cd"},
      {OneContainer(R"({"requests": {"cpu": "2", "memory": "1Gi"}})",
                    R"(, "resources": {"requests": {"cpu": "6", "memory": "3Gi"},
                                       "limits": {"cpu": "8", "memory": "3Gi"}})"),
       "9f2fa637"},
      {OneContainer(R"({"requests": {"cpu": "1500m", "memory": "1500Mi"}})",
                    R"(, "resources": {"limits": {"cpu": "8", "memory": "3Gi"}})"),
       "681f01b7"},
      {OneContainer(R"({"requests": {"cpu": "500m", "memory": "2G"}})",
                    R"(, "nodeSelector": {"node.example/type": "gpu"},
                       "tolerations": [{"effect": "NoSchedule", "operator": "Exists", "key": "gpu"}],
                       "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                         {"nodeSelectorTerms": [{"matchExpressions":
                           [{"values": ["a"], "operator": "In", "key": "zone"}]}]}}})"),
       "e851ce3b"},
      {R"({"containers": [{"name": "main", "resources": {"requests": {"cpu": "4", "memory": "1Gi",
            "amd.com/gpu": "8"}, "limits": {"amd.com/gpu": "8"}}},
           {"name": "side", "resources": {"requests": {"cpu": "4", "memory": "2G"}}}],
          "initContainers": [{"name": "i0", "resources": {"requests": {"cpu": "5"}}},
           {"name": "s1", "restartPolicy": "Always",
            "resources": {"requests": {"cpu": "300m", "memory": "100Mi"}}},
           {"name": "i1", "resources": {"requests": {"cpu": "4", "memory": "10Gi"}}}]})",
       "74460fbf"},
      {OneContainer(R"({"requests": {"cpu": "0.25", "memory": "200M", "example.com/nic": "8"},
                        "limits": {"example.com/nic": "8"}})",
                    R"(, "runtimeClassName": "kata", "overhead": {"cpu": "75m"},
                       "nodeSelector": {"role": "r0"})"),
       "f86ee5b9"},
  };
  for (const auto& [spec, hash] : rows) EXPECT_EQ(HashOf(spec), hash) << spec;
}

TEST(RoleHash, SeesWhatBearsOnAdmissionAlone) {
  const std::string plain = HashOf(OneContainer(R"({"requests": {"cpu": "1"}})"));
  const std::string same[] = {
      OneContainer(R"({"requests": {"cpu": "1000m"}})"),
      OneContainer(R"({"requests": {"cpu": 1}})", R"(, "nodeName": "n", "restartPolicy": "Never")"),
      R"({"containers": [{"image": "other", "env": [], "resources": {"requests": {"cpu": "1"}}}]})"};
  for (const std::string& spec : same) EXPECT_EQ(HashOf(spec), plain) << spec;
  const std::string other[] = {
      OneContainer(R"({"requests": {"cpu": "1"}})", R"(, "priority": 0)"),
      OneContainer(R"({"requests": {"cpu": "1"}})", R"(, "tolerations": [])"),
      OneContainer(R"({"requests": {"cpu": "1"}})", R"(, "resourceClaims": [{"name": "c"}])"),
      OneContainer(R"({"requests": {"cpu": "1"}})", R"(, "topologySpreadConstraints": [])"),
      R"({"containers": [{"ports": [{"containerPort": 80}],
                          "resources": {"requests": {"cpu": "1"}}}]})"};
  for (const std::string& spec : other) EXPECT_NE(HashOf(spec), plain) << spec;
}

TEST(RoleHash, DoesNotDependOnTheOrderOfMembers) {
  const auto with_port = [](const std::string& port) {
    return HashOf(R"({"containers": [{"ports": [)" + port + "]}]}");
  };
  EXPECT_EQ(
      with_port(R"({"name": "http", "containerPort": 80})"),
      with_port(R"({"protocol": "TCP", "hostPort": 0, "containerPort": 80, "name": "http"})"));
  EXPECT_NE(with_port(R"({"containerPort": 80})"),
            with_port(R"({"containerPort": 80, "protocol": "UDP"})"));
  // A label may have the name of a member that comes first.
  EXPECT_EQ(HashOf(R"({"containers": [], "topologySpreadConstraints": [{"maxSkew": 1,
                       "labelSelector": {"matchLabels": {"key": "a", "app": "b"}}}]})"),
            HashOf(R"({"containers": [], "topologySpreadConstraints": [{
                       "labelSelector": {"matchLabels": {"app": "b", "key": "a"}}, "maxSkew": 1}]})"));
}

TEST(RoleHash, TakesWhatCannotBeRead) {
  for (const std::string spec :
       {R"([])", R"("text")", R"({"containers": [1, {"resources": 3}], "affinity": 7})",
        R"({"containers": {"a": 1}, "overhead": ["x"], "resources": {"requests": "all"}})",
        R"({"containers": [{"resources": {"requests": {"cpu": "many"}}, "ports": [null, 4]}]})"}) {
    EXPECT_EQ(HashOf(spec).size(), 8U) << spec;
  }
}

}  // namespace
}  // namespace espalier::role_hash_test
