// Answers requests in rounds: each request that is not answered yet gives at most one job to a
// round, and the back end evaluates those of a round together. Workloads and gangs of integers
// are both answered here.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/request.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// Evaluations, their jobs, and by evaluation the number of the request that it is of.
struct RequestJobs {
  std::vector<PlacementJob> jobs;
  std::size_t shared = 0;  // of the jobs, from the front, those that stay when others go
  std::vector<Evaluation> asked;
  std::vector<std::size_t> requests;

  // Adds an evaluation of a job that is there.
  void Add(Evaluation evaluation, std::size_t request) {
    asked.push_back(evaluation);
    requests.push_back(request);
  }
  void Add(PlacementJob job, std::size_t request) {
    Add(Evaluation{static_cast<std::int32_t>(jobs.size()), job.query.pods}, request);
    jobs.push_back(std::move(job));
  }
  void Clear() {
    jobs.resize(shared);
    asked.clear();
    requests.clear();
  }
};

// A list of requests that become jobs, one after the other, and whose answers are kept.
class PlacementRequests {
 public:
  virtual ~PlacementRequests() = default;

  // Returns how many requests there are. They are numbered from 0.
  virtual std::size_t size() const = 0;

  // Returns jobs of which many requests are evaluations; each has its index in every round.
  virtual std::span<const PlacementJob> SharedJobs() const { return {}; }

  // Opens the requests [first, first + count), and closes those that were open. The jobs of one
  // that is opened alone are gone before it has the next.
  virtual void Open(std::size_t first, std::size_t count) = 0;
  // Appends the next job of every open request that has one left, requests ascending.
  virtual void AppendJobs(RequestJobs& jobs) = 0;
  // Takes the answers to what was appended last. They stay where they are until something is
  // appended again; failures may be moved out of them. Returns false when the work is to stop.
  virtual bool Accept(PlacementColumns& answers) = 0;

  // Adds the answer of an open request whose jobs have all been answered; open requests are kept in
  // order. Returns false when the work is to stop.
  virtual bool Keep(std::size_t request) = 0;
  // Books the placement of the request that was kept last, where it has one.
  virtual void Book(std::size_t request) = 0;

  // Appends the evaluations of the next `count` requests that have one, which is known without
  // opening them.
  virtual void AppendUpcoming(std::size_t /*first*/, std::size_t /*count*/,
                              RequestJobs& /*jobs*/) const {}
};

// Answers all requests independently, at most `most_at_once` of them together. Stops early, with
// meaningless answers, when `budget` is stopped.
void NominateInRounds(Backend& backend, PlacementRequests& requests, std::size_t most_at_once,
                      WorkBudget& budget, const AnsweredProgress& progress = {});

// Answers the requests in order: books each before the next is answered. The back end decides many
// in a row where it can. Stops early, with meaningless answers, when `budget` is stopped.
void PlaceOneByOne(Backend& backend, PlacementRequests& requests, WorkBudget& budget,
                   const AnsweredProgress& progress = {});

}  // namespace espalier
