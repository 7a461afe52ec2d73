#include "service/wire/place_response.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "host/packing/flavor_state.hpp"
#include "host/packing/parallel_for.hpp"
#include "service/wire/message_bytes.hpp"

namespace espalier {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr std::size_t kMostVarintBytes = 5;  // of 32 bits

std::uint8_t* Bytes(const grpc::Slice& slice) { return const_cast<std::uint8_t*>(slice.begin()); }

// Adds a field that `parts` are, one behind the other; none when there is nothing in them.
void AddField(int field, const std::vector<grpc::Slice>& parts, std::vector<grpc::Slice>& message) {
  std::size_t bytes = 0;
  for (const grpc::Slice& part : parts) bytes += part.size();
  if (bytes == 0) return;
  std::array<std::uint8_t, 2 * kMostVarintBytes> header;
  std::uint8_t* end = WireFormatLite::WriteTagToArray(
      field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, header.data());
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(bytes), end);
  message.emplace_back(header.data(), static_cast<std::size_t>(end - header.data()));
  message.insert(message.end(), parts.begin(), parts.end());
}

// Writes `value` as protobuf does; up to a byte behind it may be overwritten. Most leaves of a
// large cluster take three bytes, most numbers of pods one. Inline, as a call would cost as much.
inline std::uint8_t* WriteVarint(std::uint32_t value, std::uint8_t* end) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint32_t kMore = 0x80;
  if (value < (1u << 7)) {
    *end = static_cast<std::uint8_t>(value);
    return end + 1;
  }
  if (value >= (1u << 14) && value < (1u << 21)) {
    const std::uint32_t bytes =
        (value & 0x7f) | kMore | (value << 1 & 0x7f00) | kMore << 8 | (value << 2 & 0x7f0000);
    std::memcpy(end, &bytes, sizeof(bytes));
    return end + 3;
  }
  return CodedOutputStream::WriteVarint32ToArray(value, end);
}

// Gangs whose part of the columns one thread writes.
constexpr std::size_t kGangsOfPart = 512;

// The numbers that stand for the leaves of a flavor.
struct LeafNumbers {
  const FlavorSnapshot* flavor = nullptr;             // null: nothing is placed on it
  const std::vector<std::uint32_t>* named = nullptr;  // null: leaves go by their index

  std::int32_t Of(LeafId leaf) const {
    return named == nullptr
               ? flavor->IndexOf(leaf)
               : -static_cast<std::int32_t>((*named)[static_cast<std::size_t>(leaf.value)]);
  }
};

// The part of the gangs from `first` on; `numbers` by shape.
void WriteColumns(std::size_t first, const GangRequests& requests, const GangAnswers& gangs,
                  const std::vector<LeafNumbers>& numbers, grpc::Slice& domains,
                  grpc::Slice& counts) {
  const std::size_t end = std::min(first + kGangsOfPart, requests.gangs.size());
  std::size_t entries = 0;
  for (std::size_t g = first; g < end; ++g) {
    entries += gangs.SharesOf(g).size() * requests.PodSets(requests.gangs[g].shape);
  }
  const grpc::Slice domains_room(entries * kMostVarintBytes + 1);
  const grpc::Slice counts_room(entries * kMostVarintBytes + 1);
  std::uint8_t* domains_end = Bytes(domains_room);
  std::uint8_t* counts_end = Bytes(counts_room);
  for (std::size_t g = first; g < end; ++g) {
    if (gangs.status[g] != PlacementStatus::kPlaced) continue;
    const std::int32_t shape = requests.gangs[g].shape;
    const LeafNumbers& leaves = numbers[static_cast<std::size_t>(shape)];
    for (int p = 0; p < requests.PodSets(shape); ++p) {
      const bool leader = requests.IsLeader(shape, p);
      for (const LeafShare& share : gangs.SharesOf(g)) {
        const Count count = leader ? share.leaders : share.pods;
        if (count == 0) continue;
        domains_end =
            WriteVarint(WireFormatLite::ZigZagEncode32(leaves.Of(share.leaf)), domains_end);
        counts_end = WriteVarint(static_cast<std::uint32_t>(count), counts_end);
      }
    }
  }
  domains = domains_room.sub(0, static_cast<std::size_t>(domains_end - domains_room.begin()));
  counts = counts_room.sub(0, static_cast<std::size_t>(counts_end - counts_room.begin()));
}

}  // namespace

grpc::ByteBuffer ToBytes(const v1::PlaceResponse& head, const AnswerRows& rows,
                         const GangRequests& requests, const GangAnswers& gangs,
                         const ClusterState& state) {
  std::vector<LeafNumbers> numbers;  // by shape
  for (const auto& shape : requests.shapes) {
    LeafNumbers& leaves = numbers.emplace_back();
    const FlavorState* flavor = state.Find(shape->specification.workers.flavor);
    if (flavor == nullptr) continue;
    leaves.flavor = &flavor->snapshot();
    if (!rows.named) continue;
    const auto named = rows.named->find(leaves.flavor);
    if (named != rows.named->end()) leaves.named = &named->second;
  }
  const std::size_t parts = (requests.gangs.size() + kGangsOfPart - 1) / kGangsOfPart;
  std::vector<grpc::Slice> domains(parts);
  std::vector<grpc::Slice> counts(parts);
  ParallelFor(parts, gangs.shares.size(), [&](std::size_t part) {
    WriteColumns(part * kGangsOfPart, requests, gangs, numbers, domains[part], counts[part]);
  });
  std::vector<grpc::Slice> fields = {ToSlice(rows.message)};
  AddField(v1::AnswerBatch::kDomainsFieldNumber, domains, fields);
  AddField(v1::AnswerBatch::kCountsFieldNumber, counts, fields);
  std::vector<grpc::Slice> response = {ToSlice(head)};
  AddField(v1::PlaceResponse::kAnswersFieldNumber, fields, response);
  return {response.data(), response.size()};
}

}  // namespace espalier
