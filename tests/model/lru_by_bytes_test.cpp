#include "host/model/lru_by_bytes.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::lru_by_bytes_test {
namespace {

using testing::ElementsAre;

using Cache = LruByBytes<std::string, int>;

std::vector<std::string> KeysOf(Cache& cache) {
  std::vector<std::string> keys;
  for (const Cache::Entry& entry : cache) keys.push_back(entry.key);
  return keys;
}

TEST(LruByBytes, TheLeastRecentlyUsedGiveWay) {
  Cache cache(10);
  cache.Put("a", 1, 4);
  cache.Put("b", 2, 4);
  ASSERT_NE(cache.Find("a"), nullptr);
  cache.Put("c", 3, 4);
  EXPECT_THAT(KeysOf(cache), ElementsAre("c", "a"));
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_EQ(cache.bytes(), 8u);
  cache.Put("d", 4, 100);
  EXPECT_THAT(KeysOf(cache), ElementsAre("d")) << "the last one stays whatever its size";
  cache.Put("e", 5, 1);
  EXPECT_THAT(KeysOf(cache), ElementsAre("e"));
}

TEST(LruByBytes, HoldsSoManyEntries) {
  Cache cache(100, 2);
  for (const char* key : {"a", "b", "c"}) cache.Put(key, 0, 0);
  EXPECT_THAT(KeysOf(cache), ElementsAre("c", "b"));
}

TEST(LruByBytes, AValueIsPutInPlaceOfTheOneBefore) {
  Cache cache(10);
  cache.Put("a", 1, 6);
  cache.Put("b", 2, 2);
  EXPECT_EQ(cache.Put("a", 3, 8), 3);
  EXPECT_THAT(KeysOf(cache), ElementsAre("a", "b"));
  EXPECT_EQ(cache.bytes(), 10u);
}

TEST(LruByBytes, PeekingIsNoUse) {
  Cache cache(2);
  cache.Put("a", 1, 1);
  cache.Put("b", 2, 1);
  ASSERT_NE(cache.Peek("a"), nullptr);
  EXPECT_EQ(*cache.Peek("a"), 1);
  EXPECT_EQ(cache.Peek("c"), nullptr);
  ASSERT_NE(cache.Oldest(), nullptr);
  EXPECT_EQ(cache.Oldest()->key, "a");
}

TEST(LruByBytes, AnEntryGoesOnUnderAnotherKey) {
  Cache cache(10);
  cache.Put("a", 1, 1);
  cache.Put("b", 2, 1);
  EXPECT_EQ(cache.ChangeKey("c", "d"), nullptr);
  int* value = cache.ChangeKey("a", "d");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 1);
  EXPECT_EQ(cache.Find("a"), nullptr);
  EXPECT_THAT(KeysOf(cache), ElementsAre("d", "b"));
  EXPECT_EQ(cache.Find("d"), value);
  EXPECT_EQ(cache.bytes(), 2u);
}

TEST(LruByBytes, DropsWhatIsNamed) {
  Cache cache(10);
  for (int i = 0; i < 5; ++i) cache.Put(std::to_string(i), i, 1);
  cache.DropIf([](const Cache::Entry& entry) { return entry.value % 2 == 1; });
  cache.Drop("2");
  cache.Drop("no such key");
  EXPECT_THAT(KeysOf(cache), ElementsAre("4", "0"));
  EXPECT_EQ(cache.bytes(), 2u);
  cache.MakeRoom(10);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.Oldest(), nullptr);
}

}  // namespace
}  // namespace espalier::lru_by_bytes_test
