// The calls of a controller: how it stays connected, and how it finds and makes the state.
#include <algorithm>
#include <shared_mutex>

#include <fmt/format.h>

#include "espalier/v1/placement.grpc.pb.h"
#include "service/wire/cluster_state.hpp"
#include "tests/chaos/controller.hpp"

namespace espalier::chaos {

using attack::Reply;

attack::Client& Controller::ConnectedClient() {
  const Pulse::Busy busy(arena_.pulse);
  const std::int64_t life = arena_.server.WaitUp();
  if (client_ == nullptr || life != life_) {
    client_ = encrypted_ ? std::make_unique<attack::Client>(arena_.server.tcp_address(),
                                                            arena_.server.identities().Owner())
                         : std::make_unique<attack::Client>(arena_.server.address());
    life_ = life;
  }
  return *client_;
}

std::shared_ptr<grpc::Channel> Controller::Channel() { return ConnectedClient().channel(); }

Reply Controller::Ask(const char* method, const google::protobuf::MessageLite& request,
                      std::initializer_list<grpc::StatusCode> allowed) {
  return Call(method, request, allowed, true);
}

Reply Controller::Call(const char* method, const google::protobuf::MessageLite& request,
                       std::initializer_list<grpc::StatusCode> allowed, bool patient) {
  attack::Client& client = ConnectedClient();
  const std::int64_t life = life_;
  Reply reply;
  bool cancelled = false;
  {
    const Pulse::Busy busy(arena_.pulse);
    const std::uint64_t fate = patient ? 99 : random_.Below(20);
    if (fate == 0) {
      const auto call = client.Start(method, request);
      // While it is made, or once the server has seen it and answered something after it.
      if (random_.Below(2) == 0) client.Call(attack::kGetStateSummary, std::string());
      call->Cancel();
      reply = call->Wait();
      cancelled = true;
    } else if (fate <= 2) {
      reply = client.Call(method, request, std::chrono::microseconds(100 + random_.Below(3000)));
    } else {
      reply = client.Call(method, request);
      patient = true;
    }
  }
  CheckEnd(method, reply, life, patient, cancelled, allowed);
  return reply;
}

void Controller::CheckEnd(const char* method, const Reply& reply, std::int64_t life, bool patient,
                          bool cancelled, std::initializer_list<grpc::StatusCode> allowed) {
  arena_.tally.Add(&Counts::calls);
  if (cancelled) arena_.tally.Add(&Counts::vanished);
  if (reply.ok()) return;
  bool fine = std::ranges::find(allowed, reply.code()) != allowed.end();
  // A dead server answers nobody; a living one that is waited for answers, and sends away only who
  // would be answered too late.
  if (reply.code() == grpc::UNAVAILABLE) fine = !arena_.server.IsUp(life);
  if (reply.code() == grpc::DEADLINE_EXCEEDED || reply.code() == grpc::RESOURCE_EXHAUSTED) {
    fine = !patient;
  }
  if (reply.code() == grpc::CANCELLED) fine = cancelled;
  if (reply.code() == grpc::UNAVAILABLE) client_.reset();
  if (fine) return;
  arena_.tally.Problem(&Counts::wrong,
                       fmt::format("{} of {} ended with {}", method, name_, reply.Text()));
}

std::optional<StatePosition> Controller::Current() {
  for (;;) {
    const Reply reply = Ask(attack::kGetStateSummary, v1::GetStateSummaryRequest());
    if (!reply.ok()) continue;
    const auto position = FromProto(reply.As<v1::GetStateSummaryResponse>().state());
    if (position.generation == 0 || !arena_.world.IsLoaded(position.epoch)) return std::nullopt;
    LoseHoldsBefore(position.epoch);
    return position;
  }
}

StatePosition Controller::Sync() {
  for (;;) {
    if (const auto position = Current()) return *position;
    std::unique_lock lock(arena_.world.reporting, std::defer_lock);
    {
      const Pulse::Busy busy(arena_.pulse);
      lock.lock();
    }
    if (!Current()) Load();
  }
}

void Controller::Load() {
  const World::Contents contents = arena_.world.Read();
  std::vector<std::string> messages;
  ToChunks(
      contents.input,
      [&](const v1::LoadStateRequest& chunk) {
        messages.push_back(chunk.SerializeAsString());
        return true;
      },
      "", contents.workloads);
  for (;;) {
    attack::Client& client = ConnectedClient();
    const std::int64_t life = life_;
    Reply reply;
    {
      const Pulse::Busy busy(arena_.pulse);
      reply = client.Stream(attack::kLoadState, messages);
    }
    CheckEnd(attack::kLoadState, reply, life, true, false, {});
    if (!reply.ok()) continue;
    arena_.tally.Add(&Counts::loads);
    const StatePosition position = FromProto(reply.As<v1::LoadStateResponse>().state());
    arena_.world.NoteLoad(position);
    LoseHoldsBefore(position.epoch);
    return;
  }
}

void Controller::LoseHoldsBefore(std::uint64_t epoch) {
  for (auto held = held_.begin(); held != held_.end();) {
    if (held->second.epoch == epoch) {
      ++held;
    } else {
      // It may have ended before its server did, and nobody will tell.
      if (MayHaveEnded(arena_, held->second)) {
        arena_.world.EndSometime(held->second.request.key.ToString(), held->second.epoch);
      }
      lost_.push_back(std::move(held->second));
      held = held_.erase(held);
    }
  }
}

std::optional<StatePosition> Controller::Report(const StateDelta& delta) {
  v1::UpdateStateRequest request = ToProto(delta);
  for (;;) {
    const auto base = Current();
    if (!base) return std::nullopt;
    *request.mutable_base() = ToProto(*base);
    const Reply reply = Call(attack::kUpdateState, request, {grpc::FAILED_PRECONDITION}, false);
    if (reply.ok()) {
      arena_.tally.Add(&Counts::updates);
      return FromProto(reply.As<v1::UpdateStateResponse>().state());
    }
  }
}

std::vector<v1::Hold> Controller::ListHolds(StatePosition& position) {
  for (;;) {
    const auto stub = v1::Placement::NewStub(Channel());
    const std::int64_t life = life_;
    std::vector<v1::Hold> holds;
    Reply reply;
    {
      const Pulse::Busy busy(arena_.pulse);
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kPatience);
      const auto reader = stub->ListHolds(&context, {});
      for (v1::ListHoldsResponse page; reader->Read(&page);) {
        position = FromProto(page.state());
        holds.insert(holds.end(), page.holds().begin(), page.holds().end());
      }
      reply.status = reader->Finish();
    }
    CheckEnd("ListHolds", reply, life, true, false, {grpc::FAILED_PRECONDITION});
    if (reply.ok()) return holds;
    if (reply.code() == grpc::FAILED_PRECONDITION) Sync();
  }
}

}  // namespace espalier::chaos
