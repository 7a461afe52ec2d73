// States that outlive their server: kept on disk, offered after a start, or refused by name.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>

#include "espalier/v1/server.grpc.pb.h"
#include "host/live/state_checksum.hpp"
#include "service/server/state_folder.hpp"
#include "service/wire/request_log_file.hpp"
#include "tests/generated/random.hpp"
#include "tests/server/changing_cluster.hpp"
#include "tests/server/process.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::state_dir_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A reading of a few values at a time is of the state as it was, whatever changes in between.
TEST(StateReading, IsOfTheStateAsItWas) {
  int changes_meanwhile = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ChangingCluster cluster(random);
    StateStore store;
    ASSERT_TRUE(store.Load(cluster.Input()));
    const auto change = [&] {
      const StateDelta delta = cluster.AnyChange();
      if (store.Update(store.Current()->position, delta)) cluster.Apply(delta);
      const auto before = store.Current();
      ClusterState booked = before->state.Branch();
      booked.AddUsage({cluster.AnyUsage()});
      ASSERT_TRUE(store.Book(before->position, std::move(booked)));
      ++changes_meanwhile;
    };
    for (int i = 0; i < 5; ++i) change();
    const auto contents = store.ContentsAt(std::nullopt);
    auto reading = store.BeginReading();
    ASSERT_TRUE(contents);
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->position, contents->loaded.position);
    EXPECT_EQ(
        reading->checksum, ChecksumOf(store.LoadedAt(std::nullopt)->input) + [&] {
          std::uint64_t sum = 0;
          for (const AdmittedUsage& workload : contents->workloads) {
            sum += ChecksumOf(workload);
          }
          return sum;
        }());
    ClusterStateInput read;
    for (bool more = true; more;) {
      const auto next = store.ReadOn(*reading, 1 + seed % 7, read);
      ASSERT_TRUE(next) << next.error().message;
      more = *next;
      if (more) change();
    }
    EXPECT_EQ(ChecksumOf(read), ChecksumOf(contents->loaded.input));
    EXPECT_EQ(read.nodes.size(), contents->loaded.input.nodes.size());
    EXPECT_EQ(read.tas_usage.size(), contents->loaded.input.tas_usage.size());
    EXPECT_EQ(reading->workloads->size(), contents->workloads.size());
  }
  EXPECT_GT(changes_meanwhile, 1000);
}

TEST(StateReading, EndsWithALoadAndWithTheNextReading) {
  StateStore store;
  EXPECT_EQ(store.BeginReading().error().error_class, ErrorClass::kStale);
  ASSERT_TRUE(store.Load(SmallCluster()));
  auto first = store.BeginReading();
  ClusterStateInput part;
  ASSERT_TRUE(store.ReadOn(*first, 3, part));
  auto second = store.BeginReading();
  EXPECT_EQ(store.ReadOn(*first, 3, part).error().error_class, ErrorClass::kStale);
  ASSERT_TRUE(store.ReadOn(*second, 3, part));
  ASSERT_TRUE(store.Load(SmallCluster()));
  EXPECT_EQ(store.ReadOn(*second, 3, part).error().error_class, ErrorClass::kStale);
}

class StateDir : public testing::Test {
 protected:
  static constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(5);

  StateDir() { fs::remove_all(folder_); }
  ~StateDir() override { fs::remove_all(folder_); }

  static ServerOptions Options(const std::string& folder) {
    ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    options.state_dir = {
        .folder = folder, .rest = std::chrono::milliseconds(1), .last_write = kPatience};
    return options;
  }

  // Stops a server cleanly: a call that has just been answered may not have ended yet.
  struct Stop {
    void operator()(TestServer* server) const {
      EXPECT_TRUE(server->server->Drain(kPatience));
      delete server;
    }
  };
  using Served = std::unique_ptr<TestServer, Stop>;
  static Served Serve(const std::string& folder) { return Served(new TestServer(Options(folder))); }

  static v1::StateDirStatus StatusOf(TestServer& server) {
    grpc::ClientContext context;
    v1::ServerStatusResponse response;
    EXPECT_TRUE(v1::Server::NewStub(server.channel)->Status(&context, {}, &response).ok());
    return response.state_dir();
  }

  // Waits until a state is on disk as it is.
  static void WaitUntilKept(TestServer& server, const std::string& name = "") {
    for (;;) {
      grpc::ClientContext context;
      v1::GetStateSummaryRequest request;
      request.set_state_name(name);
      v1::GetStateSummaryResponse summary;
      ASSERT_TRUE(server.cluster_state->GetStateSummary(&context, request, &summary).ok());
      const v1::StateDirStatus status = StatusOf(server);
      for (const v1::KeptState& kept : status.kept()) {
        if (kept.state_name() == name &&
            kept.state().generation() == summary.state().generation() &&
            kept.state().epoch() == summary.state().epoch()) {
          return;
        }
      }
      std::this_thread::yield();
    }
  }

  // Returns what a crash now would leave.
  std::string CrashImage() {
    const std::string image = folder_ + "-crash";
    fs::remove_all(image);
    fs::copy(folder_, image, fs::copy_options::recursive);
    images_.push_back(image);
    return image;
  }

  void TearDown() override {
    for (const std::string& image : images_) fs::remove_all(image);
  }

  std::string ReadFile() const {
    std::ifstream file(folder_ + "/state", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void WriteFile(const std::string& bytes) const {
    std::ofstream(folder_ + "/state", std::ios::binary | std::ios::trunc) << bytes;
  }

  const std::string folder_ = testing::TempDir() + "espalier-states-" + std::to_string(::getpid());
  std::vector<std::string> images_;
};

v1::UpdateStateRequest RemoveNode(const v1::StatePosition& base, const std::string& node) {
  StateDelta delta;
  delta.remove_nodes = {node};
  v1::UpdateStateRequest request = ToProto(delta);
  *request.mutable_base() = base;
  return request;
}

grpc::Status Update(TestServer& server, const v1::UpdateStateRequest& request,
                    v1::StatePosition* position = nullptr) {
  grpc::ClientContext context;
  v1::UpdateStateResponse response;
  const grpc::Status status = server.cluster_state->UpdateState(&context, request, &response);
  if (position != nullptr) *position = response.state();
  return status;
}

// The answer to a queue of gangs.
std::string Answers(TestServer& server, const std::string& state_name = "") {
  v1::PlaceRequest request =
      MakePlaceRequest({MakeGang("a", 8), MakeGang("b", 5), MakeGang("c", 8), MakeGang("d", 40)},
                       v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_state_name(state_name);
  v1::PlaceResponse response;
  EXPECT_TRUE(server.Place(request, &response).ok());
  return response.answers().SerializeAsString();
}

// A cluster with usage of all kinds: of pods, of leaves, of a workload by key, and of a commit.
void Live(TestServer& server) {
  ClusterStateInput input = SmallCluster();
  input.non_tas_usage = {{"host-0", {{"cpu", 4000}, {"pods", 1}}}};
  input.tas_usage = {{"main", "host-5", {{"cpu", 4000}, {"pods", 1}}}};
  const AdmittedUsage workload{
      {"team", "run"}, 7, 1'700'000'000, {{"main", "host-5", {{"cpu", 2000}, {"pods", 1}}}}};
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(input, &position, "", {workload}).ok());
  ASSERT_TRUE(Update(server, RemoveNode(position, "host-3"), &position).ok());
  v1::PlaceRequest commit =
      MakePlaceRequest({MakeGang("committed", 4)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  commit.set_commit(true);
  ASSERT_TRUE(server.Place(commit).ok());
}

TEST_F(StateDir, IsOfferedUnderItsPositionAfterACleanStop) {
  v1::GetStateSummaryResponse before;
  std::string answers;
  {
    const auto server = Serve(folder_);
    Live(*server);
    before = server->Summary();
    answers = Answers(*server);
  }
  const auto server = Serve(folder_);
  EXPECT_EQ(server->Summary().DebugString(), before.DebugString());
  EXPECT_EQ(before.workloads(), 1);
  EXPECT_NE(before.checksum(), 0u);
  EXPECT_EQ(Answers(*server), answers);
  EXPECT_EQ(StatusOf(*server).ignored_size(), 0);
  v1::StatePosition next;
  ASSERT_TRUE(Update(*server, RemoveNode(before.state(), "host-4"), &next).ok());
  EXPECT_EQ(next.generation(), before.state().generation() + 1);
  EXPECT_NE(next.epoch(), before.state().epoch());
  EXPECT_EQ(CurrentOf(Update(*server, RemoveNode(before.state(), "host-5"))).epoch(), next.epoch());
  ASSERT_TRUE(Update(*server, RemoveNode(next, "host-5")).ok());
}

// Once more without a change, which writes nothing anew.
TEST_F(StateDir, IsOfferedAgainAndAgain) {
  v1::GetStateSummaryResponse before;
  {
    const auto server = Serve(folder_);
    Live(*server);
    before = server->Summary();
  }
  for (int start = 0; start < 3; ++start) {
    const auto server = Serve(folder_);
    EXPECT_EQ(server->Summary().DebugString(), before.DebugString());
  }
}

// Something may have come after what is on disk, so nobody who names a position gets an answer on
// it; who compares contents may go on.
TEST_F(StateDir, HasAnotherEpochAfterACrash) {
  v1::GetStateSummaryResponse before;
  std::string answers;
  std::string image;
  {
    const auto server = Serve(folder_);
    Live(*server);
    WaitUntilKept(*server);
    before = server->Summary();
    answers = Answers(*server);
    image = CrashImage();
    ASSERT_TRUE(Update(*server, RemoveNode(before.state(), "host-9")).ok());
  }
  const auto server = Serve(image);
  v1::GetStateSummaryResponse after = server->Summary();
  EXPECT_NE(after.state().epoch(), before.state().epoch());
  EXPECT_EQ(after.state().generation(), before.state().generation());
  EXPECT_EQ(after.checksum(), before.checksum());
  EXPECT_EQ(Answers(*server), answers);
  const grpc::Status stale = Update(*server, RemoveNode(before.state(), "host-4"));
  EXPECT_EQ(CurrentOf(stale).epoch(), after.state().epoch());
  EXPECT_TRUE(Update(*server, RemoveNode(after.state(), "host-4")).ok());
}

// The file is of the first life, and the note of the last position is gone with the second.
TEST_F(StateDir, IsNotOfferedUnderAPositionThatACrashLeftBehind) {
  v1::GetStateSummaryResponse before;
  {
    const auto server = Serve(folder_);
    Live(*server);
    before = server->Summary();
  }
  std::string image;
  {
    const auto server = Serve(folder_);
    image = CrashImage();
    EXPECT_EQ(server->Summary().state().epoch(), before.state().epoch());
  }
  EXPECT_NE(Serve(image)->Summary().state().epoch(), before.state().epoch());
}

TEST_F(StateDir, HoldsEndWithTheProcess) {
  v1::StatePosition held;
  {
    const auto server = Serve(folder_);
    ASSERT_TRUE(server->Load(SmallCluster(1)).ok());
    v1::PlaceRequest hold = MakePlaceRequest({MakeGang("h", 8)}, v1::PLACEMENT_MODE_SEQUENTIAL);
    hold.set_commit(true);
    hold.set_hold_seconds(3600);
    ASSERT_TRUE(server->Place(hold).ok());
    EXPECT_EQ(server->Summary().holds(), 1);
    held = server->Summary().state();
  }
  const auto server = Serve(folder_);
  EXPECT_EQ(server->Summary().holds(), 0);
  EXPECT_NE(server->Summary().state().epoch(), held.epoch());
  TestServer fresh;
  ASSERT_TRUE(fresh.Load(SmallCluster(1)).ok());
  EXPECT_EQ(server->Summary().checksum(), fresh.Summary().checksum());
  EXPECT_EQ(Answers(*server), Answers(fresh));
}

TEST_F(StateDir, KeepsStatesByNameUntilTheyAreUnloaded) {
  std::string answers;
  {
    const auto server = Serve(folder_);
    ASSERT_TRUE(server->Load(SmallCluster(1), nullptr, "west").ok());
    ASSERT_TRUE(server->Load(SmallCluster(2), nullptr, std::string(253, 'e')).ok());
    answers = Answers(*server, "west");
  }
  {
    const auto server = Serve(folder_);
    EXPECT_EQ(server->Summary().state().generation(), 0u);
    EXPECT_EQ(Answers(*server, "west"), answers);
    grpc::ClientContext context;
    v1::UnloadStateRequest unload;
    unload.set_state_name("west");
    v1::UnloadStateResponse unloaded;
    ASSERT_TRUE(server->cluster_state->UnloadState(&context, unload, &unloaded).ok());
  }
  EXPECT_FALSE(fs::exists(folder_ + "/states/west"));
  EXPECT_EQ(StatusOf(*Serve(folder_)).kept_size(), 1);
}

TEST_F(StateDir, OnlyTheOwnerReadsIt) {
  { ASSERT_TRUE(Serve(folder_)->Load(SmallCluster()).ok()); }
  struct stat status = {};
  ASSERT_EQ(::stat((folder_ + "/state").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  EXPECT_FALSE(fs::exists(folder_ + "/next"));
}

TEST_F(StateDir, IgnoresAndNamesWhatIsDamaged) {
  {
    const auto server = Serve(folder_);
    Live(*server);
  }
  const std::string whole = ReadFile();
  ASSERT_GT(whole.size(), 1000u);
  std::vector<std::string> damaged = {"", "not a state", "ESPREQ 0" + whole.substr(8), whole + "x",
                                      whole + whole.substr(8)};
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    damaged.push_back(whole);
    char& byte = damaged.back()[i < 20 ? i : random.Below(whole.size())];
    byte = static_cast<char>(byte ^ (1 << random.Below(8)));
  }
  for (int i = 0; i < 20; ++i) damaged.push_back(whole.substr(0, random.Below(whole.size())));
  for (std::size_t back = 1; back < 100; back += 7) {
    damaged.push_back(whole.substr(0, whole.size() - back));
  }
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    SCOPED_TRACE(i);
    StateDirOptions options = Options(folder_).state_dir;
    WriteFile(damaged[i]);
    const auto folder = StateFolder::Open(options, {});
    ASSERT_TRUE(folder);
    const auto read = (*folder)->Read("", WorkBudget::Unlimited());
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr(folder_ + "/state: "));
  }
  for (std::size_t i = 0; i < damaged.size(); i += 12) {
    WriteFile(damaged[i]);
    const auto server = Serve(folder_);
    EXPECT_EQ(server->Summary().state().generation(), 0u);
    EXPECT_EQ(server->Place(MakePlaceRequest({MakeGang("a", 1)})).error_code(),
              grpc::FAILED_PRECONDITION);
    const v1::StateDirStatus status = StatusOf(*server);
    ASSERT_EQ(status.ignored_size(), 1);
    EXPECT_EQ(status.ignored(0).path(), folder_ + "/state");
    EXPECT_THAT(status.ignored(0).why(), HasSubstr(folder_ + "/state: "));
    EXPECT_EQ(status.kept_size(), 0);
  }
  EXPECT_EQ(ReadFile(), damaged[(damaged.size() - 1) / 12 * 12]);  // left alone
  {
    const auto server = Serve(folder_);
    ASSERT_TRUE(server->Load(SmallCluster()).ok());
  }
  EXPECT_EQ(Serve(folder_)->Summary().nodes(), 16);
}

// Contents of another checksum than the file says, as another release may compute it; a state under
// another name; a log of requests; a folder.
TEST_F(StateDir, IgnoresWhatIsSoundAndOfNoUse) {
  {
    const auto server = Serve(folder_);
    ASSERT_TRUE(server->Load(SmallCluster()).ok());
  }
  fs::create_directories(folder_ + "/states/folder");
  fs::copy_file(folder_ + "/state", folder_ + "/states/west");
  v1::RequestLogFile head;
  ASSERT_TRUE(RequestLogWriter::Create(folder_ + "/states/log", head));
  {
    auto from = RequestLogReader::Open(folder_ + "/state");
    auto to = RequestLogWriter::Create(folder_ + "/states/other", from->file());
    ASSERT_TRUE(to);
    v1::RequestLogPiece piece;
    std::string_view payload;
    while (*from->Next(piece, payload)) {
      if (piece.has_kept()) piece.mutable_kept()->set_checksum(1);
      grpc::Slice slice(payload.data(), payload.size());
      ASSERT_TRUE(to->Write(piece, grpc::ByteBuffer(&slice, 1)));
    }
  }
  fs::rename(folder_ + "/states/other", folder_ + "/state");
  const auto server = Serve(folder_);
  EXPECT_EQ(server->Summary().state().generation(), 0u);
  std::string why;
  const v1::StateDirStatus status = StatusOf(*server);
  for (const v1::IgnoredStateFile& ignored : status.ignored()) {
    why += ignored.why() + "\n";
  }
  EXPECT_THAT(why, HasSubstr("/state: the state has the checksum"));
  EXPECT_THAT(why, HasSubstr("/states/folder: "));
  EXPECT_THAT(why, HasSubstr("/states/west: it is of the state \"\""));
  EXPECT_THAT(why, HasSubstr("/states/log: it ends before its end"));
}

TEST_F(StateDir, IsRefusedWhereItCannotBeWrittenOrIsInUse) {
  const auto server = Serve(folder_);
  for (const auto& [folder, why] : {std::pair(folder_, "another server has it"),
                                    std::pair(folder_ + "/no/such", "No such file"),
                                    std::pair(folder_ + "/lock", "director")}) {
    const auto started = Server::Start(Options(folder), MakeCpuBackend(1));
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().error_class, ErrorClass::kUnavailable);
    EXPECT_THAT(started.error().message, HasSubstr(why));
    EXPECT_THAT(started.error().message, HasSubstr(folder));
  }
  ServerOptions small = Options(folder_);
  small.state_dir.bytes = 1000;
  EXPECT_EQ(Server::Start(small, MakeCpuBackend(1)).error().error_class, ErrorClass::kBadInput);
}

TEST_F(StateDir, CallsGoOnWhereTheDiskIsFull) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = 256;
  const auto server = Serve(folder_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_TRUE(server->Load(SmallCluster()).ok());
  while (StatusOf(*server).failure().empty()) std::this_thread::yield();
  EXPECT_THAT(StatusOf(*server).failure(), HasSubstr("cannot be written"));
  EXPECT_EQ(StatusOf(*server).kept_size(), 0);
  EXPECT_FALSE(fs::exists(folder_ + "/state"));
  EXPECT_TRUE(server->Place(MakePlaceRequest({MakeGang("a", 3)})).ok());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  WaitUntilKept(*server);
  EXPECT_EQ(StatusOf(*server).failure(), "");
}

TEST_F(StateDir, AStateThatIsTooLargeLeavesTheFileBefore) {
  const auto store = std::make_shared<StateStore>();
  StateDirOptions options{.folder = folder_, .bytes = 16'000};
  const auto folder = StateFolder::Open(options, {});
  ASSERT_TRUE(folder);
  const std::atomic<bool> stop = false;
  ASSERT_TRUE(store->Load(SmallCluster()));
  const auto small = (*folder)->Write("", *store, WorkBudget::Unlimited(), stop);
  ASSERT_TRUE(small);
  ASSERT_TRUE(store->Load(SmallCluster(100)));
  const auto large = (*folder)->Write("", *store, WorkBudget::Unlimited(), stop);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().error_class, ErrorClass::kExhausted);
  EXPECT_THAT(large.error().message, HasSubstr("--state-dir-bytes"));
  const auto kept = (*folder)->Read("", WorkBudget::Unlimited());
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->known.position, small->position);
  EXPECT_EQ(kept->input.nodes.size(), 16u);
  EXPECT_FALSE(fs::exists(folder_ + "/next"));
}

// Writes go on under updates without an end, and what is on disk is a state that there was.
TEST_F(StateDir, WritesWhileTheStateChanges) {
  std::string image;
  {
    const auto server = Serve(folder_);
    v1::StatePosition position;
    ASSERT_TRUE(server->Load(SmallCluster(200), &position).ok());
    for (int i = 0;
         StatusOf(*server).kept_size() == 0 || StatusOf(*server).kept(0).state().generation() < 20;
         ++i) {
      StateDelta delta;
      delta.set_non_tas_usage = {
          {"host-" + std::to_string(i % 800), {{"cpu", 1 + i}, {"pods", 1}}}};
      v1::UpdateStateRequest request = ToProto(delta);
      *request.mutable_base() = position;
      ASSERT_TRUE(Update(*server, request, &position).ok());
    }
    image = CrashImage();
  }
  const auto server = Serve(image);
  EXPECT_EQ(StatusOf(*server).ignored_size(), 0);  // its checksum is that of its position
  EXPECT_GE(server->Summary().state().generation(), 20u);
}

TEST_F(StateDir, OfAProcessThatIsStoppedAndKilled) {
  const std::string address =
      "unix:" + testing::TempDir() + "espalier-warm-" + std::to_string(::getpid());
  const auto serve = [&] {
    auto process = std::make_unique<Process>(
        std::vector<std::string>{"serve", "--listen", address, "--state-dir", folder_});
    EXPECT_EQ(process->ReadLine(), "listening on " + address);
    return process;
  };
  const auto summary = [&] {
    const auto stub =
        v1::ClusterState::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    v1::GetStateSummaryResponse response;
    EXPECT_TRUE(stub->GetStateSummary(&context, {}, &response).ok());
    return response;
  };
  const std::string fits = ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml";
  auto first = serve();
  EXPECT_EQ(RunToEnd({"place", fits, "--connect", address, "--load"}).exit_code, 0);
  const v1::GetStateSummaryResponse loaded = summary();
  EXPECT_GT(loaded.state().generation(), 0u);
  first->Kill(SIGTERM);
  EXPECT_EQ(first->Wait(), 0);

  auto second = serve();
  EXPECT_EQ(summary().DebugString(), loaded.DebugString());
  const Outcome status = RunToEnd({"status", "--connect", address});
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_THAT(status.output, HasSubstr("states are kept in " + folder_));
  Process other({"serve", "--listen", address + "-other", "--state-dir", folder_});
  EXPECT_EQ(other.ReadAll(), "");
  EXPECT_THAT(other.ReadErrors(), HasSubstr("another server has it"));
  EXPECT_EQ(other.Wait(), 4);
  second->Kill(SIGKILL);
  second->Wait();

  auto third = serve();
  EXPECT_EQ(summary().checksum(), loaded.checksum());
  EXPECT_NE(summary().state().epoch(), loaded.state().epoch());
  third->Kill(SIGTERM);
  EXPECT_EQ(third->Wait(), 0);
}

}  // namespace
}  // namespace espalier::state_dir_test
