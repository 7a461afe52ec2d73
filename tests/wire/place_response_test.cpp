// Answers go out as the bytes of their message, however few or many.
#include "service/wire/place_response.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "service/wire/message_bytes.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::place_response_test {
namespace {

std::string Text(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

TEST(PlaceResponseBytes, AreThoseOfTheMessage) {
  v1::PlaceResponse message;
  EXPECT_EQ(Text(ToBytes(message)), "");
  message.mutable_state()->set_generation(7);
  EXPECT_EQ(Text(ToBytes(message)), message.SerializeAsString());
  for (int i = 0; i < 100000; ++i) message.mutable_answers()->add_domains(i * 37 - 5);
  message.mutable_answers()->add_strings("a reason");
  EXPECT_EQ(Text(ToBytes(message)), message.SerializeAsString());
}

// A state of which the leaf in the middle is vacant.
ClusterState WithoutB() {
  ClusterStateInput input = Gpus({{"r1/a", 8}, {"r1/b", 8}, {"r2/c", 8}});
  ClusterState state = BuildState(input);
  StateChange change;
  change.nodes = {{&input.nodes[1], nullptr, nullptr, nullptr}};
  EXPECT_TRUE(state.CanApply(change));
  EXPECT_TRUE(state.Apply(change, true, WorkBudget::Unlimited()));
  return state;
}

// Gangs with and without leaders, placed or not, on leaves and with numbers of pods of all lengths.
TEST(PlaceResponseBytes, OfGangsAreThoseOfTheMessage) {
  Random random(1);
  const auto any = [&](std::int32_t most) {
    return static_cast<std::int32_t>(random.Below(1ULL << (1 + random.Below(32)))) & most;
  };
  const ClusterState state = WithoutB();
  const FlavorSnapshot& flavor = state.Find("tas")->snapshot();
  EXPECT_EQ(flavor.IndexOf(LeafId(2)), 1);
  GangRequests requests;
  for (const int shape : {0, 1, 2}) {
    ResolvedGangShape resolved;
    resolved.specification.workers.flavor = "tas";
    if (shape > 0) resolved.specification.leader.emplace();
    resolved.specification.leader_first = shape == 2;
    requests.shapes.push_back(std::make_shared<const ResolvedGangShape>(std::move(resolved)));
  }
  for (const int count : {0, 1, 3000}) {
    requests.gangs.clear();
    GangAnswers gangs;
    v1::PlaceResponse message;
    message.mutable_state()->set_generation(7);
    const std::string head = message.SerializeAsString();
    v1::AnswerBatch rows;
    rows.add_domain_offsets(0);
    *message.mutable_answers() = rows;
    for (int g = 0; g < count; ++g) {
      const GangRow& gang =
          requests.gangs.emplace_back(GangRow{static_cast<std::int32_t>(random.Below(3)), 0});
      const bool placed = random.Below(4) != 0;
      gangs.status.push_back(placed ? PlacementStatus::kPlaced : PlacementStatus::kDoesNotFit);
      std::vector<LeafShare> shares(placed ? random.Below(40) : 0);
      for (LeafShare& share : shares) {
        share = {LeafId(any(0x7fffffff)), static_cast<std::int32_t>(random.Below(2)),
                 any(0x7fffffff) / 2 + 1};
        if (gang.shape != 0 && random.Below(2) == 0) share.pods = 0;
      }
      std::ranges::copy(shares, std::back_inserter(gangs.shares.Own()));
      gangs.share_end.push_back(static_cast<std::uint32_t>(gangs.shares.size()));
      for (int p = 0; p < requests.PodSets(gang.shape); ++p) {
        for (const LeafShare& share : shares) {
          const Count pods = requests.IsLeader(gang.shape, p) ? share.leaders : share.pods;
          if (pods == 0) continue;
          message.mutable_answers()->add_domains(flavor.IndexOf(share.leaf));
          message.mutable_answers()->add_counts(static_cast<std::int32_t>(pods));
        }
      }
    }
    v1::PlaceResponse only_head;
    ASSERT_TRUE(only_head.ParseFromString(head));
    EXPECT_EQ(Text(ToBytes(only_head, {rows, std::nullopt}, requests, gangs, state)),
              message.SerializeAsString())
        << count;
  }
}

}  // namespace
}  // namespace espalier::place_response_test
