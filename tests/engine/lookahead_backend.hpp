// A back end that wants several requests in order decided together.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "host/engine/backend.hpp"

namespace espalier {

class LookaheadBackend final : public Backend {
 public:
  LookaheadBackend(std::shared_ptr<Backend> inner, std::size_t lookahead)
      : inner_(std::move(inner)), lookahead_(lookahead) {}

  std::string_view name() const override { return inner_->name(); }
  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override {
    ++batches_;
    inner_->Evaluate(jobs, asked, answers);
  }
  std::size_t lookahead() const override { return lookahead_; }

  std::size_t batches() const { return batches_; }

 private:
  std::shared_ptr<Backend> inner_;
  std::size_t lookahead_;
  std::size_t batches_ = 0;
};

}  // namespace espalier
