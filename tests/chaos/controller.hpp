// A controller: one of several that place workloads by the same server, at random, and come to
// terms with whatever becomes of it, as docs/api.md and docs/operations.md say.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "espalier/v1/holds.pb.h"
#include "espalier/v1/placement.pb.h"
#include "host/engine/request.hpp"
#include "tests/attack/client.hpp"
#include "tests/chaos/counts.hpp"
#include "tests/chaos/mortal_server.hpp"
#include "tests/chaos/world.hpp"

namespace espalier::chaos {

// Answers to the same questions, so that two answers of one position can be compared.
class AnswersByPosition {
 public:
  // Returns whether nobody was answered otherwise at the same position.
  bool Agrees(const StatePosition& position, int question, const std::string& answer);

 private:
  std::mutex mutex_;  // guards answers_
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::string> answers_;
};

// Holds what the controllers of one server share.
struct Arena {
  explicit Arena(const std::string& log_folder) : server(log_folder) {}

  MortalServer server;
  Pulse pulse;
  World world;
  Tally tally;
  AnswersByPosition answers;
};

// Room that a controller holds.
struct Held {
  std::string id;
  std::uint64_t epoch = 0;
  WorkloadRequest request;
  WorkloadAnswer answer;
  std::vector<FlavorLeafUsage> usage;
  std::int64_t asked = 0;                              // World::Now before it was asked for
  std::chrono::steady_clock::time_point earliest_end;  // by its seconds
  bool given_up = false;  // its release was asked for, and nobody knows whether it came
};

// Returns the questions that every controller asks.
const std::vector<WorkloadRequest>& Questions();

class Controller {
 public:
  // Connects over TCP with a certificate where it is `encrypted`, else by the unix socket.
  Controller(Arena& arena, std::string name, std::uint64_t seed, bool encrypted = false);

  // Does one thing after the other until `stop`. What it has begun is brought to an end.
  void Run(const std::atomic<bool>& stop);

  // Loads the server from the world, where nobody has since it started. Returns its position.
  StatePosition Sync();
  // Returns all holds of the server at one position.
  std::vector<v1::Hold> ListHolds(StatePosition& position);
  // Asks with patience. The answer is OK, or its code one of `allowed`, or it did not arrive.
  attack::Reply Ask(const char* method, const google::protobuf::MessageLite& request,
                    std::initializer_list<grpc::StatusCode> allowed = {});
  // Returns the channel of a server that is up.
  std::shared_ptr<grpc::Channel> Channel();

  const std::string& name() const { return name_; }
  const std::map<std::string, Held>& held() const { return held_; }
  // Forgets everything, as a controller that died, of which another of its name begins.
  void Vanish();

  // Why a hold that was made is gone, if nobody ended it.
  static bool MayHaveEnded(const Arena& arena, const Held& held);
  // Drops a hold that the server does not have any more. That it may not have ended is a problem.
  void Drop(const std::string& id);

 private:
  attack::Reply Call(const char* method, const google::protobuf::MessageLite& request,
                     std::initializer_list<grpc::StatusCode> allowed, bool patient);
  void CheckEnd(const char* method, const attack::Reply& reply, std::int64_t life, bool patient,
                bool cancelled, std::initializer_list<grpc::StatusCode> allowed);
  attack::Client& ConnectedClient();
  // Returns the position of the server, if it was loaded in this life.
  std::optional<StatePosition> Current();
  void Load();  // with World::reporting held exclusively

  // Places with a token until it is known what became of it: the reply, or none if nothing was
  // booked in a server that lives.
  std::optional<v1::PlaceResponse> PlaceForSure(v1::PlaceRequest request);
  std::vector<WorkloadRequest> AnyGangs();

  // Makes a change until it is in the state, and returns the position; none: the server is another.
  std::optional<StatePosition> Report(const StateDelta& delta);

  void Hold();
  void Confirm();
  void Release();
  void Extend();
  void Commit();
  void Finish();
  void ChangeCluster();
  void LoadAnew();
  void AskQuestions();
  void TakeOver();
  void Remake();
  // Sorts out ids that a call was refused for. Returns whether all of them are done already, as by
  // the call before whose reply was lost.
  bool AreDone(const std::vector<std::string>& ids, const attack::Reply& reply,
               v1::HoldProblemReason done, bool repeated);
  std::vector<std::string> AnyHolds(std::size_t most);
  // Moves the holds of earlier servers to those that are made again.
  void LoseHoldsBefore(std::uint64_t epoch);

  Arena& arena_;
  const std::string name_;
  const bool encrypted_;
  Random random_;
  int names_ = 0;
  std::unique_ptr<attack::Client> client_;
  std::int64_t life_ = 0;             // of the server that client_ is connected to
  std::map<std::string, Held> held_;  // by id
  std::vector<Held> lost_;            // with their servers
  bool takes_over_ = false;
  std::map<std::string, Held> predecessors_;  // holds of a controller that died, by id
};

}  // namespace espalier::chaos
