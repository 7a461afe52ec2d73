#include "service/client/remote_questions.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "espalier/v1/questions.grpc.pb.h"
#include "service/client/connection.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/questions.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {

class RemoteQuestions::Impl {
 public:
  Impl(Connection connection, std::string state_name, const FeatureGates& gates)
      : connection_(std::move(connection)),
        stub_(v1::Questions::NewStub(connection_.channel())),
        state_name_(std::move(state_name)),
        gates_(gates) {}

  void Suppose(ProposedChange change) { supposed_ = std::move(change); }

  Result<ClusterStateInput> ReadInput() {
    v1::ReadStateRequest asked;
    asked.set_state_name(state_name_);
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    const auto stub = v1::ClusterState::NewStub(connection_.channel());
    const auto reader = stub->ReadState(&context, asked);
    ClusterStateInput input;
    std::vector<AdmittedUsage> workloads;
    std::vector<FlavorLeafUsage> held;
    Result<void> sound;
    std::int64_t chunk = 0;
    bool is_whole = false;
    for (v1::ReadStateResponse response; reader->Read(&response); ++chunk) {
      WorkBudget budget(kMaxAnswerBytes);
      if (sound) sound = AppendChunk(response.chunk(), chunk, budget, input, workloads);
      if (sound) sound = AppendHeld(response, budget, held);
      is_whole = response.chunk().has_end();
    }
    if (auto ended = connection_.Check(reader->Finish()); !ended) {
      return tl::unexpected(ended.error());
    }
    if (sound && !is_whole) sound = BadInput("less than the whole state");
    if (!sound) {
      return connection_.Readable(Result<ClusterStateInput>(tl::unexpected(sound.error())));
    }
    for (AdmittedUsage& workload : workloads) {
      std::ranges::move(workload.usage, std::back_inserter(input.tas_usage));
    }
    std::ranges::move(held, std::back_inserter(input.tas_usage));
    return input;
  }

  Result<std::vector<WorkloadAnswer>> Nominate(std::span<const WorkloadRequest> requests,
                                               bool on_empty) {
    if (requests.empty()) return std::vector<WorkloadAnswer>();
    auto asked = AskAll<v1::WhatIfRequest>(requests);
    if (!asked) return tl::unexpected(asked.error());
    for (std::size_t w = 0; w < requests.size(); ++w) {
      asked->add_question_workloads(static_cast<std::uint32_t>(w));
    }
    asked->set_placements(true);
    asked->set_empty_nodes(on_empty);
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    const auto reader = stub_->WhatIf(&context, *asked);
    std::vector<WorkloadAnswer> answers;
    Result<void> sound;
    for (v1::WhatIfResponse response; reader->Read(&response);) {
      const auto some = static_cast<std::size_t>(response.fits_size());
      if (!sound) continue;
      if (some > requests.size() - answers.size()) {
        sound = BadInput("more answers than workloads");
        continue;
      }
      WorkBudget budget(kMaxAnswerBytes);
      auto read = FromProto(requests.subspan(answers.size(), some), response.answers(), budget);
      if (read) {
        std::ranges::move(*read, std::back_inserter(answers));
      } else {
        sound = tl::unexpected(read.error());
      }
    }
    if (auto ended = connection_.Check(reader->Finish()); !ended) {
      return tl::unexpected(ended.error());
    }
    if (sound && answers.size() < requests.size()) sound = BadInput("fewer answers than workloads");
    if (sound) return answers;
    return connection_.Readable(Result<std::vector<WorkloadAnswer>>(tl::unexpected(sound.error())));
  }

  Result<Certificate> Explain(const WorkloadRequest& request,
                              std::optional<std::span<const RunningWorkload>> running) {
    auto asked = Ask<v1::ExplainRequest>(request);
    if (!asked) return tl::unexpected(asked.error());
    if (running) *asked->mutable_victims() = ToProto(*running);
    const auto response = Single(&v1::Questions::Stub::Explain, *asked);
    if (!response) return tl::unexpected(response.error());
    Certificate found = FromProto(*response);
    auto now = AnswerOf(request, response->answers());
    if (!now) return tl::unexpected(now.error());
    found.answer = *std::move(now);
    if (found.fits) return found;
    auto empty = AnswerOf(request, response->empty());
    if (!empty) return tl::unexpected(empty.error());
    found.empty = *std::move(empty);
    return found;
  }

  Result<std::vector<PrefixAnswer>> FindVictimsOfEach(std::span<const WorkloadRequest> requests,
                                                      std::span<const RunningWorkload> victims,
                                                      const VictimLists& lists) {
    if (requests.empty()) return std::vector<PrefixAnswer>();
    auto asked = AskAll<v1::FindVictimsRequest>(requests);
    if (!asked) return tl::unexpected(asked.error());
    *asked->mutable_victims() = ToProto(victims);
    WriteSupposed(*asked);
    for (std::size_t w = 0; w < requests.size() && !lists.empty(); ++w) {
      const std::vector<std::uint32_t>& list = lists.size() == 1 ? lists[0] : lists[w];
      asked->add_victim_offsets(static_cast<std::uint32_t>(asked->workload_victims_size()));
      asked->mutable_workload_victims()->Add(list.begin(), list.end());
    }
    if (!lists.empty()) {
      asked->add_victim_offsets(static_cast<std::uint32_t>(asked->workload_victims_size()));
    }
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    const auto reader = stub_->FindVictims(&context, *asked);
    return ReadEach<PrefixAnswer>(*reader, requests.size(),
                                  [&](std::size_t w, const v1::FindVictimsResponse& response) {
                                    return ReadPrefix(requests[w], victims.size(), response);
                                  });
  }

  Result<NamedVictimSets> FindCheapestVictims(const WorkloadRequest& request,
                                              std::span<const RunningWorkload> victims) {
    auto asked = Ask<v1::FindVictimsRequest>(request);
    if (!asked) return tl::unexpected(asked.error());
    *asked->mutable_victims() = ToProto(victims);
    WriteSupposed(*asked);
    asked->set_cheapest(true);
    const auto response = Single(&v1::Questions::Stub::FindVictims, *asked);
    if (!response) return tl::unexpected(response.error());
    NamedVictimSets found{response->fits(), {}};
    for (const v1::DomainVictims& row : response->domains()) {
      NamedDomainVictims& domain = found.domains.emplace_back();
      domain.flavor = row.flavor();
      domain.values.assign(row.values().begin(), row.values().end());
      domain.exact = row.exact();
      for (const v1::VictimSet& set : row.sets()) {
        if (!AreBelow(set.victims(), victims.size())) {
          return connection_.Readable(Result<NamedVictimSets>(UnknownVictim()));
        }
        domain.sets.push_back(
            {{set.victims().begin(), set.victims().end()}, set.priority(), set.accelerators()});
      }
    }
    return found;
  }

  Result<NamedAtlas> Atlas(std::span<const WorkloadRequest> requests,
                           std::optional<std::span<const RunningWorkload>> running,
                           const AnsweredProgress& progress) {
    auto asked = AskOf<v1::AtlasRequest>(requests);
    if (!asked) return tl::unexpected(asked.error());
    if (running) *asked->mutable_victims() = ToProto(*running);
    WriteSupposed(*asked);
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    const auto reader = stub_->Atlas(&context, *asked);
    NamedAtlas atlas;
    Result<void> sound;
    std::size_t answered = 0;
    for (v1::AtlasResponse response; reader->Read(&response);) {
      if (sound) sound = AppendFromProto(response, requests.size(), atlas);
      for (const v1::AtlasRow& row : response.rows()) {
        answered += static_cast<std::size_t>(row.workloads_size());
      }
      if (sound && progress) progress(answered);
    }
    if (auto ended = connection_.Check(reader->Finish()); !ended) {
      return tl::unexpected(ended.error());
    }
    if (sound && answered != requests.size()) sound = BadInput("not one row for each workload");
    if (sound) return atlas;
    return connection_.Readable(Result<NamedAtlas>(tl::unexpected(sound.error())));
  }

  Result<NamedCensus> CountGangs(const WorkloadRequest& gang) {
    v1::CountGangsRequest asked;
    auto batch = ToProto(std::span(&gang, 1));
    if (!batch) return tl::unexpected(batch.error());
    *asked.mutable_shapes() = *std::move(batch);
    WriteFeatureGates(gates_, *asked.mutable_feature_gates());
    asked.set_state_name(state_name_);
    WriteSupposed(asked);
    asked.set_all_domains(true);
    const auto response = Single(&v1::Questions::Stub::CountGangs, asked);
    if (!response) return tl::unexpected(response.error());
    return connection_.Readable(ReadCensus(*response));
  }

  Result<DrainAnswer> Drain(const std::vector<std::string>& nodes,
                            std::span<const WorkloadRequest> requests) {
    auto asked = AskAll<v1::DrainRequest>(requests);
    if (!asked) return tl::unexpected(asked.error());
    asked->mutable_nodes()->Assign(nodes.begin(), nodes.end());
    const auto response = Unary(&v1::Questions::Stub::Drain, *asked);
    if (!response) return tl::unexpected(response.error());
    return connection_.Readable(ReadDrain(requests, *response));
  }

  Result<NamedDefragment> Defragment(std::span<const WorkloadRequest> requests,
                                     const DefragmentOptions& options) {
    auto asked = AskAll<v1::DefragmentRequest>(requests);
    if (!asked) return tl::unexpected(asked.error());
    asked->set_level(options.level);
    asked->set_flavor(options.flavor);
    asked->set_most_moves(static_cast<std::uint32_t>(
        std::min<std::size_t>(options.most_moves, std::numeric_limits<std::uint32_t>::max())));
    const auto response = Unary(&v1::Questions::Stub::Defragment, *asked);
    if (!response) return tl::unexpected(response.error());
    return connection_.Readable(ReadPlan(requests, *response));
  }

  Result<std::vector<WorkloadAnswer>> Replay(const ReplayedWorkloads& replayed) {
    auto asked = AskAll<v1::ReplayRequest>(replayed.requests);
    if (!asked) return tl::unexpected(asked.error());
    StringTable strings(asked->mutable_strings());
    for (std::size_t w = 0; w < replayed.chosen.size(); ++w) {
      v1::ChosenPlace& row = *asked->add_chosen();
      row.set_workload(static_cast<std::uint32_t>(w));
      for (const FlavorLeafUsage& usage : replayed.chosen[w]) {
        Fill(usage, strings, *row.add_usage());
      }
    }
    for (const ObjectKey& key : replayed.ended) *asked->add_ended() = ToProto(key);
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    const auto reader = stub_->Replay(&context, *asked);
    return ReadEach<WorkloadAnswer>(*reader, replayed.requests.size(),
                                    [&](std::size_t w, const v1::ReplayResponse& response) {
                                      replayed_on_ = response.state();
                                      return AnswerOf(replayed.requests[w], response.answers());
                                    });
  }

  Result<AssignmentCheck> Validate(std::span<const Workload> workloads) {
    auto asked = ToProto(workloads);
    if (!asked) return tl::unexpected(asked.error());
    WriteFeatureGates(gates_, *asked->mutable_feature_gates());
    asked->set_state_name(state_name_);
    if (replayed_on_) *asked->mutable_state() = *replayed_on_;
    const auto response = Unary(&v1::Questions::Stub::Validate, *asked);
    if (!response && response.error().error_class == ErrorClass::kStale) return ChangedMeanwhile();
    if (!response) return tl::unexpected(response.error());
    return FromProto(*response);
  }

 private:
  static tl::unexpected<Error> ChangedMeanwhile() {
    return tl::unexpected(
        Error{ErrorClass::kStale, "the state changed while it was asked: ask again"});
  }

  // Reads the answers to so many workloads, one a message, each by read(its position, message).
  template <class Answer, class Response>
  Result<std::vector<Answer>> ReadEach(grpc::ClientReader<Response>& reader, std::size_t workloads,
                                       const auto& read) {
    std::vector<Answer> answers;
    Result<void> sound;
    for (Response response; reader.Read(&response);) {
      if (!sound || answers.size() == workloads) continue;
      Result<Answer> answer = read(answers.size(), response);
      if (answer) {
        answers.push_back(*std::move(answer));
      } else {
        sound = tl::unexpected(answer.error());
      }
    }
    if (auto ended = connection_.Check(reader.Finish()); !ended) {
      return tl::unexpected(ended.error());
    }
    if (!sound) return tl::unexpected(sound.error());
    if (answers.size() == workloads) return answers;
    return connection_.Readable(
        Result<std::vector<Answer>>(BadInput("fewer answers than workloads")));
  }

  static tl::unexpected<Error> UnknownVictim() {
    return BadInput("a victim that was not asked about");
  }
  static bool AreBelow(const google::protobuf::RepeatedField<std::uint32_t>& positions,
                       std::size_t limit) {
    return std::ranges::all_of(positions, [&](std::uint32_t position) { return position < limit; });
  }

  // Reads the answer to one request about so many victims.
  Result<PrefixAnswer> ReadPrefix(const WorkloadRequest& request, std::size_t victims,
                                  const v1::FindVictimsResponse& message) const {
    if (!AreBelow(message.targets(), victims)) {
      return connection_.Readable(Result<PrefixAnswer>(UnknownVictim()));
    }
    auto answer = AnswerOf(request, message.answers());
    if (!answer) return tl::unexpected(answer.error());
    return PrefixAnswer{message.fits(),
                        message.prefix(),
                        {message.targets().begin(), message.targets().end()},
                        *std::move(answer)};
  }

  static Result<DrainAnswer> ReadDrain(std::span<const WorkloadRequest> requests,
                                       const v1::DrainResponse& message) {
    DrainAnswer found;
    for (const v1::HitWorkload& hit : message.hits()) {
      found.hits.push_back({{hit.workload().namespace_(), hit.workload().name()},
                            hit.priority(),
                            hit.pods_hit(),
                            hit.pods()});
    }
    std::vector<WorkloadRequest> moved;
    for (const std::uint32_t position : message.moved()) {
      if (position >= requests.size())
        return BadInput("moved: a workload that was not asked about");
      found.moved.push_back(position);
      moved.push_back(requests[position]);
    }
    WorkBudget budget(kMaxAnswerBytes);
    auto answers = FromProto(moved, message.answers(), budget);
    if (!answers) return tl::unexpected(answers.error());
    found.answers = *std::move(answers);
    return found;
  }

  static Result<NamedDefragment> ReadPlan(std::span<const WorkloadRequest> requests,
                                          const v1::DefragmentResponse& message) {
    NamedDefragment found;
    DefragmentPlan& plan = found.plan;
    plan.flavor = message.flavor();
    plan.domains = message.domains();
    plan.free_already = message.free_already();
    plan.out_of_reach = message.out_of_reach();
    for (const v1::WorkloadName& name : message.staying()) {
      plan.staying.push_back({name.namespace_(), name.name()});
    }
    const auto known = [&](std::uint32_t position) { return position < requests.size(); };
    if (!std::ranges::all_of(message.unknown(), known)) {
      return BadInput("unknown: a workload that was not asked about");
    }
    found.unknown.assign(message.unknown().begin(), message.unknown().end());
    std::vector<WorkloadRequest> moved;
    for (const v1::FreedDomain& row : message.freed()) {
      FreedDomain& freed = plan.freed.emplace_back();
      freed.values.assign(row.values().begin(), row.values().end());
      for (const std::uint32_t position : row.moves()) {
        if (!known(position)) return BadInput("freed: a workload that was not asked about");
        moved.push_back(requests[position]);
        freed.moves.push_back({position, {}});
      }
    }
    plan.moves = moved.size();
    WorkBudget budget(kMaxAnswerBytes);
    auto answers = FromProto(moved, message.answers(), budget);
    if (!answers) return tl::unexpected(answers.error());
    auto answer = answers->begin();
    for (FreedDomain& freed : plan.freed) {
      for (DefragmentMove& move : freed.moves) move.answer = std::move(*answer++);
    }
    return found;
  }

  // Writes what is supposed into a question that has a place for it.
  template <class Request>
  void WriteSupposed(Request& asked) const {
    asked.mutable_drained_nodes()->Assign(supposed_.drained.begin(), supposed_.drained.end());
    if (supposed_.delta != StateDelta()) *asked.mutable_change() = ToProto(supposed_.delta);
  }

  // Returns a question about workloads.
  template <class Request>
  Result<Request> AskOf(std::span<const WorkloadRequest> requests) const {
    Request asked;
    asked.set_state_name(state_name_);
    WriteFeatureGates(gates_, *asked.mutable_feature_gates());
    auto batch = ToProto(requests);
    if (!batch) return tl::unexpected(batch.error());
    *asked.mutable_workloads() = *std::move(batch);
    return asked;
  }

  // Returns a question about workloads, with domains to be named.
  template <class Request>
  Result<Request> AskAll(std::span<const WorkloadRequest> requests) const {
    auto asked = AskOf<Request>(requests);
    if (asked) asked->set_domain_naming(v1::DOMAIN_NAMING_NAME);
    return asked;
  }

  template <class Request>
  Result<Request> Ask(const WorkloadRequest& request) const {
    return AskAll<Request>(std::span(&request, 1));
  }

  template <class Request, class Response>
  Result<Response> Unary(grpc::Status (v1::Questions::Stub::*call)(grpc::ClientContext*,
                                                                   const Request&, Response*),
                         const Request& request) const {
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    Response response;
    if (auto got = connection_.Check((stub_.get()->*call)(&context, request, &response)); !got) {
      return tl::unexpected(got.error());
    }
    return response;
  }

  // Makes a call that answers one question.
  template <class Request, class Response>
  Result<Response> Single(std::unique_ptr<grpc::ClientReader<Response>> (
                              v1::Questions::Stub::*call)(grpc::ClientContext*, const Request&),
                          const Request& request) const {
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    const auto reader = (stub_.get()->*call)(&context, request);
    Response response;
    const bool answered = reader->Read(&response);
    for (Response more; reader->Read(&more);) {
    }
    if (auto ended = connection_.Check(reader->Finish()); !ended) {
      return tl::unexpected(ended.error());
    }
    if (answered) return response;
    return connection_.Readable(Result<Response>(BadInput("nothing")));
  }

  Result<WorkloadAnswer> AnswerOf(const WorkloadRequest& request,
                                  const v1::AnswerBatch& message) const {
    WorkBudget budget(kMaxAnswerBytes);
    auto answers = connection_.Readable(FromProto(std::span(&request, 1), message, budget));
    if (!answers) return tl::unexpected(answers.error());
    return std::move(answers->front());
  }

  static Result<NamedCensus> ReadCensus(const v1::CountGangsResponse& message) {
    NamedCensus census{message.failure(), {}};
    for (const v1::LevelCensus& row : message.levels()) {
      const int domains = row.domain_gangs_size();
      const int depth = domains == 0 ? 0 : row.values_size() / domains;
      if (row.domain_pods_size() != domains || row.values_size() != depth * domains) {
        return BadInput("levels: its columns differ in length");
      }
      NamedCensus::Level& level = census.levels.emplace_back();
      level.level = row.level();
      level.gangs = row.gangs();
      for (int i = 0; i < domains; ++i) {
        const auto first = row.values().begin() + i * depth;
        level.domains.push_back({{first, first + depth}, row.domain_pods(i), row.domain_gangs(i)});
      }
    }
    return census;
  }

  Connection connection_;
  std::unique_ptr<v1::Questions::Stub> stub_;
  std::string state_name_;
  FeatureGates gates_;
  ProposedChange supposed_;
  std::optional<v1::StatePosition> replayed_on_;  // of the last Replay
};

Result<std::unique_ptr<RemoteQuestions>> RemoteQuestions::Connect(const std::string& address,
                                                                  std::string state_name,
                                                                  const FeatureGates& gates,
                                                                  std::chrono::milliseconds timeout,
                                                                  const ClientTls& tls) {
  auto connection = Connection::Open(address, timeout, tls);
  if (!connection) return tl::unexpected(connection.error());
  return std::unique_ptr<RemoteQuestions>(new RemoteQuestions(
      std::make_unique<Impl>(*std::move(connection), std::move(state_name), gates)));
}

RemoteQuestions::RemoteQuestions(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteQuestions::~RemoteQuestions() = default;

Result<ClusterStateInput> RemoteQuestions::ReadInput() { return impl_->ReadInput(); }

Result<void> RemoteQuestions::Suppose(ProposedChange change) {
  impl_->Suppose(std::move(change));
  return {};
}

Result<std::vector<WorkloadAnswer>> RemoteQuestions::Nominate(
    std::span<const WorkloadRequest> requests) {
  return impl_->Nominate(requests, /*on_empty=*/false);
}

Result<std::vector<WorkloadAnswer>> RemoteQuestions::NominateOnEmpty(
    std::span<const WorkloadRequest> requests) {
  return impl_->Nominate(requests, /*on_empty=*/true);
}

Result<Certificate> RemoteQuestions::Explain(
    const WorkloadRequest& request, std::optional<std::span<const RunningWorkload>> running) {
  return impl_->Explain(request, running);
}

Result<std::vector<PrefixAnswer>> RemoteQuestions::FindVictimsOfEach(
    std::span<const WorkloadRequest> requests, std::span<const RunningWorkload> victims,
    const VictimLists& lists) {
  return impl_->FindVictimsOfEach(requests, victims, lists);
}

Result<NamedVictimSets> RemoteQuestions::FindCheapestVictims(
    const WorkloadRequest& request, std::span<const RunningWorkload> victims) {
  return impl_->FindCheapestVictims(request, victims);
}

Result<NamedAtlas> RemoteQuestions::Atlas(std::span<const WorkloadRequest> requests,
                                          std::optional<std::span<const RunningWorkload>> running,
                                          const AnsweredProgress& progress) {
  return impl_->Atlas(requests, running, progress);
}

Result<NamedCensus> RemoteQuestions::CountGangs(const WorkloadRequest& gang) {
  return impl_->CountGangs(gang);
}

Result<DrainAnswer> RemoteQuestions::Drain(const std::vector<std::string>& nodes,
                                           std::span<const WorkloadRequest> requests) {
  return impl_->Drain(nodes, requests);
}

Result<NamedDefragment> RemoteQuestions::Defragment(std::span<const WorkloadRequest> requests,
                                                    const DefragmentOptions& options) {
  return impl_->Defragment(requests, options);
}

Result<std::vector<WorkloadAnswer>> RemoteQuestions::Replay(const ReplayedWorkloads& replayed) {
  return impl_->Replay(replayed);
}

Result<AssignmentCheck> RemoteQuestions::Validate(std::span<const Workload> workloads) {
  return impl_->Validate(workloads);
}

}  // namespace espalier
