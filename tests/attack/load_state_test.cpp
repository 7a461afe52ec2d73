// Streams of a state that are not what they should be: nothing of them may become the state.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attack/client.hpp"
#include "tests/attack/http2.hpp"
#include "tests/attack/messages.hpp"

namespace espalier::attack::load_state_test {
namespace {

constexpr int kChunks = 10;
constexpr int kNodes = 1000;

// A server that holds a state of 16 nodes, and the chunks of one with 1,000.
class LoadState : public testing::Test {
 protected:
  explicit LoadState(const std::vector<std::string>& flags = {}) : server_(flags) {
    before_ = client_.Load(Cluster(16));
  }

  void ExpectUnchanged() {
    const v1::GetStateSummaryResponse summary = client_.Summary();
    EXPECT_EQ(summary.state().generation(), before_.generation());
    EXPECT_EQ(summary.nodes(), 16);
  }

  // Sends the chunks with the one at `position` spoiled.
  void ExpectRefused(std::size_t position, const std::function<void(std::string&)>& spoil,
                     grpc::StatusCode code = grpc::INVALID_ARGUMENT) {
    std::vector<std::string> messages = chunks_;
    spoil(messages[position]);
    const Reply reply = client_.Stream(kLoadState, messages);
    EXPECT_EQ(reply.code(), code) << "chunk " << position << ": " << reply.Text();
    ExpectUnchanged();
  }
  void ExpectRefusedEverywhere(const std::function<void(std::string&)>& spoil) {
    for (std::size_t position = 0; position < kChunks; ++position) ExpectRefused(position, spoil);
  }

  void ExpectRefused(const std::vector<v1::LoadStateRequest>& chunks) {
    const Reply reply = client_.Stream(kLoadState, Serialized(chunks));
    EXPECT_EQ(reply.code(), grpc::INVALID_ARGUMENT) << reply.Text();
    ExpectUnchanged();
  }

  ServerProcess server_;
  Client client_{server_.address()};
  v1::StatePosition before_;
  const std::vector<std::string> chunks_ = Serialized(Cluster(kNodes, kNodes / kChunks));
};

TEST_F(LoadState, RefusesGarbageInPlaceOfAnyChunk) {
  ExpectRefusedEverywhere([](std::string& chunk) { chunk.assign(100, '\xff'); });
}

TEST_F(LoadState, RefusesAnyChunkThatIsCutByAByte) {
  ExpectRefusedEverywhere([](std::string& chunk) { chunk.pop_back(); });
}

TEST_F(LoadState, RefusesAnyChunkThatIsNotUtf8) {
  ExpectRefusedEverywhere([](std::string& chunk) { chunk += "\x0a\x02\xc3\x28"; });
}

TEST_F(LoadState, RefusesAStreamOfGarbageAlone) {
  const Reply reply = client_.Stream(kLoadState, std::vector<std::string>{"\xff\xff\xff"});
  EXPECT_EQ(reply.code(), grpc::INVALID_ARGUMENT) << reply.Text();
  ExpectUnchanged();
}

TEST_F(LoadState, RefusesAStreamThatClosesWithoutItsEnd) {
  ExpectRefused(UnendedChunks(kNodes, 100));
  const Reply nothing = client_.Stream(kLoadState, std::vector<std::string>{});
  EXPECT_EQ(nothing.code(), grpc::INVALID_ARGUMENT) << nothing.Text();
  ExpectUnchanged();
}

TEST_F(LoadState, RefusesAStreamThatLostAChunk) {
  for (int lost = 0; lost + 1 < kChunks; ++lost) {
    auto chunks = Cluster(kNodes, kNodes / kChunks);
    chunks.erase(chunks.begin() + lost);
    ExpectRefused(chunks);
  }
}

TEST_F(LoadState, RefusesAnEndWithOtherNumbers) {
  for (const std::int64_t off : {-1, 1}) {
    auto chunks = Cluster(kNodes);
    v1::LoadStateEnd& end = *chunks.back().mutable_end();
    end.set_nodes(end.nodes() + off);
    ExpectRefused(chunks);
    end.set_nodes(kNodes);
    end.set_non_tas_usage(off);
    ExpectRefused(chunks);
    end.set_non_tas_usage(0);
    end.set_tas_usage(off);
    ExpectRefused(chunks);
  }
}

TEST_F(LoadState, RefusesChunksBehindTheEnd) {
  auto chunks = Cluster(kNodes);
  chunks.emplace_back();
  ExpectRefused(chunks);
  chunks.back() = chunks.front();
  ExpectRefused(chunks);
}

TEST_F(LoadState, RefusesAChunkThatIsNoGzip) {
  for (int i = 0; i < 20; ++i) {
    std::vector<AsGzip> messages;
    for (const std::string& chunk : chunks_) messages.push_back({chunk});
    const Reply reply = client_.Stream(kLoadState, messages);
    EXPECT_FALSE(reply.ok());
    ExpectUnchanged();
  }
}

TEST_F(LoadState, IsNotChangedByAStreamThatIsGivenUp) {
  for (int i = 0; i < 5; ++i) {
    const auto stream = client_.Open(kLoadState, kPatience);
    for (int chunk = 0; chunk < i * 2; ++chunk) {
      ASSERT_TRUE(stream->Write(chunks_[static_cast<std::size_t>(chunk)]));
    }
  }  // cancelled
  ExpectUnchanged();
}

class LoadStateOfShortMessages : public LoadState {
 protected:
  LoadStateOfShortMessages() : LoadState({"--max-message-bytes", "1MiB"}) {}
};

TEST_F(LoadStateOfShortMessages, RefusesALongChunk) {
  for (int i = 0; i < 20; ++i) {
    ExpectRefused(
        static_cast<std::size_t>(i % kChunks),
        [](std::string& chunk) {
          const std::string text(2'000'000, 'x');
          v1::LoadStateRequest more;
          more.add_strings(text);
          chunk += more.SerializeAsString();
        },
        grpc::RESOURCE_EXHAUSTED);
  }
}

// Inflates to 5 GB, a thousand times what was sent.
TEST_F(LoadState, OfAGzipBombEndsInARefusal) {
  const AsGzip bomb{GzipOfZeros(5000)};
  for (int i = 0; i < 2; ++i) {
    const Reply reply = client_.Stream(kLoadState, std::vector<AsGzip>{bomb});
    EXPECT_FALSE(reply.ok());
  }
  for (const char* method : kUnaryMethods) {
    EXPECT_FALSE(client_.Call(method, bomb).ok()) << method;
  }
  ASSERT_TRUE(server_.Running());
  ExpectUnchanged();
  EXPECT_TRUE(server_.StayedWithinItsMemory()) << server_.PeakBytes() / kMiB << " MiB";
}

// Open streams that say nothing more keep nobody from loading.
TEST_F(LoadState, IsOpenToOthersBesideStreamsThatStandStill) {
  for (const int count : {4, 300}) {
    std::vector<std::unique_ptr<OpenStream>> streams;
    Client others(server_.address());
    for (int i = 0; i < count; ++i) {
      streams.push_back(others.Open(kLoadState));
      ASSERT_TRUE(streams.back()->Write(chunks_.front()));
    }
    ASSERT_TRUE(server_.BecomesIdle());  // it has taken all of them in
    const Reply reply = client_.Stream(kLoadState, Serialized(Cluster(16)));
    ASSERT_TRUE(reply.ok()) << count << " streams: " << reply.Text();
    before_ = reply.As<v1::LoadStateResponse>().state();
  }
  ExpectUnchanged();
}

TEST_F(LoadState, IsOpenToOthersBesideConnectionsThatStandStill) {
  std::vector<std::unique_ptr<DeafConnection>> connections;
  for (int i = 0; i < 100; ++i) {
    connections.push_back(std::make_unique<DeafConnection>(server_.socket_path()));
    for (int call = 0; call < 3; ++call) connections.back()->StartCall(kLoadState);
  }
  const Reply reply = client_.Stream(kLoadState, Serialized(Cluster(16)));
  ASSERT_TRUE(reply.ok()) << reply.Text();
}

class LoadStateWithShortPatience : public LoadState {
 protected:
  LoadStateWithShortPatience() : LoadState({"--idle-seconds", "1"}) {}
};

TEST_F(LoadStateWithShortPatience, EndsAStreamThatStandsStill) {
  const auto silent = client_.Open(kLoadState, kPatience);
  const auto begun = client_.Open(kLoadState, kPatience);
  ASSERT_TRUE(begun->Write(chunks_.front()));
  for (OpenStream* stream : {silent.get(), begun.get()}) {
    const Reply reply = stream->Finish();
    // The client's own deadline would end it after minutes, with DEADLINE_EXCEEDED from itself.
    EXPECT_THAT(reply.Text(), testing::Not(testing::HasSubstr("Deadline Exceeded")));
    EXPECT_FALSE(reply.ok());
  }
  ExpectUnchanged();
}

struct UndecodableMessage {
  const char* name;
  void (*spoil)(std::string& message);
};

class Undecodable : public testing::TestWithParam<UndecodableMessage> {};

TEST_P(Undecodable, IsAnInvalidArgumentInEveryCall) {
  ServerProcess server;
  Client client(server.address());
  client.Load(Cluster(16));
  for (const char* method : kUnaryMethods) {
    std::string message = SoundRequest(method);
    // A message without fields gets one that nobody knows, so that it can be spoilt too.
    if (message.empty()) message = "\x7a\x02xx";
    GetParam().spoil(message);
    const Reply reply = client.Call(method, message);
    if (method == std::string(kGetStateSummary) && GetParam().name == std::string("NotUtf8")) {
      EXPECT_TRUE(reply.ok()) << reply.Text();  // has no text that could be wrong
      continue;
    }
    EXPECT_EQ(reply.code(), grpc::INVALID_ARGUMENT) << method << ": " << reply.Text();
  }
  EXPECT_TRUE(server.Running());
}

// `strings` is the field that every table of texts is, or is within.
INSTANTIATE_TEST_SUITE_P(
    , Undecodable,
    testing::Values(UndecodableMessage{"Garbage", [](std::string& m) { m.assign(50, '\xff'); }},
                    UndecodableMessage{"CutByAByte",
                                       [](std::string& m) {
                                         m += "\x7a\x02xx";
                                         m.pop_back();
                                       }},
                    UndecodableMessage{"NotUtf8",
                                       [](std::string& m) {
                                         if (const auto at = m.find("main"); at != m.npos) {
                                           m[at] = '\xc3';
                                         } else if (const auto other = m.find("default");
                                                    other != m.npos) {
                                           m[other] = '\xc3';
                                         }
                                       }}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace espalier::attack::load_state_test
