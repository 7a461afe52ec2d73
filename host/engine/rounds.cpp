#include "host/engine/rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "host/engine/chunks.hpp"

namespace espalier {
namespace {

// Requests that are decided together at first where the back end looks ahead.
constexpr std::size_t kFirstRound = 8;
// Requests answered one by one whose counts are brought up to date together: what the requests
// before them in the batch change has to be counted again.
constexpr std::size_t kPrepareBatch = 64;
// Shares that a thread keeps memory for between calls: 4 MiB.
constexpr std::size_t kMostKeptShares = std::size_t{1} << 18;

// The memory in which requests are decided.
struct RoundMemory {
  RequestJobs asked;
  PlacementColumns round;    // the answers of the last round
  PlacementColumns answers;  // to everything asked, where StillValid needs them
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
    ClearJobs();  // lets go of the shapes
    memory_.round.Clear();
    memory_.answers.Clear();
    const std::size_t shares = memory_.round.shares.capacity() + memory_.answers.shares.capacity();
    if (shares <= kMostKeptShares) kept_ = std::move(memory_);
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

  // Decides the requests [first, first + count), on the state as it is. Keeps the jobs where
  // StillValid is to be asked. Returns false when the work is to stop.
  bool Decide(std::size_t first, std::size_t count, bool keep_jobs) {
    RequestJobs& asked = memory_.asked;
    ClearJobs();
    memory_.answers.Clear();
    requests_.Open(first, count);
    bool several_rounds = false;
    for (;;) {
      if (!keep_jobs) ClearJobs();
      const std::size_t begin = asked.asked.size();
      requests_.AppendJobs(asked);
      if (budget_.stopped()) return false;
      if (asked.asked.size() == begin) break;
      if (keep_jobs && !ChargeFrom(begin)) return false;
      const auto of_round = std::span<const Evaluation>(asked.asked).subspan(begin);
      backend_.Evaluate(asked.jobs, of_round, memory_.round);
      if (budget_.stopped()) return false;
      if (keep_jobs) memory_.answers.AddRows(memory_.round);
      if (!requests_.Accept(memory_.round)) return false;
      several_rounds = begin > 0;
    }
    if (keep_jobs) SortJobs(several_rounds);
    return true;
  }

  // Returns whether the request would still be decided as it was, now that what is in `booked` is
  // booked. Must be called for requests in order, and before one is kept.
  bool StillValid(std::size_t request, BookedLeaves& booked) {
    const RequestJobs& asked = memory_.asked;
    bool valid = true;
    for (; next_ < by_request_.size() && asked.requests[by_request_[next_]] == request; ++next_) {
      const std::size_t row = by_request_[next_];
      valid =
          valid && booked.StillValid(JobOf(asked.jobs, asked.asked[row]), memory_.answers.At(row));
    }
    return valid;
  }

 private:
  void ClearJobs() {
    memory_.asked.Clear();
    budget_.Release(std::exchange(kept_bytes_, 0));
  }

  // Charges what was asked from `begin` on, each with a list of what its job assumes. Returns false
  // when the work is to stop.
  bool ChargeFrom(std::size_t begin) {
    std::int64_t bytes = 0;
    for (const Evaluation& evaluation : std::span(memory_.asked.asked).subspan(begin)) {
      const PlacementJob& job = memory_.asked.jobs[static_cast<std::size_t>(evaluation.job)];
      const std::size_t columns = job.state->snapshot().resources().size();
      bytes += static_cast<std::int64_t>(sizeof(PlacementJob) + sizeof(PlacementResult) +
                                         job.assumed.size() *
                                             (sizeof(AssumedLeaf) + columns * sizeof(Amount)));
    }
    kept_bytes_ += bytes;
    return budget_.Charge(bytes);
  }

  // Sorts what was asked by the requests that it is of.
  void SortJobs(bool several_rounds) {
    next_ = 0;
    by_request_.resize(memory_.asked.asked.size());
    std::iota(by_request_.begin(), by_request_.end(), std::size_t{0});
    if (!several_rounds) return;
    std::ranges::stable_sort(by_request_, {},
                             [&](std::size_t row) { return memory_.asked.requests[row]; });
  }

  static thread_local RoundMemory kept_;

  Backend& backend_;
  PlacementRequests& requests_;
  WorkBudget& budget_;
  RoundMemory memory_;
  std::int64_t kept_bytes_ = 0;          // charged for kept jobs
  std::vector<std::size_t> by_request_;  // evaluations, by their requests
  std::size_t next_ = 0;                 // of those
};

thread_local RoundMemory Rounds::kept_;

}  // namespace

void NominateInRounds(Backend& backend, PlacementRequests& requests, std::size_t most_at_once,
                      WorkBudget& budget, const AnsweredProgress& progress) {
  Rounds rounds(backend, requests, budget);
  Chunks chunks(budget, most_at_once, backend.quick_batch());
  for (std::size_t done = 0; done < requests.size() && chunks.Begin();) {
    const std::size_t end = done + std::min(chunks.size(), requests.size() - done);
    if (!rounds.Decide(done, end - done, false)) return;
    for (; done < end; ++done) {
      if (!requests.Keep(done)) return;
    }
    if (progress) progress(done);
  }
}

void PlaceInRounds(Backend& backend, PlacementRequests& requests, WorkBudget& budget,
                   const AnsweredProgress& progress) {
  Rounds rounds(backend, requests, budget);
  BookedLeaves booked;
  std::size_t ahead = kFirstRound;
  for (std::size_t done = 0; done < requests.size();) {
    if (!budget.MayContinue()) return;
    const std::size_t count = std::min({ahead, backend.lookahead(), requests.size() - done});
    if (count == 1 && done % kPrepareBatch == 0) rounds.Prepare(done);
    if (!rounds.Decide(done, count, count > 1)) return;
    std::size_t kept = 0;
    for (; kept < count; ++kept) {
      const std::size_t request = done + kept;
      // The first of a round is valid in any case.
      if (count > 1 && !rounds.StillValid(request, booked)) break;
      if (!requests.Keep(request)) return;
      requests.Book(request, kept + 1 < count ? &booked : nullptr);
      if (progress) progress(request + 1);
    }
    done += kept;
    // Doubles the round when every answer stayed valid, else tries twice the number that did.
    ahead = 2 * kept;
    booked.Clear();
  }
}

}  // namespace espalier
