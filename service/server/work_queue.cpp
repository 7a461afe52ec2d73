#include "service/server/work_queue.hpp"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

// A task that has computed for so long hands its turn on to one that was served as much.
constexpr auto kSlice = std::chrono::milliseconds(10);
// Tasks that may have been begun besides those that compute: each holds a thread and its memory.
constexpr std::size_t kMostPaused = 16;
constexpr std::uint64_t kTurnsByService = 4;
// Queues that are too short to be shared out.
constexpr std::size_t kShortQueue = 8;

}  // namespace

WorkQueue::WorkQueue(int turns, int max_waiting)
    : turns_(static_cast<std::size_t>(turns)),
      max_unfinished_(static_cast<std::size_t>(turns) + static_cast<std::size_t>(max_waiting)),
      max_begun_(static_cast<std::size_t>(turns) + kMostPaused),
      free_turns_(static_cast<std::size_t>(turns)) {}

WorkQueue::~WorkQueue() {
  {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return entries_.empty(); });
    closed_ = true;
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkQueue::TryPost(Task task) {
  const std::lock_guard lock(mutex_);
  const bool shared_out = max_unfinished_ > kShortQueue && !task.client.empty();
  const auto client = clients_.find(task.client);
  const std::size_t held = client == clients_.end() ? 0 : client->second.tasks;
  if (entries_.size() >= max_unfinished_ || (shared_out && held >= max_unfinished_ / 4 * 3)) {
    return false;
  }
  if (ComesTooLate(task, held)) return false;
  // Level with the least served client that is there.
  Clock::duration served{};
  if (!clients_.empty()) {
    served = std::ranges::min_element(clients_, {}, [](const auto& c) {
               return c.second.served;
             })->second.served;
  }
  Entry& entry = entries_.emplace_back();
  entry.client = clients_.try_emplace(task.client, Client{served, 0}).first;
  ++entry.client->second.tasks;
  entry.since = Clock::now();
  entry.task = std::move(task);
  entry.task.budget->OnPause([this, &entry] { Pause(entry); });
  ++waiting_;
  GiveTurns();
  return true;
}

std::size_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

// Turns are shared among clients: each task of a client waits for one of every other client.
bool WorkQueue::ComesTooLate(const Task& task, std::size_t of_client) const {
  const std::size_t ahead = std::min(waiting_, of_client * clients_.size());
  if (ahead == 0 || task.deadline == Clock::time_point::max()) return false;
  const Clock::duration wait = usual_ * (ahead / turns_);
  return wait > (task.deadline - Clock::now()) / 2;
}

bool WorkQueue::GoesBefore(const Entry& a, const Entry& b) const {
  const auto key = [](const Entry& entry) {
    return std::pair(entry.client->second.served, entry.served);
  };
  return key(a) < key(b);
}

bool WorkQueue::MayHaveTurn(const Entry& entry) const {
  return !entry.has_turn && (entry.begun || begun_ < max_begun_);
}

// The task that is to have the next turn; the end where none waits for one.
WorkQueue::Entries::iterator WorkQueue::Next() {
  const bool longest_waiting = turns_given_ % kTurnsByService == 0;
  auto next = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!MayHaveTurn(*entry)) continue;
    if (next == entries_.end() ||
        (longest_waiting ? entry->since < next->since : GoesBefore(*entry, *next))) {
      next = entry;
    }
  }
  return next;
}

// Gives the turns that are free, and asks for one where there is none and somebody waits.
void WorkQueue::GiveTurns() {
  while (free_turns_ > 0) {
    const auto next = Next();
    if (next == entries_.end()) break;
    --free_turns_;
    ++turns_given_;
    next->has_turn = true;
    next->since = Clock::now();
    if (next->begun) {
      next->turn.notify_one();
      continue;
    }
    next->begun = true;
    ++begun_;
    --waiting_;
    to_begin_.push_back(next);
    if (idle_ < to_begin_.size() && threads_.size() < max_begun_) {
      threads_.emplace_back([this] { Run(); });
    }
    posted_.notify_one();
  }
  const bool wanted = std::ranges::any_of(entries_, [&](const Entry& e) { return MayHaveTurn(e); });
  for (Entry& entry : entries_) {
    if (entry.has_turn) entry.task.budget->RequestPause(wanted);
  }
}

void WorkQueue::EndTurn(Entry& entry) {
  const Clock::duration computed = Clock::now() - entry.since;
  entry.served += computed;
  entry.client->second.served += computed;
  entry.has_turn = false;
  entry.since += computed;
  ++free_turns_;
}

// On the thread of a task that was asked to pause.
void WorkQueue::Pause(Entry& entry) {
  std::unique_lock lock(mutex_);
  const bool long_enough = Clock::now() - entry.since >= kSlice;
  const auto others = std::ranges::any_of(entries_, [&](const Entry& other) {
    return MayHaveTurn(other) && (long_enough || other.served == Clock::duration());
  });
  if (!others) return;
  EndTurn(entry);
  GiveTurns();
  entry.turn.wait(lock, [&] { return entry.has_turn; });
}

void WorkQueue::Compute(Entries::iterator entry, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  entry->task.run();
  lock.lock();
  EndTurn(*entry);
  if (!entry->task.budget->stopped()) {  // what was given up says nothing
    usual_ = usual_ == Clock::duration() ? entry->served : usual_ + (entry->served - usual_) / 8;
  }
  // From `done` on nobody may touch the budget.
  Task task = std::move(entry->task);
  if (--entry->client->second.tasks == 0) clients_.erase(entry->client);
  entries_.erase(entry);
  --begun_;
  if (entries_.empty()) ended_.notify_all();
  GiveTurns();
  lock.unlock();
  task.done();
  task = {};
  lock.lock();
}

void WorkQueue::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    posted_.wait(lock, [this] { return !to_begin_.empty() || closed_; });
    --idle_;
    if (to_begin_.empty()) return;
    const auto entry = to_begin_.back();
    to_begin_.pop_back();
    Compute(entry, lock);
  }
}

}  // namespace espalier
