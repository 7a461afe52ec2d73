// Random questions about the domains of jobs, and their answers as values that can be compared.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "host/engine/backend.hpp"
#include "tests/engine/counted.hpp"
#include "tests/generated/random.hpp"

namespace espalier {

// What was read for a question: of each level that was asked, and the marks.
struct ReadOfDomains {
  LevelCounts held = {};
  Count slices = 0;
  std::vector<std::int32_t> marks;

  bool operator==(const ReadOfDomains&) const = default;
};

class AskedDomains {
 public:
  // Makes up to three questions for each job. Domains have random marks before.
  AskedDomains(std::span<const PlacementJob> jobs, Random& random) : jobs_(jobs) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const TreeView tree = jobs[i].state->snapshot().tree();
      const std::int32_t lowest = tree.lowest() - (NeedsLeaves(jobs[i]) ? 0 : 1);
      for (std::int64_t left = random.Between(0, 3); left > 0 && lowest >= 0; --left) {
        Question& question = questions_.emplace_back();
        question.job = i;
        DomainQuestion& asked = question.asked;
        asked.leaders = jobs[i].query.leaders;
        asked.repeatedly = asked.leaders == 0 && random.Chance(50);
        asked.slices =
            random.Pick<Count>({random.Between(1, 4), random.Between(1, 200), kMaxStored,
                                kMaxStored + Count{1}, std::numeric_limits<Count>::max() / 2});
        if (!asked.repeatedly && random.Chance(5)) asked.slices = 0;
        asked.first_level = static_cast<std::int32_t>(random.Between(0, lowest));
        asked.last_level = static_cast<std::int32_t>(random.Between(asked.first_level, lowest));
        question.with_slices = random.Chance(50);
        question.mark = static_cast<std::int32_t>(random.Between(0, 9));
        if (random.Chance(30)) continue;
        for (std::int32_t d = DomainsOf(tree, asked.last_level).size(); d > 0; --d) {
          question.marks.push_back(static_cast<std::int32_t>(random.Between(0, 9)));
        }
      }
    }
  }

  // Returns what a back end reads, which counts whole jobs for a visitor besides where that is
  // wanted.
  std::vector<ReadOfDomains> Ask(Backend& backend, bool with_visitor = false) const {
    std::vector<ReadOfDomains> answers(questions_.size());
    std::vector<DomainReading> readings;
    for (std::size_t q = 0; q < questions_.size(); ++q) {
      const Question& question = questions_[q];
      answers[q].marks = question.marks;
      readings.push_back({question.job, question.asked, answers[q].held.data(),
                          question.with_slices ? &answers[q].slices : nullptr,
                          question.marks.empty() ? nullptr : answers[q].marks.data(),
                          question.mark});
    }
    if (with_visitor) {
      std::atomic<std::size_t> visits = 0;
      backend.CountEach(jobs_, readings, [&](std::size_t, const CountsView&) { ++visits; });
      EXPECT_EQ(visits, jobs_.size());
    } else {
      backend.CountEach(jobs_, readings, {});
    }
    return answers;
  }

  // Returns what the counts of the jobs tell, one domain after the other.
  std::vector<ReadOfDomains> Expected(std::span<const Counted> counts) const {
    std::vector<ReadOfDomains> answers;
    for (const Question& question : questions_) {
      ReadOfDomains& answer = answers.emplace_back();
      answer.marks = question.marks;
      const DomainQuestion& asked = question.asked;
      const Counted& of_job = counts[question.job];
      const TreeView tree = jobs_[question.job].state->snapshot().tree();
      for (std::int32_t level = asked.first_level; level <= asked.last_level; ++level) {
        const DomainRange domains = DomainsOf(tree, level);
        for (std::int32_t domain = domains.begin; domain < domains.end; ++domain) {
          const auto d = static_cast<std::size_t>(domain);
          const Count leaders = of_job.leaders.empty() ? 0 : of_job.leaders[d];
          const Count with_leader = of_job.slices_with_leader[d];
          Count times = leaders >= asked.leaders && with_leader >= asked.slices ? 1 : 0;
          if (asked.repeatedly) times = of_job.slices[d] / asked.slices;
          answer.held[static_cast<std::size_t>(level)] += times;
          if (question.with_slices && level == asked.first_level) {
            answer.slices += std::max<Count>(of_job.slices[d], with_leader);
          }
          if (level < asked.last_level || times == 0 || question.marks.empty()) continue;
          std::int32_t& mark = answer.marks[static_cast<std::size_t>(domain - domains.begin)];
          mark = std::min(mark, question.mark);
        }
      }
    }
    return answers;
  }

 private:
  struct Question {
    std::size_t job = 0;
    DomainQuestion asked;
    bool with_slices = false;
    std::int32_t mark = 0;
    std::vector<std::int32_t> marks;  // before
  };

  std::span<const PlacementJob> jobs_;
  std::vector<Question> questions_;
};

inline void ExpectSame(const std::vector<ReadOfDomains>& read,
                       const std::vector<ReadOfDomains>& right) {
  ASSERT_EQ(read.size(), right.size());
  for (std::size_t q = 0; q < right.size(); ++q) {
    SCOPED_TRACE(q);
    EXPECT_EQ(read[q].held, right[q].held);
    EXPECT_EQ(read[q].slices, right[q].slices);
    EXPECT_EQ(read[q].marks, right[q].marks);
  }
}

}  // namespace espalier
