// Parses documents and indexes their objects by kind.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"
#include "host/readers/diagnostics.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/piece_parser.hpp"

namespace espalier {

struct SourceKind;

// The kinds of objects that are read, in no particular order.
enum class ObjectKind {
  kNode,
  kPod,
  kTopology,
  kResourceFlavor,
  kClusterQueue,
  kLocalQueue,
  kAdmissionCheck,
  kWorkloadPriorityClass,
  kWorkload,
  kJob,
  kRuntimeClass,
  kLimitRange,
  kPriorityClass,
  kNamespace,
  kDaemonSet,
  kKaiTopology,
  kKaiQueue,
  kResourceClaim,
  kResourceClaimTemplate,
  kDeviceClass,
  kHyperNode,
  kVolcanoQueue,
  kConfigMap,  // those with a Configuration of Kueue alone
  kKueueConfiguration,
};
inline constexpr std::size_t kObjectKinds = 24;

std::string_view KindName(ObjectKind kind);

// Returns the names of all kinds for kubectl, but for ConfigMaps: "node",
// "topology.kueue.x-k8s.io", ...
std::vector<std::string> TypesThatAreRead();

struct IndexedObject {
  JsonValue value;
  std::uint32_t document = 0;
  std::uint32_t position = 0;   // counted from 0 among the objects of its file
  std::uint32_t generated = 1;  // as in ReadContext
  Node* node = nullptr;         // set when it was read already; `value` has only its name then
};

// An object that describes a gang or has pod templates.
struct SourceObject {
  IndexedObject object;
  std::string_view kind;
  std::string_view version;            // its apiVersion; empty when it has none
  const SourceKind* source = nullptr;  // null: the kind is not known
  std::string pods_at = {};            // field path of its pods, when the kind is not known
};

// Owns the parsed documents; objects stay valid as long as the index.
class ObjectIndex {
 public:
  // Keeps references to all, which must outlive the index. Texts count against `limit`; parsed
  // objects may take four times as much memory. JSON is parsed in pieces of `piece_bytes`, or in
  // one piece for 0. With `budget`, texts and objects are charged to that instead of the objects'
  // bound, and errors of Add are why it was stopped, or kExhausted for a text above the limit.
  ObjectIndex(Diagnostics& diagnostics, InputLimit& limit, std::size_t piece_bytes,
              WorkBudget* budget = nullptr);

  // Adds all objects of a JSON text while it is read, with all threads and in little memory (see
  // ParseInPieces). Returns false, with nothing added, when the text is not fit for that: Add then
  // reads it, or reports why not. Errors are those of Add.
  Result<bool> AddInPieces(const std::string& file, const NextBlock& next, bool may_skip = false);

  // Adds all objects of an input: plain or gzip, JSON or YAML. Findings go to the diagnostics. With
  // `may_skip`, an input without any Kubernetes object is skipped. An error means that the file
  // exceeds the limit; the index must not be used then.
  Result<void> Add(const std::string& file, std::string bytes, bool may_skip = false);

  const std::vector<IndexedObject>& Of(ObjectKind kind) const {
    return objects_[static_cast<std::size_t>(kind)];
  }
  // Returns the objects that describe gangs, or have pod templates and are of no known kind.
  const std::vector<SourceObject>& source_objects() const { return source_objects_; }
  // Forgets the objects of a kind for which `is_dropped`, one per object in their order, is set.
  void Drop(ObjectKind kind, const std::vector<bool>& is_dropped);
  // Returns the context for reading an object, with findings going to `diagnostics`.
  ReadContext ContextOf(ObjectKind kind, const IndexedObject& object,
                        Diagnostics& diagnostics) const;
  ReadContext ContextOf(const SourceObject& object, Diagnostics& diagnostics) const;
  // Reports numbers of an object that cannot be read, to its context. Returns whether there are
  // any; its fields must not be read then.
  bool HasUnreadableNumber(const IndexedObject& object, const ReadContext& context) const;
  // Returns whether objects were left out because they exceed the memory limit, or because the
  // budget was stopped.
  bool stopped() const { return budget_.stopped(); }
  // Returns whether reading may leave out what it likes, as the error is that of the budget.
  bool abandoned() const { return has_caller() && stopped(); }
  // Charges values that were made of objects to the budget, where one was given.
  void ChargeMade(std::int64_t bytes) const { text_budget_.Charge(bytes); }
  // Lets other work have the processor. Must be called by the thread that owns the budget.
  void Pause() const { budget_.MayContinue(); }
  // Returns "dump.json, object 12", or the file alone where it holds nothing else.
  std::string PlaceOf(const IndexedObject& object) const;

  const std::map<std::string, std::size_t>& skipped() const { return skipped_; }
  const std::vector<std::string>& skipped_files() const { return skipped_files_; }
  std::uint64_t bytes() const { return bytes_; }
  double unpack_seconds() const { return unpack_seconds_; }
  double parse_seconds() const { return parse_seconds_; }

  // Capacity that a text needs after its end so that the parser does not copy it.
  static constexpr std::size_t kSpare = simdjson::SIMDJSON_PADDING;

 private:
  struct File {
    std::string name;
    std::size_t errors_before = 0;        // errors that were found before this file
    std::uint32_t objects = 0;            // including those not used here
    std::vector<IndexedObject> kindless;  // values that are not Kubernetes objects
  };
  struct Document {
    File* file = nullptr;
    simdjson::dom::document json;
    bool has_marks = false;             // has marks of numbers that cannot be read
    std::map<std::size_t, Node> nodes;  // read already, by their index in the outermost list
  };

  bool TryPieces(File& file, const NextBlock& next);
  Result<void> Finish(File& file, bool may_skip);
  bool has_caller() const { return &budget_ != &own_budget_; }
  tl::unexpected<Error> BeyondLimit(const std::string& file, const Error& error) const;
  void AddJson(File& file, std::string text);
  File& BeginFile(const std::string& name);
  void ReportKindless(const File& file);
  void WarnOfNothing(const File& file, bool may_skip);
  void CheckKind(JsonValue value, std::string_view kind, std::string_view version);
  ReadContext ContextIn(const File& file, const IndexedObject& object, std::string_view kind,
                        Diagnostics& diagnostics) const;
  bool Parse(File& file, std::string& text, simdjson::error_code& error);
  simdjson::error_code ParseInto(Document& document, std::string& text, JsonValue& root);
  void AddObject(JsonValue value, std::string_view list_kind, std::string_view list_version);
  std::uint32_t CountGenerated(std::string_view kind, JsonValue object);
  // Adds the items of a list; `nodes` are those of them that were read already, by their index.
  void AddItems(simdjson::dom::array items, std::string_view list_kind, std::string_view version,
                std::map<std::size_t, Node>& nodes);
  void FileError(const std::string& file, std::string problem, std::string expected);

  Diagnostics& diagnostics_;
  InputLimit& limit_;
  const std::size_t piece_bytes_;
  WorkBudget own_budget_;    // bounds the memory of objects where no other budget is given
  WorkBudget& budget_;       // of objects
  WorkBudget& text_budget_;  // of texts, and of what they are parsed into
  simdjson::dom::parser parser_;
  std::deque<File> files_;
  std::deque<Document> documents_;
  std::array<std::vector<IndexedObject>, kObjectKinds> objects_;
  std::vector<SourceObject> source_objects_;
  std::map<std::string, std::size_t> skipped_;
  std::vector<std::string> skipped_files_;
  std::map<std::string, std::uint32_t> generated_;  // objects by kind, namespace and generateName
  std::uint64_t bytes_ = 0;
  double unpack_seconds_ = 0;
  double parse_seconds_ = 0;
};

}  // namespace espalier
