// A back end that makes evaluations in order, up to one now and then that it leaves to others.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "host/engine/backend.hpp"

namespace espalier {

class InOrderBackend final : public Backend {
 public:
  // Makes at most `most` evaluations a call, and none that has more pods than `most_pods`.
  InOrderBackend(std::shared_ptr<Backend> inner, std::size_t most, Count most_pods)
      : inner_(std::move(inner)), most_(most), most_pods_(most_pods) {}

  std::string_view name() const override { return inner_->name(); }
  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override {
    ++one_by_one_;
    inner_->Evaluate(jobs, asked, answers);
  }
  std::size_t in_order_batch() const override { return 2 * most_; }
  std::size_t EvaluateInOrder(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                              PlacementColumns& answers) override {
    answers.Clear();
    if (asked.empty()) return 0;
    const FlavorState* const state = jobs[static_cast<std::size_t>(asked.front().job)].state;
    FlavorState booked(*state);
    PlacementColumns one;
    for (const Evaluation& evaluation : asked) {
      PlacementJob job = JobOf(jobs, evaluation);
      if (answers.size() == most_ || job.state != state || evaluation.pods > most_pods_) break;
      job.state = &booked;
      inner_->EvaluateOne(job, one);
      booked.Book(one.SharesOf(0), *job.shape);
      answers.AddRows(one);
    }
    in_order_ += answers.size();
    return answers.size();
  }

  // Return how many evaluations were made in order, and how many batches of others.
  std::size_t in_order() const { return in_order_; }
  std::size_t one_by_one() const { return one_by_one_; }

 private:
  std::shared_ptr<Backend> inner_;
  std::size_t most_;
  Count most_pods_;
  std::size_t in_order_ = 0;
  std::size_t one_by_one_ = 0;
};

}  // namespace espalier
