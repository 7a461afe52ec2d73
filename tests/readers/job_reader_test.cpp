// A batch Job as the Workload that Kueue makes of it (R20.11, R22.9).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/kubernetes_objects.hpp"
#include "tests/readers/json_text.hpp"

namespace espalier::job_reader_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";

TEST(ReadJob, BecomesAWorkloadWithOnePodSet) {
  ClusterDefaults defaults;
  defaults.workload_priority_classes = {{"prod", 1000}};
  JsonText json(R"({"kind": "Job", "metadata": {"namespace": "n", "name": "j", "uid": "u",
        "creationTimestamp": "1970-01-01T00:01:00Z",
        "annotations": {"kueue.x-k8s.io/job-min-parallelism": "4"},
        "labels": {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "prod"}},
      "spec": {"parallelism": 12, "completions": 8, "suspend": true, "template": {
        "metadata": {"annotations": {
          "kueue.x-k8s.io/podset-required-topology": "example.com/rack",
          "kueue.x-k8s.io/podset-slice-required-topology": "kubernetes.io/hostname",
          "kueue.x-k8s.io/podset-slice-size": "2"}},
        "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}})");
  const Workload job = ReadJob(json.root(), json.context(), defaults);
  EXPECT_THAT(json.Errors(), IsEmpty());
  EXPECT_EQ(job.key, (ObjectKey{"n", "j"}));
  EXPECT_EQ(job.uid, "u");
  EXPECT_EQ(job.owners, (std::vector<OwnerReference>{{"batch/v1", "Job", "j", "u", true}}));
  EXPECT_EQ(job.creation_seconds, 60);
  EXPECT_EQ(job.queue_name, "q");
  EXPECT_EQ(job.priority, 1000);
  ASSERT_EQ(job.pod_sets.size(), 1u);
  EXPECT_EQ(job.pod_sets[0].name, "main");
  EXPECT_EQ(job.pod_sets[0].count, 8);  // never more pods than completions
  EXPECT_EQ(job.pod_sets[0].min_count, 4);
  EXPECT_EQ(job.pod_sets[0].pod_template.requests, (Resources{{"nvidia.com/gpu", 8}}));
  EXPECT_EQ(job.pod_sets[0].topology_request,
            (TopologyRequest{.required = "example.com/rack",
                             .slice_topology = "kubernetes.io/hostname",
                             .slice_size = 2,
                             .pod_index_label = kIndex}));
}

TEST(ReadJob, AFinishedJobIsAFinishedWorkload) {
  JsonText json(R"({"metadata": {"name": "j"}, "spec": {"template": {}}, "status": {
      "conditions": [{"type": "Complete", "status": "True"}]}})");
  EXPECT_TRUE(HasCondition(ReadJob(json.root(), json.context()), "Finished"));
}

TEST(ReadJob, RunningWithoutItsWorkloadIsAWarning) {
  JsonText json(R"({"metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
      "spec": {"template": {}}, "status": {"active": 2}})");
  ReadJob(json.root(), json.context());
  EXPECT_THAT(json.Warnings(), ElementsAre(HasSubstr("status: the Job has running pods")));
  JsonText of_others(
      R"({"metadata": {"name": "j"}, "spec": {"template": {}}, "status": {"active": 2}})");
  ReadJob(of_others.root(), of_others.context());
  EXPECT_THAT(of_others.Warnings(), IsEmpty());
}

TEST(ReadJob, PriorityOfThePodsWithoutALabel) {
  ClusterDefaults defaults;
  defaults.priority_classes = {{"high", 50}};
  defaults.default_priority = 3;
  JsonText named(R"({"metadata": {"name": "j"},
                     "spec": {"template": {"spec": {"priorityClassName": "high"}}}})");
  EXPECT_EQ(ReadJob(named.root(), named.context(), defaults).priority, 50);
  JsonText silent(R"({"metadata": {"name": "j"}, "spec": {"template": {"spec": {}}}})");
  EXPECT_EQ(ReadJob(silent.root(), silent.context(), defaults).priority, 3);
}

TEST(ReadJob, WithoutATemplateIsAnError) {
  JsonText json(R"({"metadata": {"name": "j"}, "spec": {}})");
  ReadJob(json.root(), json.context());
  EXPECT_THAT(json.Errors(), ElementsAre("spec.template: it is missing"));
}

TEST(IsKueueJob, NeedsALabelOrAnAnnotation) {
  JsonText labelled(R"({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}})");
  JsonText annotated(R"({"spec": {"template": {"metadata": {"annotations":
      {"kueue.x-k8s.io/podset-preferred-topology": "rack"}}}}})");
  JsonText plain(R"({"metadata": {"labels": {"app": "x"}}, "spec": {"template": {}}})");
  EXPECT_TRUE(IsKueueJob(labelled.root()));
  EXPECT_TRUE(IsKueueJob(annotated.root()));
  EXPECT_FALSE(IsKueueJob(plain.root()));
}

struct AnnotationsRead {
  std::optional<TopologyRequest> request;
  std::vector<std::string> errors;
};

// `annotations` without their prefix, as JSON members.
AnnotationsRead Read(std::vector<std::pair<std::string, std::string>> annotations,
                     std::string_view index_label = "") {
  std::string members;
  for (const auto& [name, value] : annotations) {
    if (!members.empty()) members += ',';
    members += fmt::format(R"("kueue.x-k8s.io/podset-{}": "{}")", name, value);
  }
  JsonText json(R"({"metadata": {"annotations": {)" + members + "}}}");
  AnnotationsRead read;
  read.request = ReadTopologyAnnotations(json.root(), index_label, json.context());
  for (const Diagnostic& error : json.diagnostics.errors()) read.errors.push_back(error.problem);
  return read;
}

TEST(TopologyAnnotations, R20_11) {
  EXPECT_EQ(Read({{"required-topology", "rack"}}).request, TopologyRequest{.required = "rack"});
  EXPECT_EQ(Read({{"preferred-topology", "rack"}}).request, TopologyRequest{.preferred = "rack"});
  EXPECT_EQ(Read({{"unconstrained-topology", "T"}}).request,
            TopologyRequest{.unconstrained = true});
  EXPECT_EQ(Read({{"unconstrained-topology", "false"}}).request,
            TopologyRequest{.unconstrained = false});
  EXPECT_EQ(Read({}).request, std::nullopt);
  EXPECT_EQ(Read({}, kIndex).request, TopologyRequest{.pod_index_label = kIndex});
  EXPECT_EQ(Read({{"slice-required-topology", "rack"}, {"slice-size", "4"}}).request,
            (TopologyRequest{.slice_topology = "rack", .slice_size = 4}));
  EXPECT_EQ(
      Read({{"slice-required-topology-constraints",
             R"([{\"topology\": \"rack\", \"size\": 8}, {\"topology\": \"host\", \"size\": 2}])"}})
          .request,
      (TopologyRequest{.slice_constraints = {{"rack", 8}, {"host", 2}}}));
  EXPECT_EQ(Read({{"required-topology", "rack"}, {"group-name", "g"}}).request,
            (TopologyRequest{.required = "rack", .pod_set_group_name = "g"}));
}

TEST(TopologyAnnotations, TheFirstOfThreeCounts) {  // R20.11
  EXPECT_EQ(Read({{"unconstrained-topology", "true"}, {"preferred-topology", "rack"}}).request,
            TopologyRequest{.preferred = "rack"});
  EXPECT_EQ(Read({{"required-topology", "zone"}, {"preferred-topology", "rack"}}).request,
            TopologyRequest{.required = "zone"});
}

TEST(TopologyAnnotations, HalfASlicePairAndALoneGroupSayNothing) {  // R20.11
  EXPECT_EQ(Read({{"slice-required-topology", "rack"}}).request, std::nullopt);
  EXPECT_EQ(Read({{"slice-size", "4"}}).request, std::nullopt);
  EXPECT_EQ(Read({{"group-name", "g"}}).request, std::nullopt);
}

TEST(TopologyAnnotations, NumbersAreReadAsGoDoes) {
  const auto read = Read({{"slice-required-topology", "rack"}, {"slice-size", "+4"}});
  EXPECT_THAT(read.errors, IsEmpty());
  EXPECT_EQ(read.request->slice_size, 4);
}

TEST(TopologyAnnotations, UnreadableValuesAreErrors) {
  EXPECT_THAT(Read({{"unconstrained-topology", "yes"}}).errors,
              ElementsAre("must be a boolean value"));
  for (const char* size : {"", "x", "1.5", "99999999999"}) {
    EXPECT_THAT(Read({{"slice-required-topology", "rack"}, {"slice-size", size}}).errors,
                ElementsAre("must be a numeric value"))
        << size;
  }
  for (const char* layers : {"nonsense", "{}", R"([{\"size\": 2.5}])", "[1]"}) {
    EXPECT_THAT(Read({{"slice-required-topology-constraints", layers}}).errors,
                ElementsAre(HasSubstr("must be a valid JSON array")))
        << layers;
  }
}

}  // namespace
}  // namespace espalier::job_reader_test
