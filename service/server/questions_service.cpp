#include "service/server/questions_service.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "host/model/excerpt.hpp"
#include "service/server/atlas_answers.hpp"
#include "service/server/move_plans.hpp"
#include "service/server/question_context.hpp"
#include "service/server/question_input.hpp"
#include "service/server/replay_answers.hpp"
#include "service/server/status_with_position.hpp"
#include "service/server/victim_answers.hpp"
#include "service/server/what_if_answers.hpp"
#include "service/wire/questions.hpp"

namespace espalier {
namespace {

// Shapes that are counted at a time; the counts of every node are held meanwhile.
constexpr std::size_t kShapesTogether = 32;

// Counts how many more of a shape fit, one shape after the other.
struct Census {
  QuestionContext asked;
  std::optional<LocalQuestions> questions;
  std::set<std::string> levels;  // wanted; empty: all
  CensusDomains domains = CensusDomains::kNone;
  std::size_t next = 0;
  std::deque<GangCensus> counted;  // of the gangs among the shapes from `next` on

  const ClusterState& state() const { return questions->supposed(); }

  Result<void> Read(const v1::CountGangsRequest& request) {
    levels.insert(request.levels().begin(), request.levels().end());
    if (request.domains()) domains = CensusDomains::kWithRoom;
    if (request.all_domains()) domains = CensusDomains::kAll;
    auto change = ReadChange(request.drained_nodes(), request.change(), *asked.budget);
    if (!change) return tl::unexpected(change.error());
    questions.emplace(asked.MakeQuestions());
    if (auto supposed = questions->Suppose(*std::move(change)); !supposed) return supposed;
    for (std::size_t i = 0; i < asked.workloads.size(); ++i) {
      if (auto sound = CheckShape(asked.workloads[i], i); !sound) return sound;
    }
    if (!asked.budget->Charge(BytesOfCounts())) return asked.budget->Check();
    return {};
  }

  // Others are counted as a whole.
  static bool IsGang(const WorkloadRequest& shape) {
    return !shape.tree && shape.pod_sets.size() == 1;
  }

  Result<void> CheckShape(const WorkloadRequest& shape, std::size_t position) const {
    if (shape.tree) return {};
    if (shape.pod_sets.empty()) {
      return BadInput(fmt::format("shapes: {} (position {}) has no pod sets; want 1 or more",
                                  Excerpt(shape.key.ToString()), position));
    }
    for (const PodSetRequest& pods : shape.pod_sets) {
      if (pods.count >= 1) continue;
      return BadInput(fmt::format("shapes: {} (position {}) has {} pods; want 1 or more",
                                  Excerpt(shape.key.ToString()), position, pods.count));
    }
    if (!IsGang(shape)) return {};
    const FlavorSnapshot& flavor = state().Find(shape.pod_sets.front().flavor)->snapshot();
    for (const std::string& level : levels) {
      if (level.empty() || flavor.FindLevel(level) >= 0) continue;
      return BadInput(fmt::format("levels: flavor {} has no level {}; it has {}",
                                  Excerpt(shape.pod_sets.front().flavor), Excerpt(level),
                                  Excerpt(fmt::format("{}", fmt::join(flavor.levels(), ", ")))));
    }
    return {};
  }

  // Returns the bytes of the counts that are held at a time.
  std::int64_t BytesOfCounts() const {
    if (domains == CensusDomains::kNone) return 0;
    std::int64_t most = 0;
    for (const WorkloadRequest& shape : asked.workloads) {
      if (!IsGang(shape)) continue;
      const FlavorState& flavor = *state().Find(shape.pod_sets.front().flavor);
      most = std::max<std::int64_t>(most, flavor.snapshot().domain_count());
    }
    return most * static_cast<std::int64_t>(sizeof(StoredCount) *
                                            std::min(kShapesTogether, asked.workloads.size()));
  }

  Result<bool> Next(v1::CountGangsResponse& response) {
    *response.mutable_state() = ToProto(asked.found.position());
    if (next == asked.workloads.size()) return false;
    response.set_shape(static_cast<std::uint32_t>(next));
    if (!IsGang(asked.workloads[next])) {
      const auto census = questions->CountGangs(asked.workloads[next]);
      if (!census) return tl::unexpected(census.error());
      Write(*census, domains, response);
      return ++next < asked.workloads.size();
    }
    if (counted.empty()) CountSome();
    const PodSetRequest& shape = asked.workloads[next].pod_sets.front();
    const auto written = Write(counted.front(), state().Find(shape.flavor)->snapshot(), levels,
                               domains, *asked.budget, response);
    if (!written) return tl::unexpected(written.error());
    counted.pop_front();
    return ++next < asked.workloads.size();
  }

  void CountSome() {
    std::vector<PodSetRequest> gangs;
    const std::size_t end = std::min(next + kShapesTogether, asked.workloads.size());
    for (std::size_t i = next; i < end; ++i) {
      if (IsGang(asked.workloads[i])) gangs.push_back(asked.workloads[i].pod_sets.front());
    }
    const auto detail =
        domains == CensusDomains::kNone ? CensusDetail::kLevels : CensusDetail::kDomains;
    std::ranges::move(espalier::CountGangs(state(), gangs, detail, asked.gates, *asked.backend),
                      std::back_inserter(counted));
  }
};

// Why not, for one workload after the other.
struct Explanations {
  QuestionContext asked;
  std::optional<LocalQuestions> questions;
  std::optional<std::vector<RunningWorkload>> running;  // absent: all that the state knows
  std::size_t next = 0;

  Result<void> Read(const v1::ExplainRequest& request) {
    questions.emplace(asked.MakeQuestions());
    if (!request.has_victims()) return {};
    auto named =
        ReadVictims(request.victims(), *asked.found.snapshot, asked.state(), *asked.budget);
    if (!named) return tl::unexpected(named.error());
    running = *std::move(named);
    return {};
  }

  Result<bool> Next(v1::ExplainResponse& response) {
    *response.mutable_state() = ToProto(asked.found.position());
    if (next == asked.workloads.size()) return false;
    std::optional<std::span<const RunningWorkload>> tried;
    if (running) tried = *running;
    const auto found = questions->Explain(asked.workloads[next], tried);
    if (!found) return tl::unexpected(found.error());
    response.set_workload(static_cast<std::uint32_t>(next));
    Write(*found, response);
    if (auto written = asked.WriteAnswer(next, found->answer, *response.mutable_answers());
        !written) {
      return tl::unexpected(written.error());
    }
    if (!found->fits) {
      if (auto written = asked.WriteAnswer(next, found->empty, *response.mutable_empty());
          !written) {
        return tl::unexpected(written.error());
      }
    }
    return ++next < asked.workloads.size();
  }
};

// Returns what makes one message after the other of a stream about a state of `store`.
template <class Answers>
auto NextOf(std::shared_ptr<Answers> answers, std::shared_ptr<const StateStore> store) {
  return [answers = std::move(answers), store = std::move(store)](auto& response, bool& more) {
    const Result<bool> made = answers->Next(response);
    if (!made) return StatusWithPosition(made.error(), *store);
    more = *made;
    return grpc::Status::OK;
  };
}

// Returns how a request wants domains to be named; an atlas names them always.
template <class Request>
v1::DomainNaming NamingOf(const Request& request) {
  return request.domain_naming();
}
v1::DomainNaming NamingOf(const v1::AtlasRequest& /*request*/) { return v1::DOMAIN_NAMING_NAME; }

grpc::Status CheckProposals(const v1::ValidateRequest& request, const NamedStates& states,
                            QuestionContext asked, v1::ValidateResponse& response) {
  const grpc::Status opened = OpenQuestion(request, states, {}, v1::DOMAIN_NAMING_NAME, asked);
  if (!opened.ok()) return opened;
  auto workloads = FromProto(request, *asked.budget);
  if (!workloads) return ToStatus(workloads.error());
  const auto check = asked.MakeQuestions().Validate(*workloads);
  if (!check) return ToStatus(check.error());
  *response.mutable_state() = ToProto(asked.found.position());
  Write(*check, response);
  return grpc::Status::OK;
}

}  // namespace

QuestionsService::QuestionsService(Calls& calls, NamedStates& states,
                                   std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls), states_(states), backend_(std::move(backend)), gates_(gates) {}

template <class Answers, class Request, class Response>
QuestionsService::Stream* QuestionsService::AnswerInParts(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<Request, Response>(
      context, calls_.queue(), request,
      [this](const Request& message, WorkBudget& budget, Calls::NextMessage<Response>& next) {
        QuestionContext asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened =
            OpenQuestion(message, states_, message.workloads(), NamingOf(message), asked);
        if (!opened.ok()) return opened;
        const std::shared_ptr<StateStore> store = asked.found.store;
        auto answers = std::make_shared<Answers>(std::move(asked));
        if (const auto read = answers->Read(message); !read) {
          return StatusWithPosition(read.error(), *store);
        }
        next = NextOf(answers, store);
        return grpc::Status::OK;
      });
}

QuestionsService::Stream* QuestionsService::WhatIf(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request) {
  return AnswerInParts<WhatIfAnswers, v1::WhatIfRequest, v1::WhatIfResponse>(context, request);
}

QuestionsService::Stream* QuestionsService::FindVictims(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) {
  return AnswerInParts<VictimAnswers, v1::FindVictimsRequest, v1::FindVictimsResponse>(context,
                                                                                       request);
}

QuestionsService::Stream* QuestionsService::Atlas(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request) {
  return AnswerInParts<AtlasAnswers, v1::AtlasRequest, v1::AtlasResponse>(context, request);
}

QuestionsService::Stream* QuestionsService::CountGangs(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::CountGangsRequest, v1::CountGangsResponse>(
      context, calls_.queue(), request,
      [this](const v1::CountGangsRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::CountGangsResponse>& next) {
        auto census = std::make_shared<Census>();
        census->asked = {.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened =
            OpenQuestion(message, states_, message.shapes(), v1::DOMAIN_NAMING_NAME, census->asked);
        if (!opened.ok()) return opened;
        if (const auto read = census->Read(message); !read) {
          return StatusWithPosition(read.error(), *census->asked.found.store);
        }
        next = NextOf(census, census->asked.found.store);
        return grpc::Status::OK;
      });
}

QuestionsService::Stream* QuestionsService::Explain(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::ExplainRequest, v1::ExplainResponse>(
      context, calls_.queue(), request,
      [this](const v1::ExplainRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::ExplainResponse>& next) {
        auto found = std::make_shared<Explanations>();
        found->asked = {.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, found->asked);
        if (!opened.ok()) return opened;
        const std::shared_ptr<StateStore> store = found->asked.found.store;
        if (const auto read = found->Read(message); !read) return ToStatus(read.error());
        next = NextOf(found, store);
        return grpc::Status::OK;
      });
}

grpc::ServerUnaryReactor* QuestionsService::Validate(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ValidateRequest, v1::ValidateResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::ValidateRequest& message, WorkBudget& budget, v1::ValidateResponse& answer) {
        return CheckProposals(message, states_,
                              {.backend = backend_, .gates = gates_, .budget = &budget}, answer);
      });
}

grpc::ServerUnaryReactor* QuestionsService::Drain(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::DrainRequest, v1::DrainResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::DrainRequest& message, WorkBudget& budget, v1::DrainResponse& answer) {
        QuestionContext asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        return opened.ok() ? PlanDrain(message, asked, answer) : opened;
      });
}

grpc::ServerUnaryReactor* QuestionsService::Defragment(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::DefragmentRequest, v1::DefragmentResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::DefragmentRequest& message, WorkBudget& budget,
             v1::DefragmentResponse& answer) {
        QuestionContext asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        return opened.ok() ? PlanDefragment(message, asked, answer) : opened;
      });
}

QuestionsService::Stream* QuestionsService::Replay(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::ReplayRequest, v1::ReplayResponse>(
      context, calls_.queue(), request,
      [this](const v1::ReplayRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::ReplayResponse>& next) {
        QuestionContext asked{.backend = backend_, .gates = gates_, .budget = &budget};
        const grpc::Status opened = OpenQuestion(message, states_, asked);
        if (!opened.ok()) return opened;
        const std::shared_ptr<StateStore> store = asked.found.store;
        auto answers = std::make_shared<ReplayAnswers>(std::move(asked));
        if (const auto read = answers->Read(message); !read) return ToStatus(read.error());
        next = NextOf(answers, store);
        return grpc::Status::OK;
      });
}

}  // namespace espalier
