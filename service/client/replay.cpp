#include "service/client/replay.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include "espalier/v1/cluster_state.pb.h"
#include "espalier/v1/error.pb.h"
#include "espalier/v1/holds.pb.h"
#include "host/model/excerpt.hpp"
#include "service/client/logged_messages.hpp"
#include "service/client/state_references.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/holds.hpp"
#include "service/wire/request_log_file.hpp"

namespace espalier {
namespace {

using google::protobuf::Message;

constexpr std::string_view kUnloadState = "espalier.v1.ClusterState/UnloadState";
constexpr const char* kReadState = "espalier.v1.ClusterState/ReadState";
constexpr auto kTimeout = std::chrono::minutes(10);

// Forgets of a message what depends on when and from where calls come.
void ForgetTimes(v1::ListHoldsResponse& answer) {
  for (v1::Hold& hold : *answer.mutable_holds()) {
    hold.clear_owner();
    hold.clear_age_seconds();
    hold.clear_seconds_left();
  }
}

// Returns the first difference of two messages; empty: there is none.
std::string DifferenceOf(const Message& logged, const Message& now) {
  std::string differences;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&differences);
  if (differencer.Compare(logged, now)) return "";
  constexpr std::size_t kMostBytes = 1000;
  return Excerpt(differences.substr(0, differences.find('\n')), kMostBytes);
}

std::string StatusText(const grpc::Status& status) {
  if (status.ok()) return "OK";
  return fmt::format("code {} ({})", static_cast<int>(status.error_code()),
                     Excerpt(status.error_message()));
}

}  // namespace

Replay::Replay(std::shared_ptr<grpc::Channel> channel, HoldsOfServer holds, const LoggedRun& run)
    : channel_(std::move(channel)),
      holds_(std::move(holds)),
      calls_(run.calls),
      visited_(run.calls.size()) {
  places_.reserve(calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Place place = PlaceOf(calls_[i]);
    if (place.produces) {
      if (calls_[i].position && calls_[i].method == kListHoldsMethod) {
        holds_of_.emplace(*place.produces, i);
      } else if (calls_[i].position && place.loads) {
        anew_.emplace(*place.produces, i);
      } else if (calls_[i].position && calls_[i].method == kReleaseHoldsMethod) {
        producers_.emplace(*place.produces, i);
        NoteExpired(calls_[i]);
      } else if (!producers_.emplace(*place.produces, i).second) {
        place = {};  // a commit that was repeated: it is told of the first one
      } else if (place.loads) {
        anew_.emplace(*place.produces, i);
      }
    }
    // One without an end may not have been worked on; it is made last.
    for (const Key& key : place.on) {
      if (calls_[i].ended) asked_on_[key].push_back(i);
    }
    places_.push_back(std::move(place));
  }
}

Replay::Place Replay::PlaceOf(const LoggedCall& call) const {
  Place place;
  const auto add = [&](const v1::StatePosition& position) {
    const Key key(position.epoch(), position.generation());
    if (position.generation() > 0 && std::ranges::count(place.on, key) == 0) {
      place.on.push_back(key);
    }
  };
  place.loads = call.method == kLoadStateMethod;
  if (call.position) {
    place.produces = {call.position->epoch(), call.position->generation()};
    return place;
  }
  const auto* method = FindMethod(call.method);
  if (method == nullptr) return place;
  switch (call.status.error_code()) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::PERMISSION_DENIED:  // of the client, whom the log does not know
      place.repeatable = false;
      return place;
    default:
      place.repeatable = !IsBeforeItsExpiry(call);
      break;
  }
  if (!place.repeatable) return place;
  if (call.ended && call.status.ok()) {
    if (call.answers.empty() || !HasPositions(*method->output_type())) return place;
    const auto answer = ReadMessage(*method->output_type(), call.answers.front());
    if (answer == nullptr) return place;
    if (const v1::StatePosition* produced = Produced(call.method, *answer)) {
      place.produces = {produced->epoch(), produced->generation()};
    } else {
      ForEachPosition(*answer, add);
    }
    return place;
  }
  if (const auto current = CurrentIn(call.status)) {
    add(*current);
  } else if (!call.requests.empty() && HasPositions(*method->input_type())) {
    const auto request = ReadMessage(*method->input_type(), call.requests.front());
    if (request != nullptr) ForEachPosition(*request, add);
  }
  return place;
}

void Replay::NoteExpired(const LoggedCall& call) {
  v1::ReleaseHoldsRequest expired;
  for (const std::string_view bytes : call.requests) {
    expired.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  for (const std::string& id : expired.ids()) expired_.emplace(expired.state_name(), id);
}

// Returns whether a call was refused as a hold's time had come, before this had an effect.
bool Replay::IsBeforeItsExpiry(const LoggedCall& call) const {
  const auto problems = DetailIn<v1::HoldProblems>(call.status);
  return problems && std::ranges::any_of(problems->problems(), [&](const v1::HoldProblem& problem) {
           return problem.reason() == v1::HOLD_PROBLEM_REASON_EXPIRED &&
                  !expired_.contains({StateNameOf(call), problem.id()});
         });
}

Result<std::optional<ReplayDifference>> Replay::Run() {
  start_ = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < calls_.size() && !Over(); ++i) {
    if (!calls_[i].position) Visit(i);
  }
  if (unreachable_) return tl::unexpected(*unreachable_);
  return difference_;
}

void Replay::Visit(std::size_t position) {
  if (visited_[position] || Over()) return;
  if (!places_[position].repeatable) {
    visited_[position] = true;
    ++counts_.not_repeatable;
  } else if (Prepare(position)) {
    Make(position);
  } else if (!Over()) {
    ++counts_.out_of_reach;
  }
}

// Leads to the states that a call is to be made on. Returns whether that was possible.
bool Replay::Prepare(std::size_t position) {
  visited_[position] = true;
  const Place& place = places_[position];
  if (place.produces) {
    const Key before(place.produces->first, place.produces->second - 1);
    const bool there = before.second == 0 || Reach(before);
    if (Over() || (!there && !place.loads)) return false;
    if (const auto held = held_.find(before.first); held != held_.end()) {
      AskAllOn({before.first, held->second.generation});
    }
  }
  for (const Key& key : place.on) {
    if (!Reach(key)) return false;
  }
  if (calls_[position].method == kUnloadState) {
    const std::string name = StateNameOf(calls_[position]);
    for (const auto& [epoch, held] : held_) {
      if (held.name == name) AskAllOn({epoch, held.generation});
    }
  }
  const auto is_current = [&](const Key& key) {
    const auto held = held_.find(key.first);
    return held != held_.end() && held->second.generation == key.second;
  };
  return !Over() && std::ranges::all_of(place.on, is_current);
}

// Makes the changes that lead to a state. Returns whether the server has it.
bool Replay::Reach(const Key& key) {
  while (!Over()) {
    const auto held = held_.find(key.first);
    const std::uint64_t now = held == held_.end() ? 0 : held->second.generation;
    if (now >= key.second) return now == key.second;
    const Key next(key.first, now + 1);
    auto step = producers_.find(next);
    if (step == producers_.end() || visited_[step->second]) {
      // A state that is made anew comes behind what is missing.
      step = anew_.lower_bound(next);
      while (step != anew_.end() && visited_[step->second]) ++step;
      if (step == anew_.end() || step->first.first != key.first ||
          step->first.second > key.second) {
        return false;
      }
    }
    if (now > 0) AskAllOn({key.first, now});
    if (visited_[step->second]) continue;
    visited_[step->second] = true;
    Make(step->second);
    const auto made = held_.find(key.first);
    if (made == held_.end() || made->second.generation != step->first.second) return false;
  }
  return false;
}

// Before the state changes, makes the calls that were answered on it.
void Replay::AskAllOn(const Key& key) {
  if (!ask_all_) return;
  const auto asked = asked_on_.find(key);
  if (asked == asked_on_.end()) return;
  for (const std::size_t position : asked->second) Visit(position);
}

void Replay::WaitForTurn(const LoggedCall& call) {
  if (speed_ <= 0 || calls_.empty()) return;
  const std::int64_t first = std::ranges::min(calls_, {}, &LoggedCall::time_ns).time_ns;
  const std::chrono::duration<double, std::nano> behind(static_cast<double>(call.time_ns - first) /
                                                        speed_);
  std::this_thread::sleep_until(
      start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(behind));
}

void Replay::Make(std::size_t position) {
  const LoggedCall& call = calls_[position];
  WaitForTurn(call);
  if (call.position && call.method == kReleaseHoldsMethod) return Expire(position);
  loads_alone_ = IsWithoutTheStateBefore(places_[position]);
  const std::vector<std::string> translated = Translated(call);
  const std::vector<std::string_view> requests(translated.begin(), translated.end());
  const RawAnswer answer =
      CallRaw(channel_, call.method, translated.empty() ? call.requests : requests, kTimeout);
  if (answer.status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    unreachable_ = {ErrorClass::kUnavailable,
                    fmt::format("the server that call {} is made on does not answer: {}", call.call,
                                answer.status.error_message())};
    return;
  }
  Learn(call, places_[position], answer);
  if (call.method == kUnloadState && answer.status.ok()) {
    const std::string name = StateNameOf(call);
    std::erase_if(held_, [&](const auto& held) { return held.second.name == name; });
  }
  if (!call.ended && !call.position) {
    unanswered_.push_back({&call, StatusText(answer.status)});
    return;
  }
  std::string difference;
  if (!call.position) {
    difference = Compare(call, answer);
  } else if (!answer.status.ok()) {
    difference =
        fmt::format("the state of the log cannot be loaded: {}", StatusText(answer.status));
  } else if (auto restored = RestoreHolds(held_.at(places_[position].produces->first)); !restored) {
    difference = fmt::format("the holds of the log cannot be made: {}", restored.error().message);
  }
  if (!difference.empty()) {
    difference_ = {&call, std::move(difference)};
  } else if (!call.position) {
    ++counts_.same;
  }
}

// Returns whether a call loads a state in the place of one that the server does not have.
bool Replay::IsWithoutTheStateBefore(const Place& place) const {
  if (!place.loads || !place.produces || place.produces->second == 1) return false;
  const auto held = held_.find(place.produces->first);
  return held == held_.end() || held->second.generation + 1 != place.produces->second;
}

// Learns how the server calls a state.
void Replay::Learn(const LoggedCall& call, const Place& place, const RawAnswer& answer) {
  if (!place.produces || !answer.status.ok() || answer.messages.empty()) return;
  const auto* method = FindMethod(call.method);
  const auto message = ReadMessage(*method->output_type(), answer.messages.front());
  const v1::StatePosition* there = message ? Produced(call.method, *message) : nullptr;
  if (there == nullptr) return;
  ServerState& held = held_[place.produces->first];
  held.generation = place.produces->second;
  held.there = *there;
  logged_epochs_[there->epoch()] = place.produces->first;
  if (place.loads) {
    held.changes.clear();
    if (!call.requests.empty()) {
      v1::LoadStateRequest chunk;
      chunk.ParseFromArray(call.requests.front().data(),
                           static_cast<int>(call.requests.front().size()));
      held.name = chunk.state_name();
    }
  }
  held.changes.push_back(&call);
}

// Ends the holds that expired at this place of the log.
void Replay::Expire(std::size_t position) {
  const LoggedCall& call = calls_[position];
  v1::ReleaseHoldsRequest expired;
  for (const std::string& bytes : Translated(call)) expired.ParseFromString(bytes);
  const auto there =
      holds_.expire(expired.state_name(), {expired.ids().begin(), expired.ids().end()});
  if (!there) {
    difference_ = {
        &call, fmt::format("the holds that expired cannot be ended: {}", there.error().message)};
    return;
  }
  ServerState& held = held_.at(places_[position].produces->first);
  held.generation = places_[position].produces->second;
  held.there = ToProto(*there);
  held.changes.push_back(&call);
}

// Gives a state that was made anew the holds that it had.
Result<void> Replay::RestoreHolds(ServerState& held) {
  v1::ListHoldsRequest ask;
  ask.set_state_name(held.name);
  const RawAnswer listed = CallRaw(channel_, kListHoldsMethod, {ask.SerializeAsString()}, kTimeout);
  v1::ReleaseHoldsRequest release;
  release.set_state_name(held.name);
  for (const std::string& bytes : listed.messages) {
    v1::ListHoldsResponse page;
    page.ParseFromString(bytes);
    for (const v1::Hold& hold : page.holds()) release.add_ids(hold.id());
  }
  if (!release.ids().empty()) {
    const RawAnswer released =
        CallRaw(channel_, kReleaseHoldsMethod, {release.SerializeAsString()}, kTimeout);
    v1::ReleaseHoldsResponse response;
    if (!released.messages.empty()) response.ParseFromString(released.messages.front());
    if (response.has_state()) held.there = response.state();
  }
  const auto logged = holds_of_.find({logged_epochs_.at(held.there.epoch()), held.generation});
  if (logged == holds_of_.end()) return {};
  const auto shift = static_cast<std::int64_t>(held.there.generation() + 1 - held.generation);
  std::vector<Hold> holds;
  WorkBudget& budget = WorkBudget::Unlimited();
  for (const std::string_view bytes : calls_[logged->second].requests) {
    v1::ListHoldsResponse page;
    page.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    ForEachHoldId(page, [&](std::string& id) { ShiftHoldId(id, shift); });
    if (auto read = AppendHolds(page, budget, holds); !read) return read;
  }
  const auto there = holds_.add(held.name, std::move(holds));
  if (!there) return tl::unexpected(there.error());
  held.there = ToProto(*there);
  return {};
}

// Returns by how many generations the server is ahead of the log with a state.
std::int64_t Replay::ShiftOf(const std::string& state_name) const {
  for (const auto& [epoch, held] : held_) {
    if (held.name != state_name) continue;
    return static_cast<std::int64_t>(held.there.generation() - held.generation);
  }
  return 0;
}

void Replay::ToServer(v1::StatePosition& position) const {
  const auto found = held_.find(position.epoch());
  if (found == held_.end()) return;
  const ServerState& held = found->second;
  position.set_epoch(held.there.epoch());
  position.set_generation(position.generation() + held.there.generation() - held.generation);
}

void Replay::ToLogged(v1::StatePosition& position) const {
  const auto epoch = logged_epochs_.find(position.epoch());
  if (epoch == logged_epochs_.end() || !held_.contains(epoch->second)) return;
  const ServerState& held = held_.at(epoch->second);
  position.set_epoch(epoch->second);
  position.set_generation(position.generation() - held.there.generation() + held.generation);
}

// Returns the messages with the positions and ids that the server knows; none: they are as logged.
std::vector<std::string> Replay::Translated(const LoggedCall& call) const {
  std::vector<std::string> translated;
  const auto* method = FindMethod(call.method);
  if (method == nullptr) return translated;
  const bool has_ids = HasHoldIds(*method->input_type());
  if (!has_ids && !HasPositions(*method->input_type())) return translated;
  const std::int64_t shift = has_ids ? ShiftOf(StateNameOf(call)) : 0;
  for (const std::string_view bytes : call.requests) {
    const auto message = ReadMessage(*method->input_type(), bytes);
    if (message == nullptr) {
      translated.emplace_back(bytes);
      continue;
    }
    ForEachPosition(*message, [this](v1::StatePosition& position) { ToServer(position); });
    ForEachHoldId(*message, [&](std::string& id) { ShiftHoldId(id, shift); });
    translated.push_back(message->SerializeAsString());
  }
  return translated;
}

std::string Replay::Compare(const LoggedCall& call, const RawAnswer& answer) const {
  if (call.status.error_code() != answer.status.error_code()) {
    return fmt::format("it ended with {}, now with {}", StatusText(call.status),
                       StatusText(answer.status));
  }
  if (auto logged = CurrentIn(call.status)) {
    auto now = CurrentIn(answer.status);  // the message names epochs
    if (now) ToLogged(*now);
    const bool nothing_loaded = now && logged->generation() == 0 && now->generation() == 0;
    if (nothing_loaded ||
        (now && now->epoch() == logged->epoch() && now->generation() == logged->generation())) {
      return "";
    }
    return "the state that it was told is the current one is another";
  }
  if (const auto problems = DetailIn<v1::HoldProblems>(call.status)) {
    return CompareProblems(call, *problems, answer);
  }
  const auto* method = FindMethod(call.method);
  const bool names_ids =
      method != nullptr && HasHoldIds(*method->input_type()) && ShiftOf(StateNameOf(call)) != 0;
  if (!names_ids && call.status.error_message() != answer.status.error_message()) {
    return fmt::format("message: \"{}\", now \"{}\"", Excerpt(call.status.error_message()),
                       Excerpt(answer.status.error_message()));
  }
  for (std::size_t i = 0; i < std::min(call.answers.size(), answer.messages.size()); ++i) {
    const std::string what = CompareMessages(call, call.answers[i], answer.messages[i]);
    if (what.empty()) continue;
    return call.answers.size() == 1 ? what : fmt::format("answer {}: {}", i + 1, what);
  }
  if (call.answers.size() == answer.messages.size()) return "";
  return fmt::format("it had {} answers, now {}", call.answers.size(), answer.messages.size());
}

// The message names ids, ages and owners.
std::string Replay::CompareProblems(const LoggedCall& call, const v1::HoldProblems& logged,
                                    const RawAnswer& answer) const {
  auto now = DetailIn<v1::HoldProblems>(answer.status);
  if (!now) return fmt::format("no holds are named any more: {}", StatusText(answer.status));
  const std::int64_t shift = ShiftOf(StateNameOf(call));
  ForEachHoldId(*now, [&](std::string& id) { ShiftHoldId(id, -shift); });
  return DifferenceOf(logged, *now);
}

std::string Replay::CompareMessages(const LoggedCall& call, std::string_view logged,
                                    std::string_view now) const {
  if (logged == now) return "";
  const auto* method = FindMethod(call.method);
  const auto before = method ? ReadMessage(*method->output_type(), logged) : nullptr;
  const auto after = method ? ReadMessage(*method->output_type(), now) : nullptr;
  if (before == nullptr || after == nullptr) return "the answers are different bytes";
  // Nothing is loaded: which epoch that is says nothing.
  const auto forget = [](v1::StatePosition& position) {
    if (position.generation() == 0) position.set_epoch(0);
  };
  ForEachPosition(*after, [&](v1::StatePosition& position) {
    ToLogged(position);
    forget(position);
  });
  ForEachPosition(*before, forget);
  if (HasHoldIds(*method->output_type())) {
    const std::int64_t shift = ShiftOf(StateNameOf(call));
    ForEachHoldId(*after, [&](std::string& id) { ShiftHoldId(id, -shift); });
  }
  for (Message* message : {before.get(), after.get()}) {
    if (auto* holds = dynamic_cast<v1::ListHoldsResponse*>(message)) ForgetTimes(*holds);
  }
  // Which holds a load drops depends on the state before.
  if (loads_alone_ && call.method == kLoadStateMethod) {
    for (Message* message : {before.get(), after.get()}) {
      static_cast<v1::LoadStateResponse&>(*message).clear_dropped_holds();
    }
  }
  // The checksum has the ids of holds in it.
  auto* summary = dynamic_cast<v1::GetStateSummaryResponse*>(after.get());
  if (summary != nullptr && summary->holds() > 0 && ShiftOf(StateNameOf(call)) != 0) {
    summary->clear_checksum();
    static_cast<v1::GetStateSummaryResponse&>(*before).clear_checksum();
  }
  return DifferenceOf(*before, *after);
}

Result<Replay::State> Replay::ReadState(const ServerState& held, const Key& key) const {
  v1::ReadStateRequest request;
  request.set_state_name(held.name);
  const std::string bytes = request.SerializeAsString();
  const RawAnswer answer = CallRaw(channel_, kReadState, {bytes}, kTimeout);
  if (!answer.status.ok()) {
    return tl::unexpected(Error{ErrorClass::kUnavailable, answer.status.error_message()});
  }
  State state;
  state.position.set_epoch(key.first);
  state.position.set_generation(key.second);
  for (const std::string& message : answer.messages) {
    v1::ReadStateResponse chunk;
    chunk.ParseFromString(message);
    state.chunks.push_back(chunk.chunk().SerializeAsString());
  }
  v1::ListHoldsRequest list;
  list.set_state_name(held.name);
  list.set_usage(true);
  const RawAnswer listed =
      CallRaw(channel_, kListHoldsMethod, {list.SerializeAsString()}, kTimeout);
  if (!listed.status.ok()) {
    return tl::unexpected(Error{ErrorClass::kUnavailable, listed.status.error_message()});
  }
  for (const std::string& message : listed.messages) {
    v1::ListHoldsResponse page;
    page.ParseFromString(message);
    if (page.holds().empty()) continue;
    *page.mutable_state() = state.position;
    ForEachHoldId(page, [&](std::string& id) { ShiftHoldId(id, -ShiftOf(held.name)); });
    state.holds.push_back(page.SerializeAsString());
  }
  return state;
}

Result<Replay::Cut> Replay::CutTo(std::int64_t number) {
  const auto found = std::ranges::find(calls_, number, &LoggedCall::call);
  if (found == calls_.end() || found->position) {
    return tl::unexpected(
        Error{ErrorClass::kNotFound, fmt::format("there is no call {} in the log", number)});
  }
  const auto position = static_cast<std::size_t>(found - calls_.begin());
  const Place& place = places_[position];
  ask_all_ = false;
  std::vector<Key> needed = place.on;
  if (place.produces && !place.loads) {
    needed = {{place.produces->first, place.produces->second - 1}};
  }
  // One that names no state may depend on any.
  const bool on_any = needed.empty() && !place.loads;
  if (on_any) {
    for (std::size_t i = 0; i < position && !Over(); ++i) {
      if (places_[i].produces || calls_[i].method == kUnloadState) Visit(i);
    }
  }
  const bool prepared = Prepare(position);
  if (unreachable_) return tl::unexpected(*unreachable_);
  if (difference_) {
    return tl::unexpected(Error{
        ErrorClass::kNotFound,
        fmt::format("call {}, which leads to the state of call {}, already differs: {}; cut to "
                    "that one",
                    difference_->call->call, number, difference_->what)});
  }
  if (!prepared) {
    return tl::unexpected(
        Error{ErrorClass::kNotFound,
              fmt::format("nothing in the log leads to the state that call {} is about", number)});
  }
  Cut cut;
  cut.call = &*found;
  for (const auto& [epoch, held] : held_) {
    const Key key(epoch, held.generation);
    if (!on_any && std::ranges::count(needed, key) == 0) continue;
    cut.changes.insert(cut.changes.end(), held.changes.begin(), held.changes.end());
    auto state = ReadState(held, key);
    if (!state) return tl::unexpected(state.error());
    cut.states.push_back(*std::move(state));
  }
  Make(position);
  if (unreachable_) return tl::unexpected(*unreachable_);
  if (difference_) cut.difference = difference_->what;
  return cut;
}

}  // namespace espalier
