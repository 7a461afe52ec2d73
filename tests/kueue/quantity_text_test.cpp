#include "host/kueue/objects/quantity_text.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace espalier::quantity_text_test {
namespace {

TEST(QuantityText, CpuIsInMilli) {
  EXPECT_EQ(QuantityText("cpu", 0), "0");
  EXPECT_EQ(QuantityText("cpu", 1500), "1500m");
  EXPECT_EQ(QuantityText("cpu", 960'000), "960");
  EXPECT_EQ(QuantityText("cpu", 80'000'000), "80k");
  EXPECT_EQ(QuantityText("cpu", -500), "-500m");
}

TEST(QuantityText, MemoryIsBinaryFrom1024) {
  EXPECT_EQ(QuantityText("memory", std::int64_t{3840} << 30), "3840Gi");
  EXPECT_EQ(QuantityText("memory", std::int64_t{800} << 40), "800Ti");
  EXPECT_EQ(QuantityText("memory", 1000), "1k");
  EXPECT_EQ(QuantityText("memory", 1025), "1025");
  EXPECT_EQ(QuantityText("hugepages-2Mi", 4 << 20), "4Mi");
}

TEST(QuantityText, OthersAreDecimal) {
  EXPECT_EQ(QuantityText("nvidia.com/gpu", 4096), "4096");
  EXPECT_EQ(QuantityText("nvidia.com/gpu", 5000), "5k");
  EXPECT_EQ(QuantityText("nvidia.com/gpu", std::numeric_limits<Amount>::max()),
            "9223372036854775807");
  EXPECT_EQ(QuantityText("memory", std::numeric_limits<Amount>::min()), "-8Ei");
}

}  // namespace
}  // namespace espalier::quantity_text_test
