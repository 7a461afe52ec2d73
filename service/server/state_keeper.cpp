#include "service/server/state_keeper.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include "host/model/excerpt.hpp"
#include "service/server/read_configuration.hpp"
#include "service/server/unix_time.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {
namespace {

constexpr int kRestPerWrite = 50;
constexpr int kNiceness = 10;  // of the thread

}  // namespace

StateKeeper::StateKeeper(std::unique_ptr<StateFolder> folder, std::chrono::milliseconds rest,
                         NamedStates& states, MemoryPool& memory)
    : folder_(std::move(folder)), rest_(rest), states_(states), memory_(memory) {}

StateKeeper::~StateKeeper() {
  Finish(false, std::chrono::milliseconds(0));
  if (thread_.joinable()) thread_.join();
}

void StateKeeper::Restore(const std::string& feature_gates) {
  for (const std::string& name : folder_->Names()) {
    if (const auto restored = RestoreOne(name, feature_gates); !restored) {
      spdlog::warn("state file ignored: {}", restored.error().message);
      v1::IgnoredStateFile ignored;
      ignored.set_path(folder_->FileOf(name));
      ignored.set_why(restored.error().message);
      const std::lock_guard lock(mutex_);
      ignored_.push_back(std::move(ignored));
    }
  }
}

Result<void> StateKeeper::RestoreOne(const std::string& name, const std::string& feature_gates) {
  const std::string path = folder_->FileOf(name);
  const auto wrong = [&](const Error& error) {
    return tl::unexpected(
        Error{error.error_class, fmt::format("{}: {}", Excerpt(path), error.message)});
  };
  try {
    WorkBudget budget(memory_, memory_.limit());
    auto saved = folder_->Read(name, budget);
    if (!saved) return tl::unexpected(saved.error());
    auto configuration = ReadConfiguration(saved->kueue_configuration, feature_gates, budget);
    if (!configuration) return wrong(configuration.error());
    const StateStore::Restored known = saved->known;
    const auto position = states_.Restore(name, known, std::move(saved->input), budget,
                                          std::move(saved->workloads), *std::move(configuration));
    if (!position) return wrong(position.error());
    spdlog::info("state \"{}\" restored from {}: epoch {:016x}, generation {}{}", Excerpt(name),
                 Excerpt(path), position->epoch, position->generation,
                 *position == known.position
                     ? ""
                     : "; the server before may have changed it later, or had holds");
    const std::lock_guard lock(mutex_);
    on_disk_[name] = {known.position, {}, saved->bytes, 0};
    return {};
  } catch (const std::bad_alloc&) {
    return wrong({ErrorClass::kExhausted, "there is no memory for it"});
  }
}

Result<void> StateKeeper::Start() {
  if (auto forgotten = folder_->ForgetLast(); !forgotten) return forgotten;
  thread_ = std::thread([this] { Run(); });
  return {};
}

void StateKeeper::Finish(bool is_last, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::kKeeping) {
    phase_ = Phase::kFinishing;
    is_last_ = is_last;
    wake_.notify_all();
  }
  if (!thread_.joinable()) return;
  if (!wake_.wait_for(lock, patience, [this] { return phase_ == Phase::kFinished; })) {
    stop_.store(true, std::memory_order_relaxed);
  }
}

void StateKeeper::Run() {
  ::setpriority(PRIO_PROCESS, 0, kNiceness);  // of this thread
  Clock::time_point next = Clock::now();
  std::unique_lock lock(mutex_);
  while (phase_ == Phase::kKeeping) {
    wake_.wait_until(lock, next, [this] { return phase_ != Phase::kKeeping; });
    if (phase_ != Phase::kKeeping) break;
    lock.unlock();
    const Clock::time_point before = Clock::now();
    RemoveUnloaded();
    const auto changed = Changed();
    if (!changed.empty()) Write(changed.front());
    const Clock::time_point after = Clock::now();
    next = after + rest_;
    if (!changed.empty()) next = std::max(next, after + kRestPerWrite * (after - before));
    lock.lock();
  }
  lock.unlock();
  if (!stop_.load(std::memory_order_relaxed)) WriteAll();
  lock.lock();
  phase_ = Phase::kFinished;
  wake_.notify_all();
}

std::vector<NamedStates::Named> StateKeeper::Changed() const {
  std::vector<std::pair<std::uint64_t, NamedStates::Named>> changed;
  const std::lock_guard lock(mutex_);
  for (NamedStates::Named& state : states_.WithUnnamed()) {
    const StatePosition position = state.store->Current()->position;
    const auto kept = on_disk_.find(state.name);
    if (position.generation == 0 || (kept != on_disk_.end() && kept->second.position == position)) {
      continue;
    }
    changed.emplace_back(kept == on_disk_.end() ? 0 : kept->second.turn, std::move(state));
  }
  std::ranges::stable_sort(changed, {}, [](const auto& entry) { return entry.first; });
  std::vector<NamedStates::Named> states;
  for (auto& [turn, state] : changed) states.push_back(std::move(state));
  return states;
}

void StateKeeper::RemoveUnloaded() {
  std::set<std::string> loaded;
  for (const auto& [name, store] : states_.WithUnnamed()) loaded.insert(name);
  const std::lock_guard lock(mutex_);
  std::erase_if(on_disk_, [&](const auto& kept) {
    if (loaded.contains(kept.first)) return false;
    folder_->Remove(kept.first);
    return true;
  });
}

bool StateKeeper::Write(const NamedStates::Named& state) {
  Result<StateFolder::Written> written =
      tl::unexpected(Error{ErrorClass::kExhausted, "there is no memory for it"});
  try {
    WorkBudget budget(memory_, memory_.limit());
    written = folder_->Write(state.name, *state.store, budget, stop_);
  } catch (const std::bad_alloc&) {
  }
  const std::lock_guard lock(mutex_);
  OnDisk& kept = on_disk_[state.name];
  kept.turn = ++turns_;
  if (written) {
    written_.fetch_add(written->bytes, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    if (!failure_.empty()) spdlog::info("states are written to {} again", Excerpt(folder_->path()));
    failure_.clear();
    kept.position = written->position;
    kept.written = std::chrono::system_clock::now();
    kept.bytes = written->bytes;
    return true;
  }
  // One that was loaded anew or unloaded meanwhile is looked at again.
  const ErrorClass why = written.error().error_class;
  if (why == ErrorClass::kStale || why == ErrorClass::kNotFound) return false;
  const std::string failure =
      fmt::format("state \"{}\": {}", Excerpt(state.name), written.error().message);
  if (failure != failure_) spdlog::warn("a state is not kept on disk: {}", failure);
  failure_ = failure;
  failed_.store(true, std::memory_order_relaxed);
  return false;
}

void StateKeeper::WriteAll() {
  RemoveUnloaded();
  bool all = true;
  for (const NamedStates::Named& state : Changed()) all = Write(state) && all;
  std::vector<StateFolder::Last> last;
  {
    const std::lock_guard lock(mutex_);
    if (!all || !is_last_) return;
    for (const auto& [name, store] : states_.WithUnnamed()) {
      const auto kept = on_disk_.find(name);
      if (kept == on_disk_.end() || kept->second.position != store->Current()->position) continue;
      last.push_back({name, kept->second.position});
    }
  }
  if (const auto noted = folder_->NoteLast(last); !noted) {
    spdlog::warn("{}", noted.error().message);
  }
}

v1::StateDirStatus StateKeeper::Status() const {
  v1::StateDirStatus status;
  status.set_folder(folder_->path());
  const std::lock_guard lock(mutex_);
  for (const auto& [name, kept] : on_disk_) {
    if (kept.position.generation == 0) continue;  // it could not be written yet
    v1::KeptState& state = *status.add_kept();
    state.set_state_name(name);
    *state.mutable_state() = ToProto(kept.position);
    if (kept.written.time_since_epoch().count() > 0)
      state.set_written_ms(UnixMilliseconds(kept.written));
    state.set_bytes(kept.bytes);
  }
  for (const v1::IgnoredStateFile& ignored : ignored_) *status.add_ignored() = ignored;
  status.set_failure(failure_);
  return status;
}

}  // namespace espalier
