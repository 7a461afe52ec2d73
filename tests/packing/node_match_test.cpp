#include "host/packing/node_match.hpp"

#include <gtest/gtest.h>

namespace espalier::node_match_test {
namespace {

const Taint kTaint{"dedicated", "x", "NoSchedule"};

TEST(NodeMatchTest, R7_3_TolerationTable) {
  struct Row {
    Toleration toleration;
    bool tolerates;
  };
  const Row rows[] = {
      {{"dedicated", "", "x", "NoSchedule"}, true},  // empty operator reads as Equal
      {{"dedicated", "Equal", "x", ""}, true},       // empty effect is every effect
      {{"", "Equal", "x", ""}, true},                // empty key is every key
      {{"", "Exists", "", ""}, true},
      {{"dedicated", "Exists", "ignored", "NoSchedule"}, true},
      {{"dedicated", "Equal", "y", ""}, false},
      {{"dedicated", "Equal", "", ""}, false},
      {{"other", "Exists", "", ""}, false},
      {{"dedicated", "Exists", "", "NoExecute"}, false},
      {{"dedicated", "In", "x", ""}, false},     // any other operator
      {{"dedicated", "exists", "", ""}, false},  // byte-wise
      {{"dedicated", "Lt", "9", ""}, false},     // x is no number
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Tolerates(row.toleration, kTaint), row.tolerates)
        << row.toleration.key << " " << row.toleration.operation << " " << row.toleration.value;
  }
}

TEST(NodeMatchTest, R7_3_NumericTolerationsNeedCanonicalIntegers) {
  struct Row {
    std::string taint, operation, toleration;
    bool tolerates;
  };
  const Row rows[] = {
      {"3", "Lt", "5", true},
      {"5", "Lt", "5", false},
      {"7", "Gt", "5", true},
      {"5", "Gt", "5", false},
      {"-7", "Lt", "-5", true},
      {"0", "Lt", "1", true},
      {"+3", "Lt", "5", false},
      {"03", "Lt", "5", false},
      {"3", "Lt", "05", false},
      {"3", "Lt", "+5", false},
      {" 3", "Lt", "5", false},
      {"", "Lt", "5", false},
      {"-0", "Lt", "5", false},
      {"3", "Lt", "", false},
      {"9223372036854775807", "Gt", "-9223372036854775808", true},
      {"9223372036854775808", "Gt", "5", false},  // not an int64
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Tolerates({"k", row.operation, row.toleration, ""}, {"k", row.taint, "NoSchedule"}),
              row.tolerates)
        << row.taint << " " << row.operation << " " << row.toleration;
  }
}

TEST(NodeMatchTest, R7_3_FirstRepellingTaintThatNobodyTolerates) {
  const std::vector<Taint> taints = {{"note", "", "PreferNoSchedule"},
                                     {"a", "1", "NoSchedule"},
                                     {"b", "", "NoExecute"},
                                     {"c", "", "NoSchedule"}};
  EXPECT_EQ(FirstUntoleratedTaint(taints, {}), &taints[1]);
  EXPECT_EQ(FirstUntoleratedTaint(taints, {{"a", "Exists", "", ""}}), &taints[2]);
  EXPECT_EQ(FirstUntoleratedTaint(taints, {{"c", "Exists", "", ""}, {"a", "Equal", "1", ""}}),
            &taints[2]);
  EXPECT_EQ(FirstUntoleratedTaint(taints, {{"", "Exists", "", ""}}), nullptr);
  EXPECT_EQ(FirstUntoleratedTaint({{"x", "", "PreferNoSchedule"}, {"y", "", "Odd"}}, {}), nullptr);
}

TEST(NodeMatchTest, R7_3_TaintText) {
  EXPECT_EQ(TaintText({"maint", "true", "NoSchedule"}), "maint=true:NoSchedule");
  EXPECT_EQ(TaintText({"maint", "", "NoExecute"}), "maint:NoExecute");
}

TEST(NodeMatchTest, R7_4_SelectorNeedsEveryKeyWithItsValue) {
  const StringMap labels = {{"disk", "ssd"}, {"zone", ""}};
  EXPECT_TRUE(MatchesSelector(labels, {}));
  EXPECT_TRUE(MatchesSelector(labels, {{"disk", "ssd"}, {"zone", ""}}));
  EXPECT_FALSE(MatchesSelector(labels, {{"disk", "SSD"}}));
  EXPECT_FALSE(MatchesSelector(labels, {{"disk", "ssd"}, {"rack", ""}}));  // absent is not empty
}

TEST(NodeMatchTest, R7_5_RequirementTable) {
  const std::string a = "a";
  struct Row {
    std::string operation;
    std::vector<std::string> values;
    bool absent, holds_for_a;
  };
  const Row rows[] = {
      {"In", {"b", "a"}, false, true},    {"In", {"b"}, false, false},
      {"NotIn", {"b", "a"}, true, false}, {"NotIn", {"b"}, true, true},
      {"Exists", {}, false, true},        {"DoesNotExist", {}, true, false},
      {"Gt", {"1"}, false, false},        {"Lt", {"1"}, false, false},
  };
  for (const Row& row : rows) {
    const NodeSelectorRequirement requirement{"k", row.operation, row.values};
    EXPECT_EQ(RequirementHolds(requirement, nullptr), row.absent) << row.operation;
    EXPECT_EQ(RequirementHolds(requirement, &a), row.holds_for_a) << row.operation;
  }
}

TEST(NodeMatchTest, R7_5_LabelsCompareAsSignedIntegers) {
  struct Row {
    std::string label, operation, value;
    bool holds;
  };
  const Row rows[] = {
      {"7", "Gt", "5", true},
      {"5", "Gt", "5", false},
      {"3", "Lt", "5", true},
      {"+6", "Gt", "5", true},
      {"007", "Gt", "5", true},
      {"-6", "Lt", "-5", true},
      {"7", "Gt", "+5", true},
      {"7", "Gt", "005", true},
      {"7x", "Gt", "5", false},
      {"", "Gt", "-1", false},
      {"+", "Gt", "-1", false},
      {"+-7", "Lt", "5", false},
      {"9223372036854775808", "Gt", "5", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(RequirementHolds({"k", row.operation, {row.value}}, &row.label), row.holds)
        << row.label << " " << row.operation << " " << row.value;
  }
}

TEST(NodeMatchTest, R7_5_MalformedExpressions) {
  for (const NodeSelectorRequirement& good : {NodeSelectorRequirement{"k", "In", {"a"}},
                                              {"k", "NotIn", {"a", "b"}},
                                              {"k", "Exists", {}},
                                              {"k", "DoesNotExist", {}},
                                              {"k", "Gt", {"+5"}},
                                              {"k", "Lt", {"007"}}}) {
    EXPECT_EQ(MalformedExpression(good), std::nullopt) << good.operation;
  }
  for (const NodeSelectorRequirement& bad : {NodeSelectorRequirement{"k", "In", {}},
                                             {"k", "NotIn", {}},
                                             {"k", "Exists", {"a"}},
                                             {"k", "DoesNotExist", {"a"}},
                                             {"k", "Gt", {}},
                                             {"k", "Gt", {"1", "2"}},
                                             {"k", "Lt", {"x"}},
                                             {"k", "Equals", {"a"}},
                                             {"k", "", {"a"}}}) {
    EXPECT_NE(MalformedExpression(bad), std::nullopt) << bad.operation;
  }
}

TEST(NodeMatchTest, R7_5_OnlyTheNameFieldWithOneValue) {
  EXPECT_EQ(MalformedField({"metadata.name", "In", {"n1"}}), std::nullopt);
  EXPECT_EQ(MalformedField({"metadata.name", "NotIn", {"n1"}}), std::nullopt);
  EXPECT_NE(MalformedField({"metadata.uid", "In", {"n1"}}), std::nullopt);
  EXPECT_NE(MalformedField({"metadata.name", "Exists", {}}), std::nullopt);
  EXPECT_NE(MalformedField({"metadata.name", "In", {"n1", "n2"}}), std::nullopt);
  EXPECT_NE(MalformedField({"metadata.name", "In", {}}), std::nullopt);
}

TEST(NodeMatchTest, R7_5_TermsAndTheirParts) {
  const StringMap labels = {{"zone", "z1"}, {"disk", "ssd"}};
  const NodeSelectorRequirement zone{"zone", "In", {"z1"}};
  const NodeSelectorRequirement hdd{"disk", "In", {"hdd"}};
  const NodeSelectorRequirement name{"metadata.name", "In", {"n1"}};
  EXPECT_TRUE(TermMatches({{zone}, {}}, labels, "n1"));
  EXPECT_FALSE(TermMatches({{zone, hdd}, {}}, labels, "n1"));
  EXPECT_TRUE(TermMatches({{zone}, {name}}, labels, "n1"));
  EXPECT_FALSE(TermMatches({{zone}, {name}}, labels, "n2"));
  EXPECT_TRUE(TermMatches({{}, {name}}, labels, "n1"));
  EXPECT_FALSE(TermMatches({{}, {}}, labels, "n1"));  // matches nothing
  EXPECT_EQ(MalformedTerm({{zone}, {name}}), std::nullopt);
  EXPECT_NE(MalformedTerm({{zone}, {zone}}), std::nullopt);
}

}  // namespace
}  // namespace espalier::node_match_test
