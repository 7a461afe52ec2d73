// One test per rule of R23.1 to R23.11.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/webhooks/object_rules.hpp"

namespace espalier::template_validation_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kPrefix = "kueue.x-k8s.io/";
const std::string kRequired = kPrefix + "podset-required-topology";
const std::string kPreferred = kPrefix + "podset-preferred-topology";
const std::string kUnconstrained = kPrefix + "podset-unconstrained-topology";
const std::string kSliceTopology = kPrefix + "podset-slice-required-topology";
const std::string kSliceSize = kPrefix + "podset-slice-size";
const std::string kLayers = kPrefix + "podset-slice-required-topology-constraints";
const std::string kGroup = kPrefix + "podset-group-name";

const TemplateRules kAllRules;

PodSet MakePodSet(std::int32_t count, StringMap annotations) {
  PodSet pod_set;
  pod_set.name = "main";
  pod_set.count = count;
  pod_set.pod_template.annotations = std::move(annotations);
  return pod_set;
}

std::vector<Violation> Validate(const std::vector<PodSet>& pod_sets, bool elastic = false,
                                const TemplateRules& which = {.groups = false},
                                const FeatureGates& gates = {}) {
  return ValidatePodTemplates("Job ns/job", pod_sets, elastic, which, gates);
}

std::vector<Violation> Validate(const StringMap& annotations) {
  return Validate({MakePodSet(8, annotations)});
}

auto Says(const std::string& message) { return Field("message", &Violation::message, message); }
auto On(const std::string& key, const std::string& message) {
  return AllOf(Field("field", &Violation::field, EndsWith("[" + key + "]")), Says(message));
}

TEST(PodTemplates, SoundOnesHaveNoViolation) {
  EXPECT_THAT(Validate(StringMap{}), IsEmpty());
  EXPECT_THAT(Validate({{kRequired, "example.com/rack"}}), IsEmpty());
  EXPECT_THAT(Validate({{kPreferred, "rack"}, {kSliceTopology, "host"}, {kSliceSize, "8"}}),
              IsEmpty());
  EXPECT_THAT(Validate({{kLayers, R"([{"topology":"rack","size":8},{"topology":"h","size":2}])"}}),
              IsEmpty());
}

TEST(PodTemplates, AtMostOneTopology_R23_1) {
  const auto found = Validate({{kRequired, "a"}, {kUnconstrained, "true"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].object, "Job ns/job");
  EXPECT_EQ(found[0].field, "spec.podSets[0].template.metadata.annotations");
  EXPECT_EQ(found[0].message,
            "must not contain more than one topology annotation: "
            "[\"kueue.x-k8s.io/podset-required-topology\", "
            "\"kueue.x-k8s.io/podset-preferred-topology\", "
            "\"kueue.x-k8s.io/podset-unconstrained-topology\"]");
}

TEST(PodTemplates, LevelsAreLabelKeys_R23_2) {
  for (const std::string bad :
       {"", "-a", "a b", "a/b/c", "/a", "a/", "Ab_/c", "a..b/c",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    for (const std::string& key : {kRequired, kPreferred}) {
      const auto found = Validate({{key, bad}});
      ASSERT_FALSE(found.empty()) << bad;
      EXPECT_EQ(found[0].value, bad);
      EXPECT_THAT(found[0].message, ContainsRegex("must be|must consist of"));
    }
    EXPECT_FALSE(Validate({{kSliceTopology, bad}, {kSliceSize, "1"}}).empty()) << bad;
  }
}

TEST(PodTemplates, GroupIsNoNumber_R23_3) {
  const auto group = [](const std::string& name) {
    return Validate({{kGroup, name}, {kRequired, "rack"}});
  };
  EXPECT_THAT(group("12"), ElementsAre(On(kGroup, "must not be a number")));
  EXPECT_THAT(group("18446744073709551615"), ElementsAre(On(kGroup, "must not be a number")));
  EXPECT_THAT(group("18446744073709551616"), IsEmpty());
  EXPECT_THAT(group("-1"), IsEmpty());
  EXPECT_THAT(group("+1"), IsEmpty());
  EXPECT_THAT(group("g1"), IsEmpty());
}

TEST(PodTemplates, GroupBesideOtherAnnotations_R23_4) {
  EXPECT_THAT(
      Validate({{kGroup, "g"}, {kRequired, "rack"}, {kSliceTopology, "h"}, {kSliceSize, "1"}}),
      ElementsAre(
          On(kGroup, "may not be set when 'kueue.x-k8s.io/podset-slice-size' is specified"),
          On(kGroup,
             "may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is specified")));
  EXPECT_THAT(Validate({{kGroup, "g"}}),
              ElementsAre(On(kGroup,
                             "may not be set when neither "
                             "'kueue.x-k8s.io/podset-preferred-topology' nor "
                             "'kueue.x-k8s.io/podset-required-topology' is specified")));
}

TEST(PodTemplates, UnconstrainedIsABoolean_R23_5) {
  for (const std::string good : {"1", "t", "T", "TRUE", "true", "True", "0", "f", "False"}) {
    EXPECT_THAT(Validate({{kUnconstrained, good}}), IsEmpty()) << good;
  }
  for (const std::string bad : {"", "yes", "tRUE", " true"}) {
    EXPECT_THAT(Validate({{kUnconstrained, bad}}),
                ElementsAre(On(kUnconstrained, "must be a boolean value")));
  }
}

TEST(PodTemplates, SliceSize_R23_6) {
  const auto size = [](const std::string& text) {
    return Validate({{kSliceTopology, "rack"}, {kSliceSize, text}});
  };
  EXPECT_THAT(size("3"), IsEmpty());  // need not divide the count
  EXPECT_THAT(size("x"), ElementsAre(On(kSliceSize, "must be a numeric value")));
  EXPECT_THAT(size("2147483648"), ElementsAre(On(kSliceSize, "must be a numeric value")));
  EXPECT_THAT(size("0"), ElementsAre(On(kSliceSize, "must be greater than or equal to 1")));
  EXPECT_THAT(size("9"), ElementsAre(On(kSliceSize, "must not be greater than pod set count 8")));
}

TEST(PodTemplates, SlicePairStaysTogether_R23_7) {
  EXPECT_THAT(Validate({{kSliceTopology, "rack"}}),
              ElementsAre(On(kSliceSize,
                             "must be set when 'kueue.x-k8s.io/podset-slice-required-topology' is "
                             "specified")));
  EXPECT_THAT(
      Validate({{kSliceSize, "1"}}),
      ElementsAre(On(kSliceSize,
                     "may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is not "
                     "specified")));
}

TEST(PodTemplates, LayersNeedTheirGate_R23_8) {
  FeatureGates off;
  off.multi_layer_topology = false;
  EXPECT_THAT(
      Validate({MakePodSet(1, {{kLayers, "broken"}})}, false, {.groups = false}, off),
      ElementsAre(
          On(kLayers,
             "the TASMultiLayerTopology feature gate must be enabled to use this annotation")));
}

TEST(PodTemplates, LayersBesideOtherAnnotations_R23_8) {
  const std::string layers = R"([{"topology":"rack","size":1}])";
  EXPECT_THAT(
      Validate({{kLayers, layers}, {kSliceTopology, "rack"}, {kSliceSize, "1"}}),
      ElementsAre(
          On(kLayers,
             "may not be set when 'kueue.x-k8s.io/podset-slice-required-topology' is specified"),
          On(kLayers, "may not be set when 'kueue.x-k8s.io/podset-slice-size' is specified")));
  EXPECT_THAT(Validate({{kLayers, layers}, {kGroup, "g"}, {kRequired, "block"}}),
              ElementsAre(On(kGroup,
                             "may not be set when "
                             "'kueue.x-k8s.io/podset-slice-required-topology-constraints' is "
                             "specified")));
}

TEST(PodTemplates, LayersAreAShortJsonArray_R23_8) {
  EXPECT_THAT(Validate({{kLayers, "{"}})[0].message, StartsWith("must be a valid JSON array: "));
  EXPECT_THAT(Validate({{kLayers, R"([{"topology":"r","size":"1"}])"}})[0].message,
              StartsWith("must be a valid JSON array: "));
  const std::string one = R"({"topology":"r","size":1})";
  for (const std::string& text :
       {std::string("[]"), "[" + one + "," + one + "," + one + "," + one + "]"}) {
    EXPECT_THAT(
        Validate({{kLayers, text}}),
        ElementsAre(On(kLayers, "topology constraints must contain between 1 and 3 entries")));
  }
}

TEST(PodTemplates, EachLayerIsSound_R23_8) {
  const auto layers = [](const std::string& text) { return Validate({{kLayers, text}}); };
  EXPECT_THAT(layers(R"([{"topology":"a b","size":1}])")[0].message,
              StartsWith("name part must consist of"));
  EXPECT_THAT(layers(R"([{"topology":"a","size":0},{"topology":"b","size":0}])"),
              ElementsAre(Says("must be greater than or equal to 1"),
                          Says("must be greater than or equal to 1")));
  EXPECT_THAT(layers(R"([{"topology":"a","size":4},{"topology":"a","size":2}])"),
              ElementsAre(AllOf(Says("Duplicate value"),
                                Field("value", &Violation::value, "a (also at index 0)"))));
  const auto uneven = layers(R"([{"topology":"a","size":4},{"topology":"b","size":3}])");
  EXPECT_THAT(uneven, ElementsAre(Says("must evenly divide the parent layer size 4")));
  EXPECT_THAT(uneven[0].field, EndsWith("[1].size"));
  EXPECT_THAT(layers(R"([{"topology":"a","size":9}])"),
              ElementsAre(Says("must not be greater than pod set count 8")));
}

std::vector<Violation> ValidateGroup(const std::vector<PodSet>& pod_sets) {
  return Validate(pod_sets, false, kAllRules);
}

TEST(PodTemplates, GroupsHaveTwoPodSets_R23_9) {
  const PodSet member = MakePodSet(1, {{kGroup, "g"}, {kRequired, "rack"}});
  EXPECT_THAT(ValidateGroup({member, member}), IsEmpty());
  EXPECT_THAT(
      ValidateGroup({member}),
      ElementsAre(On(kGroup, "can only define groups of exactly 2 pod sets, got: 1 pod set(s)")));
  EXPECT_EQ(ValidateGroup({member, member, member}).size(), 3u);
}

TEST(PodTemplates, GroupsHaveALeader_R23_9) {
  EXPECT_THAT(ValidateGroup({MakePodSet(2, {{kGroup, "g"}, {kRequired, "rack"}}),
                             MakePodSet(3, {{kGroup, "g"}, {kRequired, "rack"}})}),
              ElementsAre(On(kGroup,
                             "can only define groups where at least one pod set has only 1 "
                             "replica, got: 2 replica(s) and 3 replica(s) in the group")));
}

TEST(PodTemplates, GroupsAskForOneTopology_R23_9) {
  const auto with = [](const std::string& key, const std::string& level) {
    return MakePodSet(1, {{kGroup, "g"}, {key, level}});
  };
  for (const PodSet& other : {with(kRequired, "block"), with(kPreferred, "rack")}) {
    const auto found = ValidateGroup({with(kRequired, "rack"), other});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].message,
              "must specify 'kueue.x-k8s.io/podset-required-topology' or "
              "'kueue.x-k8s.io/podset-preferred-topology' topology consistent with "
              "'spec.podSets[1].template.metadata.annotations' in group 'g'");
    EXPECT_THAT(found[1].message, HasSubstr("'spec.podSets[0].template"));
  }
  const PodSet none = MakePodSet(1, {{kGroup, "g"}});
  EXPECT_THAT(ValidateGroup({none, none}),
              Contains(Says("must specify 'kueue.x-k8s.io/podset-required-topology' or "
                            "'kueue.x-k8s.io/podset-preferred-topology' topology consistent with "
                            "'spec.podSets[1].template.metadata.annotations' in group 'g'")));
}

TEST(PodTemplates, ElasticJobsAreUnconstrained_R23_10) {
  EXPECT_THAT(Validate({MakePodSet(1, {{kRequired, "rack"}})}, true),
              ElementsAre(Says("required topology is not supported with elastic jobs")));
  const auto found = Validate({MakePodSet(1, {{kPreferred, "rack"}})}, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text,
            "spec.podSets[0].template.metadata.annotations.kueue.x-k8s.io/podset-preferred-topology"
            ": Forbidden: preferred topology is not supported with elastic jobs");
  EXPECT_THAT(Validate({MakePodSet(1, {{kUnconstrained, "true"}})}, true), IsEmpty());
}

TEST(PodTemplates, KindDecidesWhichRulesRun_R23_11) {
  const TemplateRules pod = TemplateRulesOf("Pod");
  EXPECT_THAT(Validate({MakePodSet(1, {{kSliceTopology, "rack"}, {kSliceSize, "9"}})}, false, pod),
              IsEmpty());
  EXPECT_THAT(Validate({MakePodSet(1, {{kLayers, R"([{"topology":"r","size":9}])"}})}, false, pod),
              IsEmpty());
  EXPECT_EQ(pod, (TemplateRules{.bounded_by_count = false, .groups = false}));
  for (const std::string_view kind : {"Job", "PyTorchJob", "SparkApplication", "TrainJob"}) {
    EXPECT_EQ(TemplateRulesOf(kind), (TemplateRules{.bounded_by_count = true, .groups = false}));
  }
  for (const std::string_view kind : {"JobSet", "LeaderWorkerSet", "MPIJob", "RayCluster"}) {
    EXPECT_EQ(TemplateRulesOf(kind), kAllRules);
  }
}

}  // namespace
}  // namespace espalier::template_validation_test
