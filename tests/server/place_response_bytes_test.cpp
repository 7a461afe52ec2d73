// Answers go out as the bytes of their message, however few or many.
#include "service/server/place_response_bytes.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::string Sent(const v1::PlaceResponse& message) {
  grpc::ByteBuffer bytes;
  bool own = false;
  EXPECT_TRUE(grpc::SerializationTraits<v1::PlaceResponse>::Serialize(message, &bytes, &own).ok());
  EXPECT_TRUE(own);
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

TEST(PlaceResponseBytesTest, AreThoseOfTheMessage) {
  v1::PlaceResponse message;
  EXPECT_EQ(Sent(message), "");
  message.mutable_state()->set_generation(7);
  EXPECT_EQ(Sent(message), message.SerializeAsString());
  for (int i = 0; i < 100000; ++i) message.mutable_answers()->add_domains(i * 37 - 5);
  message.mutable_answers()->add_strings("a reason");
  EXPECT_EQ(Sent(message), message.SerializeAsString());
}

}  // namespace
}  // namespace espalier
