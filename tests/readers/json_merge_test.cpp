// Tests what becomes of JSON when a patch is merged into it.
#include "host/readers/json_merge.hpp"

#include <gtest/gtest.h>

namespace espalier::json_merge_test {
namespace {

std::string Merged(const std::string& base, const std::string& patch) {
  const MadeJson a(base);
  const MadeJson b(patch);
  return MergedJson(a.value(), b.value());
}

TEST(MergedJson, MergesObjectsAndReplacesTheRest) {
  EXPECT_EQ(Merged(R"({"a": {"b": 1, "c": [1]}, "d": "x"})", R"({"a": {"c": [2], "e": {}}})"),
            R"({"a":{"b":1,"c":[2],"e":{}},"d":"x"})");
  EXPECT_EQ(Merged(R"({"a": 1})", R"({"a": {"b": 2}})"), R"({"a":{"b":2}})");
  EXPECT_EQ(Merged("{}", R"({"\"k\\": 1})"), R"({"\"k\\":1})");
}

TEST(MergedJson, RemovesWhatIsNull) {
  EXPECT_EQ(Merged(R"({"a": 1, "b": 2})", R"({"a": null, "c": null})"), R"({"b":2})");
}

TEST(MergedJson, MergesListsByName) {
  EXPECT_EQ(Merged(R"([{"name": "a", "x": 1}, {"name": "b"}])",
                   R"([{"name": "c"}, {"name": "a", "y": 2}])"),
            R"([{"name":"a","x":1,"y":2},{"name":"b"},{"name":"c"}])");
  EXPECT_EQ(Merged(R"([{"key": "a"}])", R"([{"key": "b"}])"), R"([{"key":"b"}])");
  EXPECT_EQ(Merged(R"([{"name": "a"}, 1])", R"([{"name": "b"}])"), R"([{"name":"b"}])");
}

TEST(MadeJson, IsNullWhereThereIsNoJson) { EXPECT_TRUE(MadeJson("{").value().is_null()); }

}  // namespace
}  // namespace espalier::json_merge_test
