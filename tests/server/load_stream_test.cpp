// LoadState streams that are not what they should be: nothing is published that was not sent whole.
#include <google/protobuf/descriptor.h>

#include "tests/server/raw_stream.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::load_stream_test {
namespace {

constexpr const char* kLoadState = "/espalier.v1.ClusterState/LoadState";

// A cluster in several chunks, as bytes.
std::vector<std::string> Chunks() {
  ClusterStateInput input = SmallCluster(1);
  for (int i = 4; i < 9000; ++i) {
    input.nodes.push_back(input.nodes.front());
    input.nodes.back().name = "host-" + std::to_string(i);
    input.nodes.back().labels.Set(kHostnameLabel, input.nodes.back().name);
  }
  input.non_tas_usage = {{"host-1", {{"cpu", 1000}}}};
  input.tas_usage = {{"main", "host-2", {{"cpu", 1000}}}, {"main", "host-3", {{"cpu", 1000}}}};
  std::vector<std::string> chunks;
  ToChunks(input, [&](const v1::LoadStateRequest& chunk) {
    chunks.push_back(chunk.SerializeAsString());
    return true;
  });
  EXPECT_GE(chunks.size(), 5u);
  return chunks;
}

class LoadStream : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.Load(SmallCluster()).ok()); }

  grpc::Status Send(const std::vector<std::string>& chunks) {
    RawStream stream(server_.channel, kLoadState);
    for (const std::string& chunk : chunks) {
      if (!stream.Write(chunk)) break;
    }
    return stream.Finish();
  }

  void ExpectRefused(const std::vector<std::string>& chunks, const std::string& why) {
    const grpc::Status status = Send(chunks);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << status.error_message();
    EXPECT_NE(status.error_message().find(why), std::string::npos) << status.error_message();
    EXPECT_EQ(server_.Summary().state().generation(), 1u);
    EXPECT_EQ(server_.Summary().nodes(), 16);
  }

  TestServer server_;
  std::vector<std::string> chunks_ = Chunks();
};

TEST_F(LoadStream, IsPublishedWhenItIsWhole) {
  EXPECT_TRUE(Send(chunks_).ok());
  EXPECT_EQ(server_.Summary().state().generation(), 2u);
  EXPECT_EQ(server_.Summary().nodes(), 9000);
}

TEST_F(LoadStream, AChunkThatCannotBeParsedIsRefusedWhereverItStands) {
  for (std::size_t bad = 0; bad < chunks_.size(); ++bad) {
    std::vector<std::string> chunks = chunks_;
    const std::string why = "chunk[" + std::to_string(bad) + "]: the bytes are no ";
    chunks[bad].pop_back();
    ExpectRefused(chunks, why);
    chunks[bad] = "\xff\xff\xff garbage";
    ExpectRefused(chunks, why);
    chunks[bad] = std::string("\x0a\x02\xc3\x28", 4);  // strings: not UTF-8
    ExpectRefused(chunks, why);
  }
}

TEST_F(LoadStream, WithoutAnEndIsRefused) {
  ExpectRefused({}, "the stream broke off after 0 chunks");
  while (chunks_.size() > 1) {
    chunks_.pop_back();
    ExpectRefused(chunks_, "none of them has `end`");
  }
}

TEST_F(LoadStream, AChunkThatWasLostIsNoticed) {
  for (std::size_t lost = 0; lost + 1 < chunks_.size(); ++lost) {
    std::vector<std::string> chunks = chunks_;
    chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(lost));
    ExpectRefused(chunks, "end.nodes: is 9000, but ");
  }
}

TEST_F(LoadStream, TheEndCountsUsageToo) {
  v1::LoadStateRequest last;
  last.ParseFromString(chunks_.back());
  last.mutable_end()->set_tas_usage(3);
  chunks_.back() = last.SerializeAsString();
  ExpectRefused(chunks_, "end.tas_usage: is 3, but 2 came in ");
}

TEST_F(LoadStream, NothingComesAfterTheEnd) {
  chunks_.push_back("");
  ExpectRefused(chunks_, "comes after the chunk with `end`");
}

TEST_F(LoadStream, AChunkOverTheLimitIsRefused) {
  ServerOptions options;
  options.max_message_bytes = 1 << 20;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  for (std::size_t bad = 0; bad <= chunks_.size(); ++bad) {
    RawStream stream(server.channel, kLoadState);
    for (std::size_t i = 0; i < bad; ++i) {
      if (i + 1 < chunks_.size()) stream.Write(chunks_[i]);
    }
    stream.Write(std::string(2 << 20, 'x'));
    EXPECT_EQ(stream.Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
    EXPECT_EQ(server.Summary().state().generation(), 1u);
  }
}

// Four of them once kept everybody from loading.
TEST_F(LoadStream, StreamsThatStandStillKeepNobody) {
  ServerOptions options;
  options.patience = std::chrono::hours(1);
  TestServer server(options);
  std::vector<std::unique_ptr<RawStream>> streams;
  for (int i = 0; i < 20; ++i) {
    streams.push_back(std::make_unique<RawStream>(server.channel, kLoadState));
    EXPECT_TRUE(streams.back()->Write(chunks_.front()));
  }
  EXPECT_TRUE(server.Load(SmallCluster()).ok());
  for (const auto& stream : streams) {
    stream->context().TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::CANCELLED);
  }
}

TEST_F(LoadStream, StreamsThatStandStillEnd) {
  ServerOptions options;
  options.patience = std::chrono::milliseconds(50);
  TestServer server(options);
  std::vector<std::unique_ptr<RawStream>> streams;
  for (int i = 0; i < 20; ++i) {
    streams.push_back(std::make_unique<RawStream>(server.channel, kLoadState));
    streams.back()->Write(chunks_.front());  // which fails for one that has ended already
  }
  for (const auto& stream : streams) {
    stream->ReadToEnd();  // without a word of ours
    EXPECT_EQ(stream->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
  }
  EXPECT_TRUE(server.server->Drain(std::chrono::minutes(1)));
}

TEST(Undecodable, MessagesAreInvalidInEveryCall) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  int calls = 0;
  for (const char* name : {"ClusterState", "Placement", "Questions", "Scheduling", "Ungating",
                           "Dispatching", "MultiKueue", "Workloads"}) {
    const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
        std::string("espalier.v1.") + name);
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string method = "/" + service->full_name() + "/" + service->method(i)->name();
      for (const char* bytes : {"\xff\xff\xff\xff", "\x0a\x7f", "\x0b\x0b\x0b"}) {
        const grpc::Status status = SendRaw(server.channel, method, bytes);
        EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << method;
        EXPECT_NE(status.error_message().find("the bytes are no espalier.v1."), std::string::npos)
            << status.error_message();
        ++calls;
      }
    }
  }
  EXPECT_EQ(calls, 29 * 3);
}

TEST(Compression, IsRefusedBeforeAnythingInflates) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    RawStream call(server.channel, "/espalier.v1.Placement/Place");
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    v1::PlaceRequest request = MakePlaceRequest({MakeGang(std::string(100'000, 'x'), 1)});
    v1::PlaceResponse response;
    const grpc::Status status = server.placement->Place(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::UNIMPLEMENTED) << status.error_message();
  }
  EXPECT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 1)})).ok());
}

}  // namespace
}  // namespace espalier::load_stream_test
