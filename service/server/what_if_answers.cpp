#include "service/server/what_if_answers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/what_if/changed_nodes.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {
namespace {

// Questions that one message answers, at most.
constexpr std::size_t kPlainQuestions = 1024;
constexpr std::size_t kOtherQuestions = 64;
// Entries of usage that plain questions answered together take out, at most, unless the first one
// alone has more; and about what one takes.
constexpr std::size_t kMostEntries = 100'000;
constexpr std::int64_t kBytesOfEntry = 2 * sizeof(FlavorLeafUsage);

}  // namespace

Result<void> WhatIfAnswers::ReadNodes(const v1::WhatIfRequest& request) {
  Decoder decoder(request.strings(), *asked_.budget);
  std::vector<std::string> names;
  for (int i = 0; i < request.drained_nodes_size() && decoder.ok(); ++i) {
    names.push_back(decoder.String(request.drained_nodes(i), FieldPath("drained_nodes", i)));
  }
  for (int i = 0; i < request.upserted_nodes_size() && decoder.ok(); ++i) {
    const FieldPath path("upserted_nodes", i);
    decoder.Charge(sizeof(Node), path);
    upserted_.push_back(FromProto(request.upserted_nodes(i), path, decoder));
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  if (names.empty()) return {};
  auto nodes = asked_.found.store->NodesAt(asked_.found.position(), names);
  if (!nodes) return tl::unexpected(nodes.error());
  drained_ = *std::move(nodes);
  for (Node& node : drained_) node.unschedulable = true;
  return {};
}

Result<void> WhatIfAnswers::EmptyState(const v1::WhatIfRequest& request) {
  if (!request.empty_nodes()) return {};
  if (request.victims().names_size() + request.drained_nodes_size() +
          request.upserted_nodes_size() >
      0) {
    return BadInput("empty_nodes: does not go with victims, drained_nodes or upserted_nodes");
  }
  auto loaded = asked_.found.store->LoadedAt(asked_.found.position(), *asked_.budget);
  if (!loaded) return tl::unexpected(loaded.error());
  auto empty = ChangedNodes(asked_.state(), loaded->input).WithoutOtherPods(*asked_.budget);
  if (!empty) return tl::unexpected(empty.error());
  empty_ = *std::move(empty);
  for (WorkloadRequest& workload : asked_.workloads) workload.simulate_empty = true;  // R5.1
  return {};
}

Result<void> WhatIfAnswers::Read(const v1::WhatIfRequest& request) {
  if (auto emptied = EmptyState(request); !emptied) return emptied;
  auto victims =
      ReadVictims(request.victims(), *asked_.found.snapshot, asked_.state(), *asked_.budget);
  if (!victims) return tl::unexpected(victims.error());
  victims_ = *std::move(victims);
  if (auto nodes = ReadNodes(request); !nodes) return nodes;
  workload_of_.assign(request.question_workloads().begin(), request.question_workloads().end());
  for (std::size_t i = 0; i < workload_of_.size(); ++i) {
    if (workload_of_[i] < asked_.workloads.size()) continue;
    return BadInput(fmt::format("question_workloads[{}]: is {}; there are {} workloads", i,
                                workload_of_[i], asked_.workloads.size()));
  }
  const auto questions = static_cast<std::int64_t>(workload_of_.size());
  const auto read = [&](const auto& offsets, const auto& positions, std::size_t limit,
                        std::string_view field, Lists& lists) -> Result<void> {
    auto cut = ReadLists(offsets, positions, questions, static_cast<std::int64_t>(limit), field,
                         *asked_.budget);
    if (!cut) return tl::unexpected(cut.error());
    lists = *std::move(cut);
    return {};
  };
  if (auto cut = read(request.victim_offsets(), request.question_victims(), victims_.size(),
                      "question_victims", gone_);
      !cut) {
    return cut;
  }
  if (auto cut = read(request.drained_offsets(), request.question_drained(), drained_.size(),
                      "question_drained", drained_in_);
      !cut) {
    return cut;
  }
  if (auto cut = read(request.upserted_offsets(), request.question_upserted(), upserted_.size(),
                      "question_upserted", upserted_in_);
      !cut) {
    return cut;
  }
  placements_ = request.placements();
  plain_allowed_ = !placements_ && !(asked_.shares_usage() && state().FlavorsMayShare());
  return CheckQuestions();
}

// Checks victims and changed nodes of each question. What the state knows of admitted workloads is
// in it; what a caller says they use may not be.
Result<void> WhatIfAnswers::CheckQuestions() const {
  std::vector<bool> known;
  for (const RunningWorkload& victim : victims_) {
    known.push_back(asked_.found.snapshot->admitted->Find(victim.key) != nullptr);
  }
  for (std::size_t q = 0; q < workload_of_.size() && asked_.budget->MayContinue(); ++q) {
    if (!std::ranges::all_of(gone_[q], [&](std::uint32_t victim) { return known[victim]; })) {
      std::vector<Victim> gone;
      for (const std::uint32_t victim : gone_[q]) gone.push_back(victims_[victim].victim);
      if (auto sound = CheckVictims(asked_.state(), gone, /*together=*/true); !sound) return sound;
    }
    std::set<std::string_view> names;
    for (const auto& [list, nodes] :
         {std::pair(&drained_in_[q], &drained_), std::pair(&upserted_in_[q], &upserted_)}) {
      for (const std::uint32_t node : *list) {
        if (names.insert((*nodes)[node].name).second) continue;
        return BadInput(fmt::format("question {}: node {} changes twice; want each once", q,
                                    Excerpt((*nodes)[node].name)));
      }
    }
  }
  return asked_.budget->Check();
}

// Nothing changes but usage, and only whether it fits is asked.
bool WhatIfAnswers::IsPlain(std::size_t question) const {
  return plain_allowed_ && drained_in_[question].empty() && upserted_in_[question].empty();
}

Result<bool> WhatIfAnswers::Next(v1::WhatIfResponse& response) {
  *response.mutable_state() = ToProto(asked_.found.position());
  if (next_ == workload_of_.size()) return false;
  const bool plain = IsPlain(next_);
  const std::size_t most =
      std::min(workload_of_.size(), next_ + (plain ? kPlainQuestions : kOtherQuestions));
  std::size_t end = next_ + 1;
  std::size_t entries = plain ? EntriesOf(next_) : 0;
  while (end < most && IsPlain(end) == plain &&
         (!plain || workload_of_[end] == workload_of_[next_])) {
    if (plain) entries += EntriesOf(end);
    if (entries > kMostEntries) break;
    ++end;
  }
  const Result<void> answered = plain ? AnswerPlain(end, response) : AnswerEach(end, response);
  if (!answered) return tl::unexpected(answered.error());
  next_ = end;
  return next_ < workload_of_.size();
}

// Returns how many entries of usage a question takes out.
std::size_t WhatIfAnswers::EntriesOf(std::size_t question) const {
  std::size_t entries = 0;
  for (const std::uint32_t victim : gone_[question]) {
    entries += victims_[victim].victim.usage.size();
  }
  return entries;
}

Result<void> WhatIfAnswers::AnswerPlain(std::size_t end, v1::WhatIfResponse& response) {
  std::int64_t bytes = 0;
  std::vector<Victim> states;
  for (std::size_t q = next_; q < end; ++q) {
    const std::int64_t of_question = static_cast<std::int64_t>(EntriesOf(q)) * kBytesOfEntry;
    if (!asked_.budget->Charge(of_question)) return asked_.budget->Check();
    bytes += of_question;
    Victim& state = states.emplace_back();
    state.name = fmt::format("of question {}", q);
    for (const std::uint32_t victim : gone_[q]) {
      const std::vector<FlavorLeafUsage>& usage = victims_[victim].victim.usage;
      state.usage.insert(state.usage.end(), usage.begin(), usage.end());
    }
  }
  const auto fits =
      FitsWithoutEach(asked_.MakeEngine(), state(), asked_.workloads[workload_of_[next_]], states);
  if (!fits) return tl::unexpected(fits.error());
  response.mutable_fits()->Add(fits->begin(), fits->end());
  asked_.budget->Release(bytes);
  return {};
}

Result<ClusterState> WhatIfAnswers::StateOf(std::size_t question) {
  std::vector<Node> nodes;
  for (const std::uint32_t node : drained_in_[question]) nodes.push_back(drained_[node]);
  for (const std::uint32_t node : upserted_in_[question]) nodes.push_back(upserted_[node]);
  Result<ClusterState> state =
      nodes.empty()
          ? this->state().Branch(*asked_.budget)
          : asked_.found.store->With(asked_.found.position(),
                                     {.delta = {.upsert_nodes = std::move(nodes)}}, *asked_.budget);
  if (!state) return state;
  for (const std::uint32_t victim : gone_[question]) {
    state->ChangeUsage(victims_[victim].victim.usage, -1, asked_.shares_usage());
  }
  return state;
}

Result<void> WhatIfAnswers::AnswerEach(std::size_t end, v1::WhatIfResponse& response) {
  const Engine engine = asked_.MakeEngine();
  std::vector<WorkloadRequest> requests;
  std::vector<WorkloadAnswer> answers;
  for (std::size_t q = next_; q < end; ++q) {
    const Result<ClusterState> state = StateOf(q);
    if (!state) return tl::unexpected(state.error());
    const WorkloadRequest& request = asked_.workloads[workload_of_[q]];
    WorkloadAnswer answer = engine.NominateOne(*state, request);
    if (!asked_.budget->MayContinue()) return asked_.budget->Check();
    response.add_fits(Fits(answer));
    if (!placements_) continue;
    requests.push_back(request);
    answers.push_back(std::move(answer));
  }
  if (!placements_) return {};
  auto batch = ToProto(requests, answers, asked_.leaf_index, *asked_.budget);
  if (!batch) return tl::unexpected(batch.error());
  *response.mutable_answers() = *std::move(batch);
  return {};
}

}  // namespace espalier
