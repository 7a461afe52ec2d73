// Numbers that are beyond what a field or JSON can hold: the error names object and field.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::numbers_out_of_range_test {
namespace {

using testing::HasSubstr;

// A Node with a quantity and a priority class with an integer.
std::string ObjectsWith(bool json, std::string_view quantity, std::string_view integer) {
  const char* text = json ? R"({{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "a"}},
"status": {{"allocatable": {{"example.com/x": {}, "pods": "1"}}}}}}
{{"kind": "WorkloadPriorityClass", "apiVersion": "kueue.x-k8s.io/v1beta1",
"metadata": {{"name": "b"}}, "value": {}, "description": "1e400 \" 1e400"}}
)"
                          : R"(kind: Node
apiVersion: v1
metadata: {{name: a}}
status: {{allocatable: {{example.com/x: {}, pods: "1"}}}}
---
kind: WorkloadPriorityClass
apiVersion: kueue.x-k8s.io/v1beta1
metadata: {{name: b}}
value: {}
)";
  return fmt::format(fmt::runtime(text), quantity, integer);
}

void ExpectError(const Result<ClusterRead>& read, const std::string& error) {
  EXPECT_EQ(ErrorOf(read), error.empty() ? "no error" : error);
}

constexpr const char* kQuantityError =
    "f, object 1: Node a: status.allocatable[example.com/x]: it is not a quantity: it does not "
    "start with a "
    "number, got \"{}\"; want a number with an optional suffix, such as 2, 500m or 16Gi";

constexpr const char* kRangeError =
    "{}: the number is out of range, got {}; want a number below 1.8e308";

constexpr const char* kIntegerError =
    "f, object 2: WorkloadPriorityClass b: value: it is not a 64-bit integer, got {}; want a "
    "64-bit integer";

TEST(NumbersOutOfRange, OfJsonNameObjectAndField) {
  for (const std::string number : {"1e400", "-1e400", "1.5E+999", "-1e99999999999999999999"}) {
    const auto out_of_range = [&](const char* where) {
      return fmt::format(fmt::runtime(kRangeError), where, number);
    };
    ExpectError(TryRead(ObjectsWith(true, number, "1")),
                out_of_range("f, object 1: Node a: status.allocatable[example.com/x]"));
    ExpectError(TryRead(ObjectsWith(true, "1", number)),
                out_of_range("f, object 2: WorkloadPriorityClass b: value"));
  }
}

TEST(NumbersOutOfRange, BeyondAnIntegerNameObjectAndFieldWhereAnIntegerIsWanted) {
  for (const bool json : {true, false}) {
    for (const auto& [number, shown] : std::vector<std::pair<std::string, std::string>>{
             {"9223372036854775808", "9223372036854775808"},
             {"18446744073709551616", "1.8446744073709552e+19"},
             {"-9223372036854775809", "-9.223372036854776e+18"},
             {"99999999999999999999999999999999", "1e+32"},
             {"1e300", "1e+300"},
         }) {
      const std::string negative = fmt::format(
          "f, object 1: Node a: status.allocatable[example.com/x]: it is negative, got {}; "
          "want a quantity of 0 or more",
          shown);
      ExpectError(TryRead(ObjectsWith(json, number, "1")), number[0] == '-' ? negative : "");
      ExpectError(TryRead(ObjectsWith(json, "1", number)),
                  fmt::format(fmt::runtime(kIntegerError), shown));
    }
  }
}

TEST(NumbersOutOfRange, OfYamlAreTextsAndNameObjectAndField) {
  for (const std::string number : {".inf", "-.inf", ".nan", ".NaN"}) {
    ExpectError(TryRead(ObjectsWith(false, number, "1")),
                fmt::format(fmt::runtime(kQuantityError), number));
    ExpectError(TryRead(ObjectsWith(false, "1", number)),
                fmt::format(fmt::runtime(kIntegerError), "\"" + number + "\""));
  }
  ExpectError(TryRead(ObjectsWith(false, "1e400", "1")),
              fmt::format(fmt::runtime(kRangeError),
                          "f, object 1: Node a: status.allocatable[example.com/x]", "\"1e400\""));
  ExpectError(TryRead(ObjectsWith(false, "1", "1e400")),
              fmt::format(fmt::runtime(kIntegerError), "\"1e400\""));
}

TEST(NumbersOutOfRange, LeaveTheRestOfTheTextAlone) {
  ExpectError(TryRead(ObjectsWith(true, "1e-400", "1")), "");
  ExpectError(TryRead(R"({"kind": "ConfigMap", "apiVersion": "v1", "a": 1e400})"), "");
  for (const char* number : {"1e", "01", "1.", "--1", "1e400x", "+1", "1e4e400"}) {
    EXPECT_THAT(ErrorOf(TryRead(ObjectsWith(true, number, "1"))),
                HasSubstr("it is not valid JSON"));
  }
}

}  // namespace
}  // namespace espalier::numbers_out_of_range_test
