#include "service/wire/place_response.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "host/packing/parts.hpp"

namespace espalier {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr std::size_t kMostVarintBytes = 5;  // of 32 bits

std::uint8_t* Bytes(const grpc::Slice& slice) { return const_cast<std::uint8_t*>(slice.begin()); }

grpc::Slice ToSlice(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(Bytes(slice));
  return slice;
}

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

// Gangs whose part of a column one thread writes.
constexpr std::size_t kGangsOfPart = 1024;

// A part of a packed column: what `of` makes of the shares of the gangs from `first` on.
template <class Of>
grpc::Slice PartOfColumn(std::size_t first, const GangRequests& requests, const GangAnswers& gangs,
                         const Of& of) {
  const std::size_t end = std::min(first + kGangsOfPart, requests.gangs.size());
  std::size_t domains = 0;
  for (std::size_t g = first; g < end; ++g) {
    domains += gangs.SharesOf(g).size() * requests.PodSets(requests.gangs[g].shape);
  }
  const grpc::Slice room(domains * kMostVarintBytes);
  std::uint8_t* next = Bytes(room);
  for (std::size_t g = first; g < end; ++g) {
    if (gangs.status[g] != PlacementStatus::kPlaced) continue;
    const std::int32_t shape = requests.gangs[g].shape;
    for (int p = 0; p < requests.PodSets(shape); ++p) {
      const bool leader = requests.IsLeader(shape, p);
      for (const LeafShare& share : gangs.SharesOf(g)) {
        const Count count = leader ? share.leaders : share.pods;
        if (count != 0) next = CodedOutputStream::WriteVarint32ToArray(of(share.leaf, count), next);
      }
    }
  }
  return room.sub(0, static_cast<std::size_t>(next - room.begin()));
}

}  // namespace

grpc::ByteBuffer ToBytes(const v1::PlaceResponse& response) {
  const grpc::Slice slice = ToSlice(response);
  return {&slice, 1};
}

grpc::ByteBuffer ToBytes(const v1::PlaceResponse& head, const v1::AnswerBatch& answers,
                         const GangRequests& requests, const GangAnswers& gangs) {
  const std::size_t parts = (requests.gangs.size() + kGangsOfPart - 1) / kGangsOfPart;
  std::vector<grpc::Slice> domains(parts);
  std::vector<grpc::Slice> counts(parts);
  ForEachPart(2 * parts, gangs.shares.size(), [&](std::size_t part) {
    const std::size_t first = part / 2 * kGangsOfPart;
    if (part % 2 == 0) {
      domains[part / 2] = PartOfColumn(first, requests, gangs, [](LeafId leaf, Count) {
        return WireFormatLite::ZigZagEncode32(leaf.value);
      });
    } else {
      counts[part / 2] = PartOfColumn(first, requests, gangs, [](LeafId, Count count) {
        return static_cast<std::uint32_t>(count);
      });
    }
  });
  std::vector<grpc::Slice> fields = {ToSlice(answers)};
  AddField(v1::AnswerBatch::kDomainsFieldNumber, domains, fields);
  AddField(v1::AnswerBatch::kCountsFieldNumber, counts, fields);
  std::vector<grpc::Slice> response = {ToSlice(head)};
  AddField(v1::PlaceResponse::kAnswersFieldNumber, fields, response);
  return {response.data(), response.size()};
}

}  // namespace espalier
