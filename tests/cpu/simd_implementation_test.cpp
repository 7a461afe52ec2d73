// Compares every implementation of bulk counting with the plain decision, leaf by leaf.
#include "fallback_cpu/simd_implementation.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/engine/counts_storage.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/reciprocals.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/team/serial_team.hpp"
#include "tests/generated/random.hpp"

namespace espalier::simd_implementation_test {
namespace {

constexpr std::int32_t kSizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 304};
constexpr StoredCount kUntouched = -55;

// Amounts near multiples of the request, where a quotient goes wrong, and anything else.
Amount RandomAmount(Random& random, Amount request, Amount most) {
  if (random.Chance(20)) return random.Between(-3, 12);
  if (random.Chance(20)) return random.Between(-most, most);
  return std::min(most, request * random.Between(0, most / request) + random.Between(-1, 1));
}

// Random capacities of one flavor and one request, as input of both.
struct Input {
  enum class Columns { kNarrow, kWide, kMixed };

  Input(std::uint64_t seed, std::int32_t leaf_count, bool with_leader, bool with_bitmap,
        Columns kind)
      : leaves(leaf_count) {
    Random random(seed);
    const auto resources = static_cast<std::size_t>(random.Between(1, 4));
    std::vector<Amount> magnitudes;
    stride = (leaves + 7) / 8 * 8;
    capacity.assign(resources * static_cast<std::size_t>(stride) + FlavorSnapshot::kReadAhead, 0);
    for (std::size_t r = 0; r < resources; ++r) {
      const bool narrow = kind == Columns::kNarrow || (kind == Columns::kMixed && r % 2 == 0);
      const Amount unit = narrow ? Amount{1} << random.Between(0, 20) : 1;
      const Amount most =
          narrow ? TiledCapacity::kMaxUnits
                 : random.Pick<Amount>({Amount{40}, Amount{1} << 31, kExactAmount - 1});
      columns.push_back(static_cast<std::int32_t>(r));
      workers.push_back((random.Chance(50) ? random.Between(1, 9) : random.Between(1, most)) *
                        unit);
      leader.push_back((random.Chance(50) ? random.Between(1, 9) : random.Between(1, most)) * unit);
      for (std::int64_t leaf = 0; leaf < stride; ++leaf) {
        capacity[r * static_cast<std::size_t>(stride) + static_cast<std::size_t>(leaf)] =
            narrow
                ? RandomAmount(random, workers[r] / unit, most) * unit + random.Between(0, unit - 1)
                : RandomAmount(random, workers[r], most);
      }
      // Makes the unit what the request needs.
      if (narrow) capacity[r * static_cast<std::size_t>(stride)] = most * unit;
      magnitudes.push_back(most * unit);
    }
    tiles.emplace(capacity, stride, leaves, magnitudes);
    for (int word = 0; word * 64 < leaves; ++word) bitmap.push_back(random.Next());
    plain.capacity = {capacity.data(), stride};
    plain.workers = {static_cast<std::int32_t>(resources), columns.data(), workers.data()};
    if (with_leader) {
      plain.leader = {static_cast<std::int32_t>(resources), columns.data(), leader.data()};
      plain.leader_on_workers = leader.data();
    }
    plain.matches = with_bitmap ? bitmap.data() : nullptr;
    plain.domain = {0, leaves};
    for (std::size_t r = 0; r < resources; ++r) {
      Bind(r, workers[r], with_leader ? leader[r] : 0, kind, bulk.workers);
      bulk.workers.resource.push_back(static_cast<std::int32_t>(r));
      if (with_leader) Bind(r, leader[r], 0, kind, bulk.leader);
    }
    BindMost(random);
    bulk.tiles = tiles->Tile(0);
    bulk.tile_stride = tiles->tile_stride();
    bulk.matches = plain.matches;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  void Bind(std::size_t r, Amount request, Amount beside, Columns kind,
            BulkRequest::Vector& vector) {
    if (kind == Columns::kNarrow || (kind == Columns::kMixed && r % 2 == 0)) {
      const int shift = tiles->UnitShift(static_cast<std::int32_t>(r));
      vector.order.push_back(static_cast<std::int32_t>(vector.narrow.size()));
      vector.narrow.push_back({static_cast<std::int32_t>(r) * TiledCapacity::kTileLeaves,
                               Reciprocal<float>(request >> shift),
                               static_cast<float>(request >> shift),
                               static_cast<float>(beside >> shift)});
    } else {
      vector.order.push_back(~static_cast<std::int32_t>(vector.wide.size()));
      vector.wide.push_back({capacity.data() + static_cast<std::int64_t>(r) * stride,
                             Reciprocal<double>(request), static_cast<double>(request),
                             static_cast<double>(beside)});
    }
  }

  // Sets the bounds of tiles: as close as they are made, further off, or unknown.
  void BindMost(Random& random) {
    if (random.Chance(20)) return;
    const auto count = static_cast<std::size_t>((leaves + 15) / 16);
    bounds.assign(tiles->Most(), tiles->Most() + (count + 15) / 16 * tiles->tile_stride());
    const bool loose = random.Chance(50);
    for (float& bound : bounds) bound += loose ? static_cast<float>(random.Between(0, 3)) : 0.0F;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      float& least = least_bounds.emplace_back(bounds[column * 16]);
      for (std::size_t tile = 0; tile < count; ++tile) {
        least = std::min(least, bounds[(tile / 16 * columns.size() + column) * 16 + tile % 16]);
      }
      if (loose) least -= static_cast<float>(random.Between(0, 3));
    }
    bulk.min_tile_max = least_bounds.data();
    bulk.most = bounds.data();
  }

  LeafCounts Expected(std::int32_t leaf) const {
    return Matches(plain, leaf) ? CountLeaf(plain, leaf) : LeafCounts{};
  }

  std::int32_t leaves;
  std::int64_t stride = 0;
  std::vector<Amount> capacity;
  std::optional<TiledCapacity> tiles;
  std::vector<std::int32_t> columns;
  std::vector<Amount> workers;
  std::vector<Amount> leader;
  std::vector<std::uint64_t> bitmap;
  std::vector<float> bounds;
  std::vector<float> least_bounds;
  LeafInput plain;
  BulkRequest bulk;
};

// Counts leaves [begin, end) with one implementation; everything else must stay as it was.
void ExpectCounts(const SimdImplementation& implementation, const Input& input, std::int32_t begin,
                  std::int32_t end) {
  const std::size_t size = static_cast<std::size_t>(input.leaves) + 1;
  std::vector<StoredCount> pods(size, kUntouched);
  std::vector<StoredCount> pods_with_leader(size, kUntouched);
  std::vector<std::uint8_t> leaders(size, 77);
  implementation.count(input.bulk, begin, end,
                       {pods.data(), pods_with_leader.data(), leaders.data()});
  for (std::int32_t leaf = 0; leaf <= input.leaves; ++leaf) {
    const auto i = static_cast<std::size_t>(leaf);
    const bool counted = leaf >= begin && leaf < end;
    const LeafCounts expected = counted ? input.Expected(leaf) : LeafCounts{};
    ASSERT_EQ(pods[i], counted ? expected.pods : kUntouched) << "leaf " << leaf;
    if (input.plain.leader.size == 0) continue;
    ASSERT_EQ(leaders[i], counted ? expected.leaders : 77) << "leaf " << leaf;
    ASSERT_EQ(pods_with_leader[i], counted ? expected.pods_with_leader : kUntouched)
        << "leaf " << leaf;
  }
}

// Sums leaf groups of one width, listed backwards, and as runs.
void ExpectSums(const SimdImplementation& implementation, const Input& input, std::int32_t width) {
  std::vector<std::int32_t> leaf_begin;
  constexpr std::int32_t kFirstLeaf = 1000;
  for (std::int32_t leaf = 0; leaf < input.leaves; leaf += width) {
    leaf_begin.push_back(kFirstLeaf + leaf);
  }
  const auto groups = static_cast<std::int32_t>(leaf_begin.size());
  leaf_begin.push_back(kFirstLeaf + input.leaves);
  const bool tiles =
      width == TiledCapacity::kTileLeaves && input.leaves % TiledCapacity::kTileLeaves == 0;
  std::vector<std::uint32_t> expected;
  for (std::size_t group = 0; group + 1 < leaf_begin.size(); ++group) {
    std::uint32_t& sum = expected.emplace_back(0);
    for (std::int32_t leaf = leaf_begin[group]; leaf < leaf_begin[group + 1]; ++leaf) {
      sum += static_cast<std::uint32_t>(input.Expected(leaf - kFirstLeaf).pods);
    }
  }
  const GroupLayout layout = {leaf_begin.data(), kFirstLeaf, tiles};
  std::vector<std::int32_t> list;
  for (std::int32_t group = groups; group-- > 0;) list.push_back(group);
  const auto expect = [&](const LeafGroups& some) {
    std::vector<StoredCount> sums(static_cast<std::size_t>(some.count) + 1, kUntouched);
    implementation.sum(input.bulk, layout, some, sums.data());
    for (std::int32_t i = 0; i < some.count; ++i) {
      ASSERT_EQ(static_cast<std::uint32_t>(sums[static_cast<std::size_t>(i)]),
                expected[static_cast<std::size_t>(some[i])])
          << "group " << some[i];
    }
    ASSERT_EQ(sums.back(), kUntouched);
  };
  expect({list.data(), 0, groups});
  for (const std::int32_t first : {0, 1, groups / 2}) {
    if (first <= groups) expect({nullptr, first, groups - first});
  }
}

class SimdImplementationTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  static SimdImplementation Tested() {
    for (const SimdImplementation& supported : SupportedSimdImplementations()) {
      if (supported.name == GetParam()) return supported;
    }
    ADD_FAILURE() << "unknown implementation";
    return {};
  }
};

TEST_P(SimdImplementationTest, R7_11_CountsAsTheDecisionDoes) {
  std::uint64_t seed = 1;
  for (const std::int32_t leaves : kSizes) {
    for (const bool with_leader : {false, true}) {
      for (const bool with_bitmap : {false, true}) {
        for (const auto kind :
             {Input::Columns::kNarrow, Input::Columns::kWide, Input::Columns::kMixed}) {
          for (int again = 0; again < 3; ++again) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            const Input input(seed++, leaves, with_leader, with_bitmap, kind);
            ExpectCounts(Tested(), input, 0, leaves);
            if (leaves >= 3) ExpectCounts(Tested(), input, 1, leaves - 1);
            if (!with_leader) {
              for (const std::int32_t width : {1, 5, 16, 40}) {
                ExpectSums(Tested(), input, width);
              }
            }
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(SimdImplementationTest, R8_2_SumsChildrenAsTheDecisionDoes) {
  Random random(11);
  for (const std::int32_t width : {1, 2, 7, 15, 16, 17, 40}) {
    constexpr std::int32_t kGroups = 9;
    const std::int32_t leaves = kGroups * width;
    std::vector<std::int32_t> child_begin;
    for (std::int32_t group = 0; group <= kGroups; ++group) {
      child_begin.push_back(kGroups + group * width);
    }
    const std::int32_t level_begin[] = {0, kGroups, kGroups + leaves};
    const std::vector<std::int32_t> no_parents(static_cast<std::size_t>(kGroups + leaves), -1);
    const TreeView tree{2, level_begin, no_parents.data(), child_begin.data()};
    const GroupLayout layout{child_begin.data(), kGroups, width == TiledCapacity::kTileLeaves};
    const std::vector<std::int32_t> some = {1, 2, 5, 8};
    for (const bool with_slices : {false, true}) {
      for (const bool with_leader : {false, true}) {
        CountsStorage storage;
        storage.Resize(kGroups + leaves, with_slices, with_leader);
        const CountsView counts = storage.View();
        // Counts behind the last leaf must make no difference.
        for (std::int32_t d = 0; d < kGroups + leaves + CountsStorage::kReadAhead; ++d) {
          counts.pods[d] = static_cast<StoredCount>(random.Between(0, 50));
          if (with_slices) counts.slices[d] = counts.pods[d] / 3;
          if (!with_leader) continue;
          counts.leaders[d] = random.Chance(30) ? 1 : 0;
          counts.pods_with_leader[d] = static_cast<StoredCount>(random.Between(0, counts.pods[d]));
          counts.slices_with_leader[d] =
              with_slices ? counts.pods_with_leader[d] / 3 : counts.pods_with_leader[d];
        }
        for (const LeafGroups& groups :
             {LeafGroups{nullptr, 2, 6}, LeafGroups{some.data(), 0, 4}}) {
          std::vector<ChildSums> sums(static_cast<std::size_t>(groups.count));
          Tested().sum_children(layout, groups, counts, sums.data());
          for (std::int32_t i = 0; i < groups.count; ++i) {
            const ChildSums wanted = SumChildren(tree, SliceRule{}, counts, 0, groups[i]);
            const ChildSums& found = sums[static_cast<std::size_t>(i)];
            ASSERT_EQ(found.pods, wanted.pods);
            ASSERT_EQ(found.slices, wanted.slices);
            ASSERT_EQ(found.leader, wanted.leader);
            if (!wanted.leader) continue;
            ASSERT_EQ(found.least_lost_pods, wanted.least_lost_pods);
            ASSERT_EQ(found.least_lost_slices, wanted.least_lost_slices);
          }
        }
      }
    }
  }
}

TEST_P(SimdImplementationTest, R8_1_DividesExactly) {
  Random random(12);
  for (const Amount divisor : {Amount{1}, Amount{2}, Amount{3}, Amount{7}, Amount{1000},
                               Amount{kMaxStored}, kExactAmount - 1}) {
    std::vector<StoredCount> values = {0, 1, kMaxStored, kMaxStored - 1};
    for (int i = 0; i < 300; ++i) {
      const Amount multiple = divisor * random.Between(0, kMaxStored / divisor);
      values.push_back(static_cast<StoredCount>(
          std::clamp<Amount>(multiple + random.Between(-1, 1), 0, kMaxStored)));
    }
    for (const std::size_t size : {std::size_t{1}, std::size_t{17}, values.size()}) {
      std::vector<StoredCount> quotients(values.size(), kUntouched);
      Tested().divide(values.data(), static_cast<std::int32_t>(size), Reciprocal<double>(divisor),
                      quotients.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(quotients[i], i < size ? values[i] / divisor : kUntouched)
            << values[i] << " / " << divisor;
      }
    }
  }
}

TEST_P(SimdImplementationTest, NotesRunsOfLeaves) {
  Random random(13);
  for (const std::int32_t leaves : {1, 15, 16, 63, 64, 65, 300}) {
    for (const std::int64_t most : {0, 1, 9, 62, 63, 64, 5000}) {
      std::vector<StoredCount> slices;
      for (std::int32_t i = 0; i < leaves; ++i) {
        slices.push_back(static_cast<StoredCount>(random.Between(0, most)));
      }
      std::vector<SliceIndex::Run> runs(
          static_cast<std::size_t>((leaves + SliceIndex::kRun - 1) / SliceIndex::kRun));
      Tested().note_runs(slices.data(), leaves, runs.data());
      for (std::size_t run = 0; run < runs.size(); ++run) {
        const std::span of_run = std::span(slices).subspan(
            run * SliceIndex::kRun,
            std::min<std::size_t>(SliceIndex::kRun, slices.size() - run * SliceIndex::kRun));
        std::uint64_t held = 0;
        for (const StoredCount slice : of_run) held |= SliceIndex::Bit(slice);
        EXPECT_EQ(runs[run].held, held);
        EXPECT_EQ(runs[run].with_most, std::ranges::count(of_run, SliceIndex::HighestBit(held)));
      }
    }
  }
}

TEST_P(SimdImplementationTest, SumsClassesOfLeaves) {
  constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
  Random random(9);
  for (const std::int32_t classes : {1, 15, 16, 17, 31, 32, 33, 64, 200, 255}) {
    SCOPED_TRACE(classes);
    ClassTable table;
    table.classes = classes;
    for (std::int32_t c = 0; c < classes; ++c) {
      table.values[c] = static_cast<std::uint8_t>(random.Between(0, 255));
    }
    for (const std::int32_t tiles : {1, 7, 8, 9, 40}) {
      std::vector<std::uint8_t> of_leaf;
      std::vector<StoredCount> expected(static_cast<std::size_t>(tiles) + 1, 0);
      expected.back() = kUntouched;
      for (std::int32_t leaf = 0; leaf < tiles * kTile; ++leaf) {
        // Behind the last leaf, a class more.
        const bool present = leaf < tiles * kTile - 3;
        of_leaf.push_back(
            static_cast<std::uint8_t>(present ? random.Between(0, classes - 1) : classes));
        expected[static_cast<std::size_t>(leaf / kTile)] += table.values[of_leaf.back()];
      }
      std::vector<std::int32_t> leaf_begin;
      for (std::int32_t tile = 0; tile <= tiles; ++tile) leaf_begin.push_back(100 + tile * kTile);
      const auto expect_sums = [&](const std::uint64_t* matches) {
        for (const bool as_tiles : {true, false}) {
          std::vector<StoredCount> sums(expected.size(), kUntouched);
          Tested().sum_classes(table, of_leaf.data(), matches, {leaf_begin.data(), 100, as_tiles},
                               tiles, sums.data());
          ASSERT_EQ(sums, expected);
        }
      };
      expect_sums(nullptr);
      std::vector<std::uint64_t> matches;
      for (std::int32_t word = 0; word * 64 < tiles * kTile; ++word) {
        matches.push_back(random.Next());
      }
      for (std::size_t leaf = 0; leaf < of_leaf.size(); ++leaf) {
        if ((matches[leaf / 64] >> leaf % 64 & 1) != 0) continue;
        expected[leaf / kTile] -= table.values[of_leaf[leaf]];
      }
      expect_sums(matches.data());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(SimdImplementationTest, R18_7_FindsReasonsAsTheDecisionDoes) {
  constexpr std::int32_t kRun = SimdImplementation::kReadAhead;
  constexpr std::int32_t kColumns = 4;
  const std::vector<Amount> odd = {std::numeric_limits<Amount>::min(), -1, 0, 1,
                                   std::numeric_limits<Amount>::max()};
  Random random(10);
  for (int round = 0; round < 300; ++round) {
    const auto leaves = static_cast<std::int32_t>(random.Between(0, 5)) * kRun;
    const std::int64_t stride = leaves + random.Between(0, 9);
    std::vector<Amount> amounts;
    for (std::int64_t i = 0; i < stride * kColumns; ++i) {
      amounts.push_back(random.Chance(20) ? random.Pick(odd) : random.Between(-2, 12));
    }
    const CapacityView capacity{amounts.data(), stride};
    std::vector<std::int32_t> columns;
    std::vector<Amount> requests;
    for (std::int64_t i = random.Between(0, 9); i > 0; --i) {
      columns.push_back(static_cast<std::int32_t>(random.Between(-1, kColumns - 1)));
      requests.push_back(random.Chance(10) ? std::numeric_limits<Amount>::max()
                                           : random.Between(0, 4));
    }
    const auto size = static_cast<std::int32_t>(requests.size());
    const RequestView request{size, columns.data(), requests.data()};
    std::vector<std::int16_t> reasons(static_cast<std::size_t>(leaves) + 1, kUntouched);
    Tested().find_reasons(request, capacity, leaves, reasons.data());
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
      const RemainingOnLeaf remaining{capacity, request, nullptr, leaf};
      ASSERT_EQ(reasons[static_cast<std::size_t>(leaf)], FirstWithoutRoom(request, remaining));
    }
    EXPECT_EQ(reasons.back(), kUntouched);

    const std::int32_t counted =
        std::max(leaves - static_cast<std::int32_t>(random.Between(0, 3)), 0);
    std::vector<std::int32_t> times;
    std::vector<std::int64_t> once(requests.size(), 3), several = once, sums = once;
    for (std::int32_t i = 0; i < counted; ++i) {
      times.push_back(static_cast<std::int32_t>(random.Between(0, 9)));
      const std::int16_t reason = reasons[static_cast<std::size_t>(i)];
      if (reason < 0) continue;
      ++once[static_cast<std::size_t>(reason)];
      several[static_cast<std::size_t>(reason)] += times.back();
    }
    Tested().add_by_reason(reasons.data(), nullptr, counted, size, sums.data());
    ASSERT_EQ(sums, once);
    std::ranges::fill(sums, 3);
    Tested().add_by_reason(reasons.data(), times.data(), counted, size, sums.data());
    ASSERT_EQ(sums, several);
  }
}

TEST_P(SimdImplementationTest, R18_7_FindsReasonsInTilesAsInAmounts) {
  constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
  constexpr std::int32_t kColumns = 4;
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const auto tiles = static_cast<std::int32_t>(random.Between(1, 5));
    std::vector<float> units;
    for (std::int32_t i = 0; i < tiles * kColumns * kTile; ++i) {
      units.push_back(static_cast<float>(random.Between(-2, 12)));
    }
    BulkRequest request;
    request.tiles = units.data();
    request.tile_stride = kColumns * kTile;
    for (std::int32_t resource = 0; resource < 6; ++resource) {
      if (random.Chance(40)) continue;  // a request of 0 has no entry
      BulkRequest::FloatColumn entry;
      entry.row = static_cast<std::int32_t>(random.Between(0, kColumns - 1)) * kTile;
      entry.request = static_cast<float>(random.Between(1, 4));
      request.workers.narrow.push_back(entry);
      request.workers.resource.push_back(resource);
    }
    const auto first = static_cast<std::int32_t>(random.Between(0, tiles - 1));
    const std::int32_t leaves = (tiles - first) * kTile;
    std::vector<std::int16_t> reasons(static_cast<std::size_t>(leaves) + 1, kUntouched);
    Tested().find_reasons_in_tiles(request, first, tiles - first, reasons.data());
    for (std::int32_t i = 0; i < leaves; ++i) {
      const std::int32_t leaf = first * kTile + i;
      std::int16_t expected = -1;
      for (std::size_t at = request.workers.narrow.size(); at-- > 0;) {
        const BulkRequest::FloatColumn& entry = request.workers.narrow[at];
        const std::int32_t place = leaf / kTile * kColumns * kTile + entry.row + leaf % kTile;
        if (units[static_cast<std::size_t>(place)] < entry.request) {
          expected = static_cast<std::int16_t>(request.workers.resource[at]);
        }
      }
      ASSERT_EQ(reasons[static_cast<std::size_t>(i)], expected) << leaf;
    }
    EXPECT_EQ(reasons.back(), kUntouched);
  }
}

TEST_P(SimdImplementationTest, FindsTheFirstTightest) {
  Random random(7);
  for (std::int32_t size = 0; size < 300; ++size) {
    std::vector<StoredCount> values;
    std::vector<StoredCount> ties;
    for (std::int32_t i = 0; i < size; ++i) {
      values.push_back(static_cast<StoredCount>(random.Between(0, 2 + size / 4)));
      ties.push_back(static_cast<StoredCount>(random.Between(0, 2)));
    }
    if (size % 7 == 6) values.back() = kMaxStored;
    const std::vector<StoredCount> needs = {
        0, 1, static_cast<StoredCount>(random.Between(0, 2 + size / 4)), 1000, kMaxStored};
    for (const StoredCount need : needs) {
      for (const bool with_ties : {false, true}) {
        std::int32_t expected = -1;
        for (std::int32_t i = 0; i < size; ++i) {
          const auto key = [&](std::int32_t at) {
            const auto index = static_cast<std::size_t>(at);
            return std::pair(values[index], with_ties ? ties[index] : 0);
          };
          if (key(i).first < need) continue;
          if (expected < 0 || key(i) < key(expected)) expected = i;
        }
        ASSERT_EQ(Tested().tightest(values.data(), with_ties ? ties.data() : nullptr, size, need),
                  expected)
            << "size " << size << " need " << need;
        EXPECT_EQ(SerialTeam().first_tightest(values.data(), with_ties ? ties.data() : nullptr,
                                              size, need),
                  expected);
      }
    }
  }
}

TEST_P(SimdImplementationTest, FindsWhatChanged) {
  Random random(8);
  for (std::int32_t size = 0; size < 100; ++size) {
    std::vector<Stamp> changes;
    std::vector<StoredCount> pods;
    for (std::int32_t i = 0; i < size; ++i) {
      // Some differ only above their lower 32 bits.
      changes.push_back((Stamp{5} << 40) + static_cast<Stamp>(random.Between(0, 20)) +
                        (random.Chance(20) ? Stamp{1} << 63 : 0) -
                        (random.Chance(20) ? Stamp{1} << 39 : 0));
      pods.push_back(static_cast<StoredCount>(random.Between(0, 1)));
    }
    const Stamp since = (Stamp{5} << 40) + 10;
    const std::int32_t begin = size / 3;
    for (const bool skip_empty : {false, true}) {
      std::vector<std::int32_t> expected;
      for (std::int32_t i = begin; i < size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (changes[at] > since && !(skip_empty && pods[at] == 0)) expected.push_back(i);
      }
      std::vector<std::int32_t> groups(static_cast<std::size_t>(size) +
                                       SimdImplementation::kReadAhead);
      const std::int32_t count = Tested().changed(
          changes.data(), skip_empty ? pods.data() : nullptr, begin, size, since, groups.data());
      groups.resize(static_cast<std::size_t>(count));
      ASSERT_EQ(groups, expected) << "size " << size;
    }
  }
}

std::vector<std::string_view> ImplementationNames() {
  std::vector<std::string_view> names;
  for (const SimdImplementation& supported : SupportedSimdImplementations())
    names.push_back(supported.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Implementations, SimdImplementationTest,
                         ::testing::ValuesIn(ImplementationNames()),
                         [](const auto& tested) { return std::string(tested.param); });

// Floats promise exact quotients for every capacity up to kMaxUnits.
TEST(ReciprocalTest, R5_9_IsExactBelowAndAtEveryMultiple) {
  Random random(9);
  for (int i = 0; i < 400'000; ++i) {
    const Amount request =
        random.Chance(50) ? random.Between(1, 3000) : random.Between(1, TiledCapacity::kMaxUnits);
    const Amount multiple = random.Between(0, TiledCapacity::kMaxUnits / request) * request;
    for (const Amount free : {multiple - 1, multiple, multiple + request - 1}) {
      if (free < 0 || free > TiledCapacity::kMaxUnits) continue;
      const float quotient = static_cast<float>(free) * Reciprocal<float>(request);
      ASSERT_EQ(static_cast<Amount>(quotient), free / request) << free << " / " << request;
    }
  }
}

TEST(PlainImplementationTest, IsAlwaysSupported) {
  ASSERT_FALSE(SupportedSimdImplementations().empty());
  EXPECT_EQ(SupportedSimdImplementations().back().name, "plain");
}

}  // namespace
}  // namespace espalier::simd_implementation_test
