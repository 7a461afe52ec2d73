#include "host/engine/rounds.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "host/engine/chunks.hpp"

namespace espalier {
namespace {

// Requests answered one by one whose counts are brought up to date together: what the requests
// before them in the batch change has to be counted again.
constexpr std::size_t kPrepareBatch = 64;
// Requests that are listed for a run after one that ended before its first.
constexpr std::size_t kFewestAhead = 8;
// Shares that a thread keeps memory for between calls: 4 MiB.
constexpr std::size_t kMostKeptShares = std::size_t{1} << 18;

// The memory in which requests are decided.
struct RoundMemory {
  RequestJobs asked;
  PlacementColumns round;  // the answers of the last round
};

// Decides requests in memory that the thread keeps for its next call.
class Rounds {
 public:
  Rounds(Backend& backend, PlacementRequests& requests, WorkBudget& budget)
      : backend_(backend), requests_(requests), budget_(budget), memory_(std::exchange(kept_, {})) {
    const std::span<const PlacementJob> shared = requests.SharedJobs();
    memory_.asked.jobs.assign(shared.begin(), shared.end());
    memory_.asked.shared = shared.size();
  }
  ~Rounds() {
    memory_.asked.shared = 0;
    memory_.asked.Clear();  // lets go of the shapes
    memory_.round.Clear();
    if (memory_.round.shares.capacity() <= kMostKeptShares) kept_ = std::move(memory_);
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // Counts on all threads for the requests from `first` on.
  void Prepare(std::size_t first) {
    RequestJobs& asked = memory_.asked;
    asked.Clear();
    requests_.AppendUpcoming(first, std::min(kPrepareBatch, requests_.size() - first), asked);
    if (!asked.asked.empty()) backend_.Prepare(asked.jobs, asked.asked);
  }

  // Decides the requests [first, first + count), on the state as it is. Returns false when the work
  // is to stop.
  bool Decide(std::size_t first, std::size_t count) {
    RequestJobs& asked = memory_.asked;
    requests_.Open(first, count);
    for (;;) {
      asked.Clear();
      requests_.AppendJobs(asked);
      if (budget_.stopped()) return false;
      if (asked.asked.empty()) return true;
      backend_.Evaluate(asked.jobs, asked.asked, memory_.round);
      if (budget_.stopped()) return false;
      if (!requests_.Accept(memory_.round)) return false;
    }
  }

  // Decides as many requests from `first` on as the back end does in a row, each on the state with
  // those before it booked. Returns how many; they are open then.
  std::size_t DecideInOrder(std::size_t first) {
    RequestJobs& asked = memory_.asked;
    const std::size_t most =
        std::min({backend_.in_order_batch(), ahead_, requests_.size() - first});
    if (most == 0) return 0;
    asked.Clear();
    requests_.AppendUpcoming(first, most, asked);
    std::size_t run = 0;  // requests without one between them that has no such evaluation
    while (run < asked.requests.size() && asked.requests[run] == first + run) ++run;
    const std::size_t decided = backend_.EvaluateInOrder(
        asked.jobs, std::span(std::as_const(asked.asked)).first(run), memory_.round);
    ahead_ = std::max(2 * decided, kFewestAhead);
    if (decided == 0 || budget_.stopped()) return 0;
    asked.Clear();
    requests_.Open(first, decided);
    requests_.AppendJobs(asked);
    return requests_.Accept(memory_.round) ? decided : 0;
  }

 private:
  static thread_local RoundMemory kept_;

  Backend& backend_;
  PlacementRequests& requests_;
  WorkBudget& budget_;
  RoundMemory memory_;
  // Requests that are listed for the next run, at most: twice those that the last one decided.
  std::size_t ahead_ = std::numeric_limits<std::size_t>::max();
};

thread_local RoundMemory Rounds::kept_;

}  // namespace

void NominateInRounds(Backend& backend, PlacementRequests& requests, std::size_t most_at_once,
                      WorkBudget& budget, const AnsweredProgress& progress) {
  Rounds rounds(backend, requests, budget);
  Chunks chunks(budget, most_at_once, backend.quick_batch());
  for (std::size_t done = 0; done < requests.size() && chunks.Begin();) {
    const std::size_t end = done + std::min(chunks.size(), requests.size() - done);
    if (!rounds.Decide(done, end - done)) return;
    for (; done < end; ++done) {
      if (!requests.Keep(done)) return;
    }
    if (progress) progress(done);
  }
}

void PlaceOneByOne(Backend& backend, PlacementRequests& requests, WorkBudget& budget,
                   const AnsweredProgress& progress) {
  Rounds rounds(backend, requests, budget);
  for (std::size_t done = 0; done < requests.size();) {
    if (!budget.MayContinue()) return;
    std::size_t decided = rounds.DecideInOrder(done);
    if (decided == 0) {
      if (done % kPrepareBatch == 0) rounds.Prepare(done);
      if (!rounds.Decide(done, 1)) return;
      decided = 1;
    }
    for (const std::size_t end = done + decided; done < end; ++done) {
      if (!requests.Keep(done)) return;
      requests.Book(done);
      if (progress) progress(done + 1);
    }
  }
}

}  // namespace espalier
