// bench_fairness [SECONDS]: how long small calls take beside giant ones, and what they cost those.
//
// Each row of the table is SECONDS (20) of a server with that many clients that place 10,000 gangs
// a call, one call after the other, each gang of a shape that no other client asks for. One client
// places a gang every 20 ms, another updates a node's usage; the first row of each number of giants
// is without them. Calls of giants count from the end of the first one on.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "tests/attack/client.hpp"
#include "tests/attack/messages.hpp"

namespace espalier::attack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNodes = 131'072;
constexpr auto kPause = std::chrono::milliseconds(20);
constexpr auto kLongest = std::chrono::minutes(10);

// Calls of one kind: how long each took, and when the first and the last one ended.
struct Calls {
  std::vector<double> milliseconds;
  Clock::time_point first_end;
  Clock::time_point last_end;

  double Quantile(double q) const {
    if (milliseconds.empty()) return 0;
    std::vector<double> sorted = milliseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  }
};

// Calls again and again until `stop`, and exits where a call fails.
template <class Call>
void Repeat(const std::atomic<bool>& stop, Clock::duration pause, Calls& calls, Call call) {
  while (!stop) {
    const auto begin = Clock::now();
    if (const Reply reply = call(); !reply.ok()) {
      fmt::print(stderr, "a call failed: {}\n", reply.Text());
      std::exit(1);
    }
    calls.last_end = Clock::now();
    if (calls.milliseconds.empty()) calls.first_end = calls.last_end;
    calls.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(calls.last_end - begin).count());
    std::this_thread::sleep_until(begin + pause);
  }
}

void MeasureRow(int giants, bool small_calls, int seconds) {
  ServerProcess server({}, {.all = 4096 * kMiB, .call = 2048 * kMiB});
  v1::StatePosition position = Client(server.address()).Load(Cluster(kNodes));
  const std::string gang = Gangs({.pods = 2, .level = "rack"}).SerializeAsString();
  v1::UpdateStateRequest update;
  update.ParseFromString(SoundRequest(kUpdateState));
  update.clear_remove_nodes();

  std::atomic<bool> stop = false;
  std::vector<Calls> giant_calls(static_cast<std::size_t>(giants));
  Calls gang_calls;
  Calls update_calls;
  std::vector<std::thread> threads;
  for (Calls& calls : giant_calls) {
    const std::string giant = Gangs({.gangs = 10'000,
                                     .pods = 2,
                                     .cpu = 4000 + (&calls - giant_calls.data()),
                                     .distinct = true,
                                     .level = "rack"})
                                  .SerializeAsString();
    threads.emplace_back([&calls, &server, &stop, giant] {
      Client client(server.address());
      Repeat(stop, {}, calls, [&] { return client.Call(kPlace, giant, kLongest); });
    });
  }
  if (small_calls) {
    threads.emplace_back([&] {
      Client client(server.address());
      Repeat(stop, kPause, gang_calls, [&] { return client.Call(kPlace, gang, kLongest); });
    });
    threads.emplace_back([&] {
      Client client(server.address());
      Repeat(stop, kPause, update_calls, [&] {
        *update.mutable_base() = position;
        Reply reply = client.Call(kUpdateState, update, kLongest);
        position = reply.As<v1::UpdateStateResponse>().state();
        return reply;
      });
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();

  double giants_per_second = 0;
  for (const Calls& calls : giant_calls) {
    if (calls.milliseconds.size() < 2) continue;
    giants_per_second += static_cast<double>(calls.milliseconds.size() - 1) /
                         std::chrono::duration<double>(calls.last_end - calls.first_end).count();
  }
  fmt::print("{:>6}  {:>5}  {:>9.2f}  {:>9.2f}  {:>9.2f}  {:>9.2f}  {:>9.2f}  {:>8.3f}\n", giants,
             small_calls ? "yes" : "no", gang_calls.Quantile(0.5), gang_calls.Quantile(0.99),
             gang_calls.Quantile(1), update_calls.Quantile(0.5), update_calls.Quantile(0.99),
             giants_per_second);
  std::fflush(stdout);
}

}  // namespace
}  // namespace espalier::attack

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 20;
  if (argc > 2 || seconds < 1) {
    fmt::print(stderr, "usage: bench_fairness [SECONDS]\n");
    return 2;
  }
  fmt::print("{:>6}  {:>5}  {:>31}  {:>20}  {:>8}\n", "giants", "small",
             "one gang, ms: p50, p99, max", "an update: p50, p99", "giants/s");
  for (const int giants : {0, 1, 2, 4}) {
    if (giants > 0) espalier::attack::MeasureRow(giants, false, seconds);
    espalier::attack::MeasureRow(giants, true, seconds);
  }
}
