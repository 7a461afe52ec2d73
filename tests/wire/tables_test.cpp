// References to strings, and to the keys of maps, in both directions.
#include "service/wire/tables.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "espalier/v1/cluster_state.pb.h"
#include "service/wire/types.hpp"

namespace espalier::tables_test {
namespace {

std::vector<std::string> NamedBy(std::span<const std::uint32_t> references,
                                 const v1::UpdateStateRequest& message) {
  std::vector<std::string> names;
  for (const std::uint32_t reference : references) {
    names.push_back(message.strings(static_cast<int>(reference) - 1));
  }
  return names;
}

TEST(StringTable, EachStringOnce) {
  v1::UpdateStateRequest message;
  StringTable table(message.mutable_strings());
  std::vector<std::uint32_t> references;
  for (int i = 0; i < 1000; ++i) references.push_back(table.Ref(fmt::format("name-{}", i)));
  for (int i = 0; i < 1000; ++i) {
    const std::string text = fmt::format("name-{}", i);
    EXPECT_EQ(table.Ref(text), references[static_cast<std::size_t>(i)]);
    EXPECT_EQ(table.RefAt(static_cast<std::size_t>(i % 50), text),
              references[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(message.strings_size(), 1000);
  EXPECT_EQ(NamedBy(references, message)[7], "name-7");
}

TEST(StringTable, APlaceMayHoldNothing) {
  v1::UpdateStateRequest message;
  StringTable table(message.mutable_strings());
  const std::uint32_t reference = table.RefAt(0, "zone-a");
  EXPECT_EQ(table.RefAt(0, ""), 0U);
  EXPECT_EQ(table.RefAt(0, "zone-a"), reference);
  EXPECT_EQ(table.RefAt(1, "zone-a"), reference);
}

TEST(StringTable, KeysOfMoreMapsThanAreRemembered) {
  v1::UpdateStateRequest message;
  StringTable table(message.mutable_strings());
  EXPECT_TRUE(table.RefsOfKeys(StringMap().keys()).empty());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 9; ++i) {
      const Resources resources{{"cpu", 1}, {fmt::format("gpu-{}", i), round}};
      EXPECT_EQ(NamedBy(table.RefsOfKeys(resources.keys()), message), *resources.keys());
      const Resources twin{{"cpu", 2}, {fmt::format("gpu-{}", i), 0}};  // a list of its own
      EXPECT_EQ(NamedBy(table.RefsOfKeys(twin.keys()), message), *twin.keys());
    }
  }
  EXPECT_EQ(message.strings_size(), 10);
}

TEST(Decoder, MapsOfEqualReferencesShareTheirKeys) {
  v1::UpdateStateRequest message;
  for (const char* text : {"pods", "cpu", "gpu", "memory", "disk"}) {
    message.add_strings(text);
  }
  WorkBudget budget(1 << 20);
  Decoder decoder(message.strings(), budget);
  const auto read = [&](std::vector<std::uint32_t> names) {
    v1::ResourceVector vector;
    for (const std::uint32_t name : names) {
      vector.add_names(name);
      vector.add_amounts(10 * name);
    }
    return FromProto(vector, FieldPath("resources"), decoder);
  };
  const Resources first = read({1, 2});
  EXPECT_EQ(first, (Resources{{"cpu", 20}, {"pods", 10}}));
  const Resources second = read({1, 2});
  EXPECT_EQ(second.keys(), first.keys());
  EXPECT_EQ(second, first);
  EXPECT_EQ(read({2, 1}), first) << "in another order";
  for (const std::uint32_t name : {3U, 4U, 5U, 3U}) EXPECT_EQ(read({name}).size(), 1U);
  EXPECT_EQ(read({1, 2}), first) << "after more maps than are remembered";
  EXPECT_EQ(read({}), Resources());
  EXPECT_TRUE(decoder.ok());
  EXPECT_EQ(read({2, 2}), Resources());
  EXPECT_FALSE(decoder.ok());
}

// A map that is changed gets keys of its own: what that takes is charged for every map.
TEST(Decoder, SharedKeysAreChargedForEveryMap) {
  const std::string name(1000, 'n');
  v1::UpdateStateRequest message;
  message.add_strings(name);
  v1::ResourceVector vector;
  vector.add_names(1);
  vector.add_amounts(7);
  WorkBudget budget(10 * name.size());
  Decoder decoder(message.strings(), budget);
  std::size_t read = 0;
  while (FromProto(vector, FieldPath("resources"), decoder).size() == 1) ++read;
  EXPECT_FALSE(decoder.ok());
  EXPECT_GE(read, 5U);
  EXPECT_LT(read, 10U);
}

}  // namespace
}  // namespace espalier::tables_test
