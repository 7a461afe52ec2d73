#include "tests/attack/rounds.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tests/attack/client.hpp"
#include "tests/attack/http2.hpp"
#include "tests/attack/identities.hpp"
#include "tests/attack/messages.hpp"
#include "tests/attack/mutation.hpp"
#include "tests/attack/sound_questions.hpp"

namespace espalier::attack {
namespace {

constexpr int kSmallCluster = 64;
constexpr int kPodsPerHost = 2;  // of 4 cpu

// Returns what a server answers that has just loaded a cluster, but for what changes with loads.
std::string AnswerToASoundRequest(Client& client) {
  v1::LoadStateRequest nothing;  // which no hold outlives
  nothing.mutable_end();
  client.Load({nothing});
  client.Load(Cluster(kSmallCluster));
  const Reply reply = client.Call(kPlace, SoundRequest(kPlace));
  if (!reply.ok()) return reply.Text();
  return reply.As<v1::PlaceResponse>().answers().SerializeAsString();
}

// Holds the gangs of a sound request and returns the id of the first hold.
std::string MakeHold(Client& client) {
  v1::PlaceRequest request;
  request.ParseFromString(SoundRequest(kPlace));
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  request.set_hold_seconds(60);
  const Reply reply = client.Call(kPlace, request);
  const auto response = reply.As<v1::PlaceResponse>();
  if (!reply.ok() || response.hold_ids().empty()) throw std::runtime_error(reply.Text());
  return response.hold_ids(0);
}

// Bookings of clients that race each other, and what became wrong.
class Ledger {
 public:
  struct Entry {
    v1::PlaceRequest request;
    v1::PlaceResponse response;
  };

  void Add(Entry entry) {
    const std::lock_guard lock(mutex_);
    const v1::StatePosition& committed = entry.response.committed();
    const bool added =
        epochs_[committed.epoch()].emplace(committed.generation(), std::move(entry)).second;
    if (!added) {
      problems_.push_back(
          fmt::format("two bookings became generation {} of one server", committed.generation()));
    }
  }
  void Note(std::string problem) {
    const std::lock_guard lock(mutex_);
    problems_.push_back(std::move(problem));
  }

  // After the last client. Asks another server the same.
  Problems Check() {
    ServerProcess server;
    Client client(server.address());
    if (epochs_.empty()) problems_.push_back("nothing was booked");
    for (const auto& [epoch, entries] : epochs_) {
      CheckCapacity(entries);
      Replay(entries, client);
    }
    return problems_;
  }

 private:
  using Entries = std::map<std::uint64_t, Entry>;  // by generation

  void CheckCapacity(const Entries& entries) {
    std::map<int, int> pods;
    for (const auto& [generation, entry] : entries) {
      const v1::AnswerBatch& answers = entry.response.answers();
      for (int i = 0; i < answers.domains_size(); ++i) {
        pods[answers.domains(i)] += answers.counts(i);
      }
    }
    for (const auto& [leaf, count] : pods) {
      if (count <= kPodsPerHost) continue;
      problems_.push_back(
          fmt::format("leaf {} holds {} pods of {} possible", leaf, count, kPodsPerHost));
    }
  }

  // Up to the first booking whose answer nobody got.
  void Replay(const Entries& entries, Client& client) {
    v1::StatePosition position = client.Load(Cluster(kSmallCluster));
    std::uint64_t expected = 2;  // the load was generation 1
    for (const auto& [generation, entry] : entries) {
      if (generation != expected++) return;
      v1::PlaceRequest request = entry.request;
      *request.mutable_state() = position;
      const Reply reply = client.Call(kPlace, request);
      const auto response = reply.As<v1::PlaceResponse>();
      if (!reply.ok() ||
          response.answers().SerializeAsString() != entry.response.answers().SerializeAsString()) {
        problems_.push_back(
            fmt::format("generation {} was answered otherwise: {}", generation, reply.Text()));
        return;
      }
      position = response.committed();
    }
  }

  std::mutex mutex_;
  std::map<std::uint64_t, Entries> epochs_;
  Problems problems_;
};

// Commits gangs, each with a token and until it knows what became of it, through every restart.
void CommitUntil(const std::atomic<bool>& stop, const std::string& address, int number,
                 std::uint64_t seed, Ledger& ledger) {
  Client client(address);
  Random random(seed + static_cast<std::uint64_t>(number) * 1000);
  for (int i = 0; !stop; ++i) {
    const Reply summary = client.Call(kGetStateSummary, std::string(), std::chrono::seconds(5));
    const auto position = summary.As<v1::GetStateSummaryResponse>().state();
    if (!summary.ok() || position.generation() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    const GangsOptions gangs{.gangs = static_cast<int>(1 + random.Below(3)),
                             .pods = static_cast<int>(1 + random.Below(3)),
                             .level = random.Below(2) == 0 ? "rack" : ""};
    const v1::PlaceRequest request =
        Commit(Gangs(gangs), position, fmt::format("{}-{}-{}", seed, number, i));
    while (!stop) {
      const Reply reply = client.Call(kPlace, request, std::chrono::seconds(5));
      if (reply.ok()) {
        ledger.Add({request, reply.As<v1::PlaceResponse>()});
        break;
      }
      // Somebody else was first, or the server is another one.
      if (reply.code() == grpc::FAILED_PRECONDITION) break;
      if (reply.code() != grpc::UNAVAILABLE && reply.code() != grpc::DEADLINE_EXCEEDED) {
        ledger.Note("a commit ended in " + reply.Text());
        break;
      }
    }
  }
}

// Something that asks for a lot, of random size, with a deadline. Returns what it was.
std::string AskForALot(const ServerProcess& server, std::uint64_t seed) {
  Random random(seed);
  const auto upto = [&](int most) {
    return static_cast<int>(1 + random.Below(static_cast<std::uint64_t>(most)));
  };
  const std::chrono::milliseconds deadline(100 + random.Below(10'000));
  Client client(server.address());
  const auto load = [&](const std::vector<v1::LoadStateRequest>& chunks) {
    client.Stream(kLoadState, Serialized(chunks));
  };
  switch (random.Below(9)) {
    case 0: {
      const GangsOptions gangs{
          .gangs = upto(10'000), .pods = upto(20'000), .distinct = random.Below(2) == 0};
      client.Call(kPlace, Gangs(gangs), deadline);
      return fmt::format("{} {}gangs of {} pods", gangs.gangs, gangs.distinct ? "distinct " : "",
                         gangs.pods);
    }
    case 1: {
      const int workloads = upto(1000);
      const int domains = upto(10'000);
      client.Call(kReplace, Replacements(workloads, domains), deadline);
      return fmt::format("{} replacements in {} domains", workloads, domains);
    }
    case 2: {
      const int nodes = upto(2000);
      const int flavors = upto(20'000);
      load(ClusterWithFlavors(nodes, flavors));
      return fmt::format("{} flavors of {} nodes", flavors, nodes);
    }
    case 3: {
      const int nodes = upto(10'000);
      load(ClusterWithResources(nodes));
      return fmt::format("{} nodes with resources of their own", nodes);
    }
    case 4: {
      const int workloads = upto(8'000'000);
      client.Call(kCycle, CycleOfEmptyWorkloads(workloads), deadline);
      return fmt::format("{} empty workloads", workloads);
    }
    case 5: {
      const int pods = upto(16'000'000);
      client.Call(kUngate, UngateOfEmptyPods(pods), deadline);
      return fmt::format("{} empty pods", pods);
    }
    case 6: {
      const int pod_sets = upto(100'000);
      client.Call(kPlace, WorkloadWithPodSets(pod_sets), deadline);
      return fmt::format("{} pod sets", pod_sets);
    }
    case 7: {
      const int mebibytes = upto(2000);
      client.Call(kPlace, AsGzip{GzipOfZeros(mebibytes)});
      return fmt::format("a gzip bomb of {} MiB", mebibytes);
    }
    default: {
      const GangsOptions gangs{.gangs = upto(200), .pods = upto(20'000)};
      const std::string request = Gangs(gangs).SerializeAsString();
      DeafConnection deaf(server.socket_path());
      for (int i = 0; i < 20; ++i) deaf.Ask(kPlace, request);
      client.Call(kPlace, request, deadline);
      return fmt::format("20 unread answers to {} gangs of {} pods", gangs.gangs, gangs.pods);
    }
  }
}

}  // namespace

Problems MutationRound(std::uint64_t seed, int calls) {
  Random random(seed);
  const Identities identities;
  std::vector<std::string> flags = {"--max-message-bytes", "4MiB"};
  std::ranges::move(identities.Flags(), std::back_inserter(flags));
  ServerProcess server(flags, {.all = 512 * kMiB, .call = 256 * kMiB});
  Client owner(server.tcp_address(), identities.Owner());
  Client guest(server.tcp_address(), identities.Guest());
  auto others = Cluster(kSmallCluster);
  others.front().set_state_name("others");
  owner.Load(others);
  Bystander bystander(server.address(), "others");
  const std::string before = AnswerToASoundRequest(owner);
  std::string hold = MakeHold(owner);
  std::vector<std::string> methods(std::begin(kUnaryMethods), std::end(kUnaryMethods));
  methods.insert(methods.end(), std::begin(kHoldMethods), std::end(kHoldMethods));
  methods.insert(methods.end(), std::begin(kQuestions), std::end(kQuestions));
  methods.emplace_back(kLoadState);
  for (int i = 0; i < calls; ++i) {
    const std::string& method = methods[random.Below(methods.size())];
    const bool of_hold = std::ranges::find(kHoldMethods, method) != std::end(kHoldMethods);
    const bool is_question = std::ranges::find(kQuestions, method) != std::end(kQuestions);
    const std::string sound = of_hold       ? SoundHoldRequest(method, hold)
                              : is_question ? SoundQuestion(method)
                                            : SoundRequest(method);
    const std::string request = Mutated(method, sound, random);
    const bool by_guest = random.Below(4) == 0;
    Client& client = by_guest ? guest : owner;
    const bool is_stream = is_question || method == kLoadState;
    const Reply reply = is_stream ? client.Stream(method, std::vector<std::string>{request})
                                  : client.Call(method, request);
    const bool known =
        reply.ok() || reply.code() == grpc::INVALID_ARGUMENT || reply.code() == grpc::NOT_FOUND ||
        reply.code() == grpc::FAILED_PRECONDITION || reply.code() == grpc::RESOURCE_EXHAUSTED ||
        (reply.code() == grpc::ALREADY_EXISTS && (of_hold || method == kPlace)) ||
        (reply.code() == grpc::ABORTED && of_hold) ||
        (reply.code() == grpc::PERMISSION_DENIED && by_guest);
    if (!known) return {fmt::format("call {}, {}: {}", i, method, reply.Text())};
    if (by_guest && reply.ok() && (of_hold || method == kLoadState || method == kUpdateState)) {
      return {fmt::format("call {}: a guest was let into {}", i, method)};
    }
    if (i % 50 != 49) continue;
    if (!bystander.AnsweredOnceMore()) {
      return {fmt::format("before call {} another client got {}", i, bystander.Stop())};
    }
    if (AnswerToASoundRequest(owner) != before) {
      return {fmt::format("after call {} a sound request is answered otherwise", i)};
    }
    hold = MakeHold(owner);
  }
  if (!server.Running()) return {"the server has ended"};
  if (!server.StayedWithinItsMemory()) {
    return {fmt::format("{} MiB were resident", server.PeakBytes() / kMiB)};
  }
  const std::string failure = bystander.Stop();
  if (!failure.empty()) return {"another client got " + failure};
  return {};
}

Problems KillRound(std::uint64_t seed, int kills) {
  Random random(seed);
  Ledger ledger;
  {
    ServerProcess server;
    std::atomic<bool> stop = false;
    std::vector<std::thread> clients;
    for (int number = 0; number < 3; ++number) {
      clients.emplace_back(
          [&, number] { CommitUntil(stop, server.address(), number, seed, ledger); });
    }
    for (int kill = 0; kill < kills; ++kill) {
      Client(server.address()).Load(Cluster(kSmallCluster));
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.Below(200)));
      server.Kill();
      server.Restart();
    }
    stop = true;
    for (std::thread& client : clients) client.join();
  }
  return ledger.Check();
}

Problems MemoryRound(std::uint64_t seed, int batches) {
  Random random(seed);
  ServerProcess server({"--idle-seconds", "2"}, {.all = 512 * kMiB, .call = 256 * kMiB});
  Client(server.address()).Load(Cluster(20'000));
  Bystander bystander(server.tcp_address());
  for (int batch = 0; batch < batches; ++batch) {
    std::vector<std::future<std::string>> attacks;
    for (std::uint64_t i = 0, count = 1 + random.Below(4); i < count; ++i) {
      attacks.push_back(std::async(std::launch::async, [&server, seed = random.Next()] {
        return AskForALot(server, seed);
      }));
    }
    std::string asked;
    for (std::future<std::string>& attack : attacks) asked += attack.get() + "; ";
    if (!server.Running()) return {"the server has ended: " + asked};
    if (!server.StayedWithinItsMemory()) {
      return {fmt::format("{} MiB were resident, of {} allowed: {}", server.PeakBytes() / kMiB,
                          server.memory().all / kMiB, asked)};
    }
    if (!bystander.AnsweredOnceMore()) {
      return {fmt::format("another client got {}: {}", bystander.Stop(), asked)};
    }
  }
  const std::string failure = bystander.Stop();
  if (!failure.empty()) return {"another client got " + failure};
  return {};
}

}  // namespace espalier::attack
