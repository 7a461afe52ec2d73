#include "service/server/state_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/model/excerpt.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/message_bytes.hpp"
#include "service/wire/request_log_file.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Values that are read at once, while changes wait: less than a chunk has room for.
constexpr std::size_t kPart = 500;

tl::unexpected<Error> CannotKeep(const std::string& folder, std::string_view why) {
  return tl::unexpected(
      Error{ErrorClass::kUnavailable,
            fmt::format("states cannot be kept in {}: {}", Excerpt(folder), why)});
}

// Waits until the names in a folder are on the disk.
bool SyncFolder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool synced = ::fsync(descriptor) == 0;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return synced;
}

bool MakeFolder(const std::string& path) {
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

std::string LineOf(const std::string& name, const StatePosition& position) {
  return fmt::format("{:016x} {} {}", position.epoch, position.generation, name);
}

v1::RequestLogPiece PieceOf(const StateStore::Reading& reading, v1::RequestLogPiece::Kind kind) {
  v1::RequestLogPiece piece;
  piece.set_call(-1);
  piece.set_method(kLoadStateMethod);
  piece.set_kind(kind);
  *piece.mutable_position() = ToProto(reading.position);
  return piece;
}

// Writes the chunks of one load.
class StateWriter {
 public:
  StateWriter(RequestLogWriter& writer, const StateStore::Reading& reading, const std::string& name,
              std::int64_t most_bytes)
      : writer_(writer), reading_(reading), name_(name), most_bytes_(most_bytes) {
    if (reading.configuration != nullptr) {
      configuration_ = reading.configuration->configuration.json;
    }
  }

  Result<void> Write(const ClusterStateInput& part, const std::vector<AdmittedUsage>& workloads,
                     bool last) {
    google::protobuf::Arena arena;
    auto& chunk = *google::protobuf::Arena::CreateMessage<v1::LoadStateRequest>(&arena);
    StateChunks(part, workloads, name_, configuration_).Next(chunk);
    configuration_.clear();
    end_.set_nodes(end_.nodes() + chunk.end().nodes());
    end_.set_non_tas_usage(end_.non_tas_usage() + chunk.end().non_tas_usage());
    end_.set_tas_usage(end_.tas_usage() + chunk.end().tas_usage());
    end_.set_workloads(end_.workloads() + chunk.end().workloads());
    chunk.clear_end();
    if (last) *chunk.mutable_end() = end_;
    return Write(PieceOf(reading_, v1::RequestLogPiece::KIND_REQUEST), ToBytes(chunk));
  }

  Result<void> End() {
    v1::RequestLogPiece piece = PieceOf(reading_, v1::RequestLogPiece::KIND_END);
    v1::KeptStateEnd& kept = *piece.mutable_kept();
    if (reading_.holds == 0) kept.set_checksum(reading_.checksum);
    kept.set_changed_ns(
        std::chrono::duration_cast<std::chrono::nanoseconds>(reading_.published.time_since_epoch())
            .count());
    return Write(piece, {});
  }

 private:
  Result<void> Write(const v1::RequestLogPiece& piece, const grpc::ByteBuffer& payload) {
    if (writer_.bytes() + RequestLogWriter::BytesOf(piece, payload) > most_bytes_) {
      return tl::unexpected(
          Error{ErrorClass::kExhausted,
                fmt::format("the state needs more than the {} that are left to it "
                            "(--state-dir-bytes, the files that are there "
                            "included)",
                            BytesText(std::max<std::int64_t>(most_bytes_, 0)))});
    }
    return writer_.Write(piece, payload);
  }

  RequestLogWriter& writer_;
  const StateStore::Reading& reading_;
  const std::string& name_;
  const std::int64_t most_bytes_;
  std::string configuration_;  // of the next chunk
  v1::LoadStateEnd end_;
};

// Reads the chunks of one load.
class StateReader {
 public:
  StateReader(std::string name, WorkBudget& budget, StateFolder::Saved& saved)
      : name_(std::move(name)), budget_(budget), saved_(saved) {}

  Result<void> Take(const v1::RequestLogPiece& piece, std::string_view payload) {
    if (ended_) return BadInput("more follows the end of the state");
    if (piece.method() != kLoadStateMethod || !piece.has_position()) {
      return BadInput("it is a log of requests and no state");
    }
    if (piece.kind() == v1::RequestLogPiece::KIND_END) return TakeEnd(piece);
    const std::int64_t before = budget_.charged();
    google::protobuf::Arena arena;
    auto& chunk = *google::protobuf::Arena::CreateMessage<v1::LoadStateRequest>(&arena);
    const grpc::Slice slice(payload.data(), payload.size(), grpc::Slice::STATIC_SLICE);
    if (auto parsed = Parse(grpc::ByteBuffer(&slice, 1), budget_, chunk); !parsed) return parsed;
    const std::int64_t message_bytes = budget_.charged() - before;
    if (chunks_ == 0) {
      if (chunk.state_name() != name_) {
        return BadInput(fmt::format("it is of the state \"{}\"", Excerpt(chunk.state_name())));
      }
      saved_.kueue_configuration = chunk.kueue_configuration();
    }
    auto taken = AppendChunk(chunk, chunks_++, budget_, saved_.input, saved_.workloads);
    if (chunk.has_end()) end_ = chunk.end();
    budget_.Release(message_bytes);
    return taken;
  }

  // Errors when the state is not whole.
  Result<void> Finish() const {
    if (!ended_) return BadInput("it ends before its end");
    for (const auto& [said, came] :
         {std::tuple(end_.nodes(), saved_.input.nodes.size()),
          std::tuple(end_.non_tas_usage(), saved_.input.non_tas_usage.size()),
          std::tuple(end_.tas_usage(), saved_.input.tas_usage.size()),
          std::tuple(end_.workloads(), saved_.workloads.size())}) {
      if (said != static_cast<std::int64_t>(came)) return BadInput("a part of it is missing");
    }
    return {};
  }

 private:
  Result<void> TakeEnd(const v1::RequestLogPiece& piece) {
    if (!piece.has_kept()) return BadInput("it is a log of requests and no state");
    ended_ = true;
    saved_.known.position = FromProto(piece.position());
    if (saved_.known.position.epoch == 0 || saved_.known.position.generation == 0) {
      return BadInput("it does not say at which position the state was");
    }
    if (piece.kept().has_checksum()) saved_.known.checksum = piece.kept().checksum();
    saved_.known.published = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::nanoseconds(piece.kept().changed_ns())));
    return {};
  }

  const std::string name_;
  WorkBudget& budget_;
  StateFolder::Saved& saved_;
  std::int64_t chunks_ = 0;
  v1::LoadStateEnd end_;
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<StateFolder>> StateFolder::Open(const StateDirOptions& options,
                                                       v1::RequestLogFile file) {
  if (!MakeFolder(options.folder)) return CannotKeep(options.folder, std::strerror(errno));
  const std::string lock_path = options.folder + "/lock";
  const int lock = ::open(lock_path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (lock < 0) return CannotKeep(options.folder, std::strerror(errno));
  file.set_run("state");
  file.set_number(1);
  std::unique_ptr<StateFolder> folder(new StateFolder(options, std::move(file), lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return CannotKeep(options.folder, "another server has it; choose another folder");
  }
  if (!MakeFolder(options.folder + "/states")) {
    return CannotKeep(options.folder, std::strerror(errno));
  }
  // A write may have left its file behind, and writes may not be possible.
  ::unlink(folder->Next().c_str());
  const int next = ::open(folder->Next().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (next < 0) return CannotKeep(options.folder, std::strerror(errno));
  ::close(next);
  ::unlink(folder->Next().c_str());
  folder->ReadLast();
  return folder;
}

StateFolder::~StateFolder() { ::close(lock_); }

std::string StateFolder::FileOf(const std::string& name) const {
  return options_.folder + (name.empty() ? "/state" : "/states/" + name);
}

std::vector<std::string> StateFolder::Names() const {
  std::vector<std::string> names;
  std::error_code error;
  if (fs::exists(fs::symlink_status(FileOf(""), error))) names.emplace_back();
  for (const auto& entry : fs::directory_iterator(options_.folder + "/states", error)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::int64_t StateFolder::BytesOfFiles() const {
  std::int64_t bytes = 0;
  for (const std::string& name : Names()) {
    std::error_code error;
    const auto size = fs::file_size(FileOf(name), error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

Result<StateFolder::Saved> StateFolder::Read(const std::string& name, WorkBudget& budget) const {
  const std::string path = FileOf(name);
  auto reader = RequestLogReader::Open(path);
  if (!reader) return tl::unexpected(reader.error());
  const auto wrong = [&](const Error& error) {
    return tl::unexpected(
        Error{error.error_class, fmt::format("{}: {}", Excerpt(path), error.message)});
  };
  Saved saved;
  StateReader state(name, budget, saved);
  v1::RequestLogPiece piece;
  std::string_view payload;
  for (;;) {
    const auto found = reader->Next(piece, payload);
    if (!found) return tl::unexpected(found.error());
    if (!*found) break;
    if (auto taken = state.Take(piece, payload); !taken) return wrong(taken.error());
  }
  if (reader->unfinished_bytes() > 0) {
    return wrong({ErrorClass::kBadInput, "it ends in the middle of a record"});
  }
  if (auto whole = state.Finish(); !whole) return wrong(whole.error());
  // With holds, which are gone, the state is another one.
  saved.known.last =
      saved.known.checksum.has_value() && last_.contains(LineOf(name, saved.known.position));
  std::error_code error;
  saved.bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  return saved;
}

Result<StateFolder::Written> StateFolder::Write(const std::string& name, StateStore& store,
                                                WorkBudget& budget, const std::atomic<bool>& stop) {
  auto written = WriteNext(name, store, budget, stop);
  if (written) {
    if (auto placed = PutInPlace(FileOf(name)); !placed) written = tl::unexpected(placed.error());
  }
  if (!written) ::unlink(Next().c_str());
  return written;
}

Result<StateFolder::Written> StateFolder::WriteNext(const std::string& name, StateStore& store,
                                                    WorkBudget& budget,
                                                    const std::atomic<bool>& stop) const {
  auto reading = store.BeginReading(budget);
  if (!reading) return tl::unexpected(reading.error());
  ::unlink(Next().c_str());
  auto file = RequestLogWriter::Create(Next(), file_);
  if (!file) return tl::unexpected(file.error());
  StateWriter writer(*file, *reading, name, options_.bytes - BytesOfFiles());
  const std::vector<const AdmittedUsage*> workloads = reading->workloads->ByKey();
  const auto stopped = [&] { return stop.load(std::memory_order_relaxed); };
  ClusterStateInput beside;  // workloads
  for (bool more = true; more && !stopped();) {
    ClusterStateInput part;
    const auto read = store.ReadOn(*reading, kPart, part);
    if (!read) return tl::unexpected(read.error());
    more = *read;
    beside.share_usage_between_flavors = part.share_usage_between_flavors;
    const auto taken = writer.Write(part, {}, !more && workloads.empty());
    if (!taken) return tl::unexpected(taken.error());
  }
  for (std::size_t next = 0; next < workloads.size() && !stopped();) {
    std::vector<AdmittedUsage> part;
    const std::size_t end = std::min(next + kPart, workloads.size());
    for (; next < end; ++next) part.push_back(*workloads[next]);
    const auto taken = writer.Write(beside, part, end == workloads.size());
    if (!taken) return tl::unexpected(taken.error());
  }
  if (stopped()) return tl::unexpected(Error{ErrorClass::kCancelled, "it took too long"});
  for (const auto& done : {writer.End(), file->Sync()}) {
    if (!done) return tl::unexpected(done.error());
  }
  return Written{reading->position, file->bytes()};
}

Result<void> StateFolder::PutInPlace(const std::string& path) const {
  if (::rename(Next().c_str(), path.c_str()) == 0 &&
      SyncFolder(fs::path(path).parent_path().string())) {
    return {};
  }
  return CannotKeep(options_.folder, std::strerror(errno));
}

void StateFolder::Remove(const std::string& name) { ::unlink(FileOf(name).c_str()); }

void StateFolder::ReadLast() {
  std::ifstream file(LastFile());
  constexpr std::size_t kMostLines = 10'000;
  for (std::string line; last_.size() < kMostLines && std::getline(file, line);) {
    last_.insert(line);
  }
}

Result<void> StateFolder::NoteLast(const std::vector<Last>& positions) {
  std::string text;
  for (const auto& [name, position] : positions) text += LineOf(name, position) + "\n";
  ::unlink(Next().c_str());
  const int next = ::open(Next().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (next < 0) return CannotKeep(options_.folder, std::strerror(errno));
  const bool written =
      ::write(next, text.data(), text.size()) == std::ssize(text) && ::fsync(next) == 0;
  const int error = errno;
  ::close(next);
  if (!written) return CannotKeep(options_.folder, std::strerror(error));
  return PutInPlace(LastFile());
}

Result<void> StateFolder::ForgetLast() {
  if (::unlink(LastFile().c_str()) != 0 && errno != ENOENT) {
    return CannotKeep(options_.folder, std::strerror(errno));
  }
  if (!SyncFolder(options_.folder)) return CannotKeep(options_.folder, std::strerror(errno));
  return {};
}

}  // namespace espalier
