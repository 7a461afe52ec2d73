#include "host/packing/name_index.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"

namespace espalier::name_index_test {
namespace {

// Names come, go and move; hashes of few bits make them collide.
TEST(NameIndexTest, FindsWhatIsThereWhateverCameAndWent) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const std::uint32_t mask = seed % 2 == 0 ? 7 : ~std::uint32_t{0};
    NameIndex index;
    std::vector<std::string> names(60);
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
    std::map<std::int32_t, std::int32_t> position_of;  // by name
    const auto hash = [&](std::int32_t name) {
      return NameIndex::Hash(names[static_cast<std::size_t>(name)]) & mask;
    };
    std::int32_t next = 0;
    for (int step = 0; step < 500; ++step) {
      const auto name = static_cast<std::int32_t>(random.Between(0, 59));
      const auto known = position_of.find(name);
      const std::int32_t found = index.FindIf(hash(name), [&](std::int32_t position) {
        return known != position_of.end() && position == known->second;
      });
      ASSERT_EQ(found, known == position_of.end() ? -1 : known->second) << seed << " " << step;
      if (known == position_of.end()) {
        index.AddNew(next, hash(name));
        position_of[name] = next++;
      } else if (random.Chance(50)) {
        index.Move(hash(name), known->second, next);
        known->second = next++;
      } else {
        index.Erase(hash(name), known->second);
        position_of.erase(known);
      }
    }
  }
}

TEST(NameIndexTest, IsRenumberedWithoutTheNames) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  const auto name_at = [&](std::int32_t position) -> const std::string& {
    return names[static_cast<std::size_t>(position)];
  };
  NameIndex index(names.size());
  for (std::int32_t i = 0; i < 4; ++i) EXPECT_TRUE(index.Add(i, name_at));
  EXPECT_FALSE(index.Add(2, name_at));
  NameIndex moved(names.size());
  moved.AddRenumbered(index, [](std::int32_t position) { return position == 1 ? -1 : position; });
  EXPECT_EQ(moved.Find("a", name_at), 0);
  EXPECT_EQ(moved.Find("b", name_at), -1);
  EXPECT_EQ(moved.Find("d", name_at), 3);
}

}  // namespace
}  // namespace espalier::name_index_test
