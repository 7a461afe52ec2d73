#include "tests/chaos/mortal_server.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace espalier::chaos {
namespace {

// All that a server of a run is told, in one place.
std::vector<std::string> Flags(const std::string& log_folder,
                               const attack::Identities& identities) {
  std::vector<std::string> flags = identities.Flags();
  if (!log_folder.empty()) {
    flags.insert(flags.end(), {"--log-requests", log_folder, "--log-requests-bytes", "4MiB",
                               "--log-requests-files", "4"});
  }
  return flags;
}

}  // namespace

MortalServer::MortalServer(const std::string& log_folder)
    : process_(Flags(log_folder, identities_)) {}

std::int64_t MortalServer::WaitUp() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return up_; });
  return life_;
}

bool MortalServer::IsUp(std::int64_t life) {
  const std::lock_guard lock(mutex_);
  return up_ && life_ == life;
}

void MortalServer::KillAndRestart() {
  {
    const std::lock_guard lock(mutex_);
    up_ = false;
    ++life_;
  }
  process_.Kill();
  process_.Restart();
  const std::lock_guard lock(mutex_);
  tcp_address_ = process_.tcp_address();
  up_ = true;
  changed_.notify_all();
}

void MortalServer::Stop() {
  kill(process_.pid(), SIGSTOP);
  siginfo_t info{};  // the signal takes effect a little later
  waitid(P_PID, static_cast<id_t>(process_.pid()), &info, WSTOPPED | WEXITED | WNOWAIT);
}

void MortalServer::Continue() { kill(process_.pid(), SIGCONT); }

void MortalServer::FillDisk(std::int64_t bytes) {
  const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  prlimit(process_.pid(), RLIMIT_FSIZE, &limit, nullptr);
}

void Pulse::Change(int busy, std::int64_t ended) {
  const std::lock_guard lock(mutex_);
  busy_ += busy;
  ended_ += ended;
  changed_.notify_all();
}

void Pulse::WaitForMore(std::int64_t ends) {
  std::unique_lock lock(mutex_);
  const std::int64_t wanted = ended_ + ends;
  changed_.wait(lock, [&] { return ended_ >= wanted; });
}

void Pulse::WaitUntilBusy(int clients) {
  std::unique_lock lock(mutex_);
  const std::int64_t wanted = ended_ + clients;
  changed_.wait(lock, [&] { return busy_ >= clients || ended_ >= wanted; });
}

}  // namespace espalier::chaos
