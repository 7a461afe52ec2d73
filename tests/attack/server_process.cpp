#include "tests/attack/server_process.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace espalier::attack {
namespace {

std::string NewAddress() {
  static std::atomic<int> next = 0;
  const std::string name =
      "espalier-attack-" + std::to_string(getpid()) + "-" + std::to_string(next++);
  return "unix:" + (std::filesystem::temp_directory_path() / name).string();
}

bool ComesTrue(std::chrono::seconds patience, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& flags, ServerMemory memory)
    : address_(NewAddress()),
      memory_(memory),
      arguments_{"serve",
                 "--listen",
                 address_,
                 "--listen",
                 "127.0.0.1:0",
                 "--memory",
                 std::to_string(memory.all),
                 "--call-memory",
                 std::to_string(memory.call)} {
  arguments_.insert(arguments_.end(), flags.begin(), flags.end());
  Restart();
}

ServerProcess::~ServerProcess() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove(socket_path(), ignored);
  std::filesystem::remove(socket_path() + ".lock", ignored);  // of one that was killed
}

void ServerProcess::Restart() {
  process_.reset();
  process_ = std::make_unique<BackgroundEspalier>(arguments_, kSanitized ? 0 : 3 * memory_.all);
  const std::string listening = "listening on ";
  const std::string line = process_->ReadLine();
  if (line != listening + address_) throw std::runtime_error("no server: " + line);
  tcp_address_ = process_->ReadLine().substr(listening.size());
}

std::int64_t ServerProcess::ResidentBytes() const { return ReadStatus("VmRSS:"); }

std::int64_t ServerProcess::PeakBytes() const { return ReadStatus("VmHWM:"); }

std::int64_t ServerProcess::ReadStatus(const std::string& field) const {
  std::ifstream status("/proc/" + std::to_string(process_->pid()) + "/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == field && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

bool ServerProcess::ResidentFallsTo(std::int64_t bytes) const {
  return ComesTrue(kPatience, [&] { return ResidentBytes() <= bytes; });
}

std::chrono::milliseconds ServerProcess::CpuTime() const {
  std::ifstream file("/proc/" + std::to_string(process_->pid()) + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream rest(text.substr(text.rfind(')') + 1));  // the name may hold anything
  std::int64_t ticks = 0;
  std::string word;
  for (int field = 3; field <= 15 && rest >> word; ++field) {
    if (field >= 14) ticks += std::stoll(word);  // utime, stime
  }
  return std::chrono::milliseconds(ticks * 1000 / sysconf(_SC_CLK_TCK));
}

void ServerProcess::WaitUntilComputing() const {
  const auto before = CpuTime();
  for (int i = 0; i < 200 && CpuTime() - before < std::chrono::milliseconds(200); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Half a second with next to no computing, which a busy machine alone does not bring about: the
// threads of gRPC poll, those of a call compute.
bool ServerProcess::BecomesIdle() const {
  return ComesTrue(kIdlePatience, [this] {
    const auto before = CpuTime();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return CpuTime() - before <= std::chrono::milliseconds(20);
  });
}

}  // namespace espalier::attack
