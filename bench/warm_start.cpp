// bench_warm_start [ROUNDS [SECONDS]]: what `espalier serve --state-dir` saves a start, and costs
// calls.
//
// First the time from exec to the first answer, the median and the slowest of ROUNDS (5): of a
// server that begins empty and is loaded, from chunks that the client has ready, and of one that
// begins with the state of the server before it, which was stopped, or killed. All must give the
// same answer on contents of the same checksum. Then, for SECONDS (30), updates of a node's usage
// one after the other, without the flag and with it.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "espalier/v1/server.pb.h"
#include "tests/attack/client.hpp"
#include "tests/attack/messages.hpp"

namespace espalier::attack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNodes = 131'072;
constexpr ServerMemory kMemory = {.all = 4096 * kMiB, .call = 2048 * kMiB};
constexpr auto kBetweenUpdates = std::chrono::milliseconds(2);

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

void Expect(bool right, const char* what) {
  if (right) return;
  fmt::print(stderr, "wrong: {}\n", what);
  std::exit(1);
}

struct Folder {
  ~Folder() { std::filesystem::remove_all(path); }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("espalier-warm-{}", getpid())).string();
};

// The answer to a gang without its position, and the checksum of what it was given on.
struct FirstAnswer {
  std::string answers;
  std::uint64_t checksum = 0;
  bool operator==(const FirstAnswer&) const = default;
};

// The times at which a server listens and first answers, in milliseconds since exec.
struct Start {
  double listens = 0;
  double answers = 0;
};

Reply Ask(Client& client) {
  Reply reply = client.Call(kPlace, Gangs({.pods = 64, .level = "rack"}));
  Expect(reply.ok(), "no answer to a gang");
  return reply;
}

FirstAnswer Checked(Client& client, const Reply& reply) {
  return {reply.As<v1::PlaceResponse>().answers().SerializeAsString(), client.Summary().checksum()};
}

// Waits until what is loaded is on disk.
std::int64_t WaitUntilKept(Client& client) {
  for (;;) {
    const auto status = client.Call("/espalier.v1.Server/Status", v1::ServerStatusRequest())
                            .As<v1::ServerStatusResponse>();
    const auto position = client.Position();
    for (const v1::KeptState& kept : status.state_dir().kept()) {
      if (kept.state().SerializeAsString() == position.SerializeAsString()) return kept.bytes();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void Stop(ServerProcess& server) {
  ::kill(server.pid(), SIGTERM);
  while (server.Running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Print(const char* start, const std::vector<Start>& starts) {
  std::vector<double> listens;
  std::vector<double> answers;
  for (const Start& one : starts) {
    listens.push_back(one.listens);
    answers.push_back(one.answers);
  }
  fmt::print("{:<28} {:>9.0f} {:>9.0f} {:>9.0f}\n", start, Quantile(listens, 0.5),
             Quantile(answers, 0.5), Quantile(answers, 1));
  std::fflush(stdout);
}

void MeasureStarts(int rounds, const std::vector<v1::LoadStateRequest>& chunks) {
  const Folder folder;
  FirstAnswer expected;
  std::vector<Start> empty;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    ServerProcess server({}, kMemory);
    Start& start = empty.emplace_back();
    start.listens = MillisecondsSince(begin);
    Client client(server.address());
    client.Load(chunks);
    const Reply reply = Ask(client);
    start.answers = MillisecondsSince(begin);
    const FirstAnswer got = Checked(client, reply);
    if (round == 0) expected = got;
    Expect(got == expected, "an answer differs after a load");
  }
  fmt::print("{:<28} {:>9} {:>9} {:>9}\n", "start, ms from exec to", "listens", "answers",
             "slowest");
  Print("empty, then loaded", empty);
  const std::vector<std::string> flags = {"--state-dir", folder.path};
  {
    ServerProcess server(flags, kMemory);
    Client client(server.address());
    client.Load(chunks);
    const std::int64_t bytes = WaitUntilKept(client);
    Stop(server);
    fmt::print("{:<28} {:>9}\n", "bytes on disk", bytes);
  }
  for (const bool killed : {false, true}) {
    std::vector<Start> warm;
    for (int round = 0; round < rounds; ++round) {
      const auto begin = Clock::now();
      ServerProcess server(flags, kMemory);
      Start& start = warm.emplace_back();
      start.listens = MillisecondsSince(begin);
      Client client(server.address());
      const Reply reply = Ask(client);
      start.answers = MillisecondsSince(begin);
      Expect(Checked(client, reply) == expected, "an answer differs after a warm start");
      WaitUntilKept(client);
      if (killed) {
        server.Kill();
      } else {
        Stop(server);
      }
    }
    Print(killed ? "with the state, killed" : "with the state, stopped", warm);
  }
}

void MeasureUpdates(int seconds, const std::vector<v1::LoadStateRequest>& chunks, bool keeps) {
  const Folder folder;
  ServerProcess server(
      keeps ? std::vector<std::string>{"--state-dir", folder.path} : std::vector<std::string>(),
      kMemory);
  Client client(server.address());
  v1::StatePosition position = client.Load(chunks);
  v1::UpdateStateRequest update;
  update.ParseFromString(SoundRequest(kUpdateState));
  update.clear_remove_nodes();
  std::vector<double> took;
  for (const auto end = Clock::now() + std::chrono::seconds(seconds); Clock::now() < end;) {
    *update.mutable_base() = position;
    const auto begin = Clock::now();
    const Reply reply = client.Call(kUpdateState, update);
    took.push_back(MillisecondsSince(begin));
    Expect(reply.ok(), "an update is refused");
    position = reply.As<v1::UpdateStateResponse>().state();
    std::this_thread::sleep_until(begin + kBetweenUpdates);
  }
  std::uint64_t kept = 0;
  const auto status = client.Call("/espalier.v1.Server/Status", v1::ServerStatusRequest())
                          .As<v1::ServerStatusResponse>();
  for (const v1::KeptState& state : status.state_dir().kept()) kept = state.state().generation();
  fmt::print("{:<28} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9} {:>9}\n",
             keeps ? "with --state-dir" : "without", Quantile(took, 0.5), Quantile(took, 0.99),
             Quantile(took, 0.999), Quantile(took, 1), took.size(), kept);
  std::fflush(stdout);
}

}  // namespace
}  // namespace espalier::attack

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const int seconds = argc > 2 ? std::atoi(argv[2]) : 30;
  if (argc > 3 || rounds < 1 || seconds < 1) {
    fmt::print(stderr, "usage: bench_warm_start [ROUNDS [SECONDS]]\n");
    return 2;
  }
  const auto chunks = espalier::attack::Cluster(espalier::attack::kNodes);
  espalier::attack::MeasureStarts(rounds, chunks);
  fmt::print("{:<28} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "an update, ms", "p50", "p99", "p99.9",
             "slowest", "updates", "on disk");
  for (const bool keeps : {false, true}) {
    espalier::attack::MeasureUpdates(seconds, chunks, keeps);
  }
}
