// Keeps states in files, from which the next start of a server takes them (docs/operations.md).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "espalier/v1/request_log.pb.h"
#include "host/live/state_store.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

struct StateDirOptions {
  std::string folder;                          // empty: no state is kept
  std::int64_t bytes = 4LL << 30;              // of all files together, 1 MiB or more
  std::chrono::milliseconds rest{1000};        // between two writes, at least
  std::chrono::milliseconds last_write{5000};  // that the last one, of a drain, may take
};

// A folder of states, a file each: that without a name is `state`, the others are `states/NAME`. A
// file is a log of requests with one load in it. It is written under another name, and takes the
// place of the one before when it is whole and on the disk.
class StateFolder {
 public:
  // Makes the folder if need be. Errors: kUnavailable when it cannot be written, or another server
  // has it.
  static Result<std::unique_ptr<StateFolder>> Open(const StateDirOptions& options,
                                                   v1::RequestLogFile file);
  ~StateFolder();
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;

  const std::string& path() const { return options_.folder; }

  // Returns the names of the states that have a file, "" for the one without a name.
  std::vector<std::string> Names() const;
  std::string FileOf(const std::string& name) const;

  struct Saved {
    StateStore::Restored known;
    ClusterStateInput input;
    std::vector<AdmittedUsage> workloads;
    std::string kueue_configuration;
    std::int64_t bytes = 0;  // of the file
  };
  // Reads the state of a name. Errors say what is wrong with the file, which they name: kBadInput,
  // kNotFound, or those of `budget`.
  Result<Saved> Read(const std::string& name, WorkBudget& budget) const;

  struct Written {
    StatePosition position;
    std::int64_t bytes = 0;
  };
  // Writes a state as it is now, without its holds; it may change meanwhile. Errors leave the file
  // before: kUnavailable when it cannot be written, kExhausted when it would be too large,
  // kCancelled once `stop` is set, and those of StateStore::BeginReading and ReadOn.
  Result<Written> Write(const std::string& name, StateStore& store, WorkBudget& budget,
                        const std::atomic<bool>& stop);

  // Removes the file of a state.
  void Remove(const std::string& name);

  // Notes that nothing comes after these positions, so that the next start may offer the states
  // under them. Errors: kUnavailable.
  struct Last {
    std::string name;
    StatePosition position;
  };
  Result<void> NoteLast(const std::vector<Last>& positions);
  // Takes that back, before anything changes. Errors: kUnavailable.
  Result<void> ForgetLast();

 private:
  StateFolder(StateDirOptions options, v1::RequestLogFile file, int lock)
      : options_(std::move(options)), file_(std::move(file)), lock_(lock) {}

  Result<Written> WriteNext(const std::string& name, StateStore& store, WorkBudget& budget,
                            const std::atomic<bool>& stop) const;
  Result<void> PutInPlace(const std::string& path) const;
  std::string Next() const { return options_.folder + "/next"; }
  std::string LastFile() const { return options_.folder + "/last"; }
  void ReadLast();
  std::int64_t BytesOfFiles() const;

  const StateDirOptions options_;
  const v1::RequestLogFile file_;
  const int lock_;              // descriptor of the folder's lock file
  std::set<std::string> last_;  // lines of the file of last positions at the start
};

}  // namespace espalier
