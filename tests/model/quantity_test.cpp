// The quantity grammar and its roundings (R1.8).
#include "host/model/quantity.hpp"

#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "host/model/quantity_text.hpp"

namespace espalier::quantity_test {
namespace {

constexpr Amount kMax = std::numeric_limits<Amount>::max();
constexpr Amount kMin = std::numeric_limits<Amount>::min();

struct Row {
  std::string text;
  Amount cpu;    // as `cpu`: thousandths
  Amount whole;  // as any other resource
};

class QuantityTable : public testing::TestWithParam<Row> {};

TEST_P(QuantityTable, R1_8) {
  const Row& row = GetParam();
  const Result<Quantity> quantity = ParseQuantity(row.text);
  ASSERT_TRUE(quantity.has_value()) << row.text << ": " << quantity.error().message;
  EXPECT_EQ(Canonical(*quantity, "cpu"), row.cpu) << row.text;
  EXPECT_EQ(Canonical(*quantity, "memory"), row.whole) << row.text;
}

constexpr Amount kKi = 1024;

std::string Nines(std::string prefix, const std::string& suffix) {
  return prefix.append(1000, '9').append(suffix);
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, QuantityTable,
    testing::Values(Row{"0", 0, 0}, Row{"1", 1000, 1}, Row{"+1", 1000, 1}, Row{"-1", -1000, -1},
                    Row{"007", 7000, 7}, Row{"1.5", 1500, 2}, Row{".5", 500, 1}, Row{"5.", 5000, 5},
                    Row{"-0", 0, 0}, Row{"-1.5", -1500, -2}, Row{"0.0001", 1, 1},
                    Row{"-0.0001", -1, -1}, Row{"63.770", 63770, 64},
                    Row{"0.0000000000000000000000000000000000000001", 1, 1},
                    Row{"0.00000000000000000000000000000000", 0, 0},
                    Row{"0000000000000000000000000000000000000000000000000012", 12000, 12}));

INSTANTIATE_TEST_SUITE_P(
    Suffixes, QuantityTable,
    testing::Values(Row{"1n", 1, 1}, Row{"1u", 1, 1}, Row{"1m", 1, 1}, Row{"1000n", 1, 1},
                    Row{"1001u", 2, 1}, Row{"999m", 999, 1}, Row{"1500m", 1500, 2},
                    Row{"2k", 2'000'000, 2000}, Row{"1M", 1'000'000'000, 1'000'000},
                    Row{"1G", 1'000'000'000'000, 1'000'000'000},
                    Row{"1T", 1'000'000'000'000'000, 1'000'000'000'000},
                    Row{"1P", 1'000'000'000'000'000'000, 1'000'000'000'000'000},
                    Row{"1E", kMax, 1'000'000'000'000'000'000}, Row{"1Ki", 1000 * kKi, kKi},
                    Row{"1Mi", 1000 * kKi* kKi, kKi* kKi},
                    Row{"256Gi", 1000 * 256 * kKi* kKi* kKi, 256 * kKi* kKi* kKi},
                    Row{"1Ti", 1000 * kKi* kKi* kKi* kKi, kKi* kKi* kKi* kKi},
                    Row{"1Pi", 1000 * kKi* kKi* kKi* kKi* kKi, kKi* kKi* kKi* kKi* kKi},
                    Row{"1Ei", kMax, kKi* kKi* kKi* kKi* kKi* kKi}, Row{"0.5Ki", 512000, 512},
                    Row{"0.1Ki", 102400, 103}, Row{"1.0000000000000000000001Ki", 1024001, 1025},
                    Row{"-1.5Gi", -1536 * 1000 * kKi* kKi, -1536 * kKi* kKi}));

INSTANTIATE_TEST_SUITE_P(Exponents, QuantityTable,
                         testing::Values(Row{"1e3", 1'000'000, 1000}, Row{"1E3", 1'000'000, 1000},
                                         Row{"1e+3", 1'000'000, 1000}, Row{"15E-1", 1500, 2},
                                         Row{"10e9", 10'000'000'000'000, 10'000'000'000},
                                         Row{"1e-9", 1, 1}, Row{"1e-300", 1, 1}, Row{"0e300", 0, 0},
                                         Row{"0e-2000000000", 0, 0},
                                         Row{"1e2000000000", kMax, kMax},
                                         Row{"-1e2000000000", kMin, kMin},
                                         Row{"1.25e1", 12500, 13}));

INSTANTIATE_TEST_SUITE_P(
    Extremes, QuantityTable,
    testing::Values(Row{"9223372036854775807", kMax, kMax}, Row{"9223372036854775808", kMax, kMax},
                    Row{"-9223372036854775808", kMin, kMin},
                    Row{"-9223372036854775809", kMin, kMin},
                    Row{"9223372036854775.807", kMax, 9223372036854776},
                    Row{"9223372036854775807m", kMax, 9223372036854776}, Row{"9Ei", kMax, kMax},
                    Row{"99999999999999999999999999Ei", kMax, kMax},
                    Row{"-8Ei", kMin, -kMax},  // binary quantities stop at +-(2^63 - 1)
                    Row{Nines("", ""), kMax, kMax}, Row{Nines("-", ""), kMin, kMin},
                    Row{Nines("0.", ""), 1000, 1}, Row{Nines("0.", "Ki"), 1024000, 1024}));

class QuantityRejects : public testing::TestWithParam<std::string> {};

TEST_P(QuantityRejects, IsNoQuantity) {
  const Result<Quantity> quantity = ParseQuantity(GetParam());
  ASSERT_FALSE(quantity.has_value());
  EXPECT_EQ(quantity.error().error_class, ErrorClass::kBadInput);
  EXPECT_FALSE(quantity.error().message.empty());
}

INSTANTIATE_TEST_SUITE_P(Texts, QuantityRejects,
                         testing::Values("", "+", "-", ".", "m", "Ki", " 1", "1 ", "1 Gi", "1GB",
                                         "1gi", "1K", "1ki", "1e", "1Ee", "1e+", "1e++3", "1e3.5",
                                         "1e3Ki", "1mi", "--1", "+-1", "1.2.3", "0x10", "1,5",
                                         "NaN", "inf", "1e99999999999", "1Zi", "1i", "1e-"));

TEST(Quantity, SumsAreExactAndRoundedOnce) {
  // Three containers of 0.5m: 1.5m in all, so 2m and not 3m.
  const Quantity half = *ParseQuantity("500u");
  EXPECT_EQ(Canonical(half + half + half, "cpu"), 2);
}

TEST(Quantity, SumsStayAtTheLimits) {
  const Quantity huge = *ParseQuantity("1e100");
  EXPECT_EQ(huge + huge, huge);
  const Quantity tiny = *ParseQuantity("-1e100");
  EXPECT_EQ(tiny + tiny, tiny);
  EXPECT_EQ(huge + tiny, Quantity());
}

TEST(Quantity, OnlyTheExactNameCpuIsMilli) {
  const Quantity one = Quantity::FromWhole(1);
  EXPECT_EQ(Canonical(one, "cpu"), 1000);
  EXPECT_EQ(Canonical(one, "requests.cpu"), 1);
  EXPECT_EQ(Canonical(one, "vendor/cpu"), 1);
}

TEST(CanonicalText, KeepsTheFormat) {
  const std::pair<std::string_view, std::string_view> rows[] = {{"0", "0"},
                                                                {"-0.0Ki", "0"},
                                                                {"1", "1"},
                                                                {"0.25", "250m"},
                                                                {"-1", "-1"},
                                                                {"1000", "1k"},
                                                                {"1500m", "1500m"},
                                                                {"1000m", "1"},
                                                                {"1001u", "1001u"},
                                                                {"200M", "200M"},
                                                                {"1234567", "1234567"},
                                                                {"2G", "2G"},
                                                                {"1500Mi", "1500Mi"},
                                                                {"2048Ki", "2Mi"},
                                                                {"1024Mi", "1Gi"},
                                                                {"0.5Ki", "512"},
                                                                {"-0.5Ki", "-512"},
                                                                {"1.5Ki", "1536"},
                                                                {"1Ki", "1Ki"},
                                                                {"1e9", "1e9"},
                                                                {"12e2", "1200"},
                                                                {"1000e3", "1e6"},
                                                                {"5E-1", "500e-3"},
                                                                {"1E", "1E"},
                                                                {"+3", "3"},
                                                                {"1.0000000001", "1000000001n"},
                                                                {"1000E", "1000E"},
                                                                {"1023.5Mi", "1048064Ki"},
                                                                {"1.00001Ki", "1025"},
                                                                {"-1.00001Ki", "-1025"}};
  for (const auto& [text, canonical] : rows) {
    const Result<std::string> found = CanonicalText(text);
    EXPECT_TRUE(found && *found == canonical) << text << " is " << found.value_or("an error");
  }
  EXPECT_FALSE(CanonicalText(""));
  EXPECT_FALSE(CanonicalText("1Kb"));
}

}  // namespace
}  // namespace espalier::quantity_test
