#include "host/readers/object_index.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "host/model/nearest_name.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/json_documents.hpp"
#include "host/readers/json_numbers.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/pod_search.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/syntax_error.hpp"
#include "host/readers/yaml_to_json.hpp"

namespace espalier {
namespace {

// At least what is kept of an object or a document of a few bytes.
constexpr std::int64_t kBytesOfAnObject = 1024;

// The most bytes that a byte of JSON takes once it is parsed.
constexpr std::int64_t kBytesOfAParsedByte = 15;
// A text in memory is parsed in so many bytes at a time, between which others have the processor.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

std::int64_t ObjectBytes(std::uint64_t input_bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
  return static_cast<std::int64_t>(std::max(kLeast, 4 * std::min(input_bytes, kMost / 4)));
}

constexpr std::string_view kLineWithMark = "\n\xEF\xBB\xBF";
constexpr std::string_view kList = "List";  // ends the kind of a list
constexpr const char* kWantedInput = "what `kubectl get ... -o json` or `-o yaml` prints";

struct KindRow {
  ObjectKind kind;
  std::string_view name;
  std::string_view group;
};

constexpr std::array<KindRow, kObjectKinds> kKinds = {{
    {ObjectKind::kNode, "Node", ""},
    {ObjectKind::kPod, "Pod", ""},
    {ObjectKind::kTopology, "Topology", "kueue.x-k8s.io"},
    {ObjectKind::kResourceFlavor, "ResourceFlavor", "kueue.x-k8s.io"},
    {ObjectKind::kClusterQueue, "ClusterQueue", "kueue.x-k8s.io"},
    {ObjectKind::kLocalQueue, "LocalQueue", "kueue.x-k8s.io"},
    {ObjectKind::kAdmissionCheck, "AdmissionCheck", "kueue.x-k8s.io"},
    {ObjectKind::kWorkloadPriorityClass, "WorkloadPriorityClass", "kueue.x-k8s.io"},
    {ObjectKind::kWorkload, "Workload", "kueue.x-k8s.io"},
    {ObjectKind::kJob, "Job", "batch"},
    {ObjectKind::kRuntimeClass, "RuntimeClass", "node.k8s.io"},
    {ObjectKind::kLimitRange, "LimitRange", ""},
    {ObjectKind::kPriorityClass, "PriorityClass", "scheduling.k8s.io"},
    {ObjectKind::kNamespace, "Namespace", ""},
    {ObjectKind::kDaemonSet, "DaemonSet", "apps"},
    {ObjectKind::kKaiTopology, "Topology", "kai.scheduler"},
    {ObjectKind::kKaiQueue, "Queue", "scheduling.run.ai"},
    {ObjectKind::kResourceClaim, "ResourceClaim", "resource.k8s.io"},
    {ObjectKind::kResourceClaimTemplate, "ResourceClaimTemplate", "resource.k8s.io"},
    {ObjectKind::kDeviceClass, "DeviceClass", "resource.k8s.io"},
    {ObjectKind::kHyperNode, "HyperNode", "topology.volcano.sh"},
    {ObjectKind::kVolcanoQueue, "Queue", "scheduling.volcano.sh"},
    {ObjectKind::kConfigMap, "ConfigMap", ""},
    {ObjectKind::kKueueConfiguration, "Configuration", "config.kueue.x-k8s.io"},
}};

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

// An object that does not say its apiVersion is taken by its kind alone.
const KindRow* FindKind(std::string_view kind, std::string_view api_version) {
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindRow& candidate) {
    return candidate.name == kind &&
           (api_version.empty() || candidate.group == GroupOf(api_version));
  });
  return row == kKinds.end() ? nullptr : &*row;
}

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool LooksLikeJson(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// Returns the text behind blank lines, comments and the first `---`, as YAML may begin.
std::string_view BehindYamlHeader(std::string_view text) {
  bool marked = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, text.find_last_not_of(" \t\r\n", end - 1) + 1);
    const std::size_t word = text.find_first_not_of(" \t");
    const bool is_mark = line.size() == 3 && line == "---" && !marked;
    const bool is_skipped =
        word >= end || text[word] == '\n' || text[word] == '\r' || text[word] == '#' || is_mark;
    if (!is_skipped) break;
    marked = marked || is_mark;
    text.remove_prefix(end);
  }
  return text;
}

// Returns the blocks of a text in memory, one after the other.
NextBlock BlocksOf(std::string_view text) {
  return [rest = text]() mutable -> std::optional<std::string_view> {
    const std::string_view block = rest.substr(0, kBlockBytes);
    rest.remove_prefix(block.size());
    return block;
  };
}

// Returns whether what came before each document are items of a list.
bool ItemsAreOfLists(const std::vector<ParsedPiece>& pieces) {
  bool has_items = false;
  for (const ParsedPiece& piece : pieces) {
    if (has_items && !piece.is_items) {
      const JsonValue root = piece.json.root();
      simdjson::dom::array rest;
      if (!TextOf(root, "kind").ends_with(kList) ||
          root.at_key("items").get(rest) != simdjson::SUCCESS || rest.size() > 0) {
        return false;
      }
    }
    has_items = piece.is_items;
  }
  return true;
}

}  // namespace

std::string_view KindName(ObjectKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

std::vector<std::string> TypesThatAreRead() {
  std::vector<std::string> types;
  const auto add = [&](std::string_view kind, std::string_view group) {
    std::string& type = types.emplace_back(kind);
    std::ranges::transform(type, type.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (!group.empty()) type.append(".").append(group);
  };
  for (const KindRow& row : kKinds) {
    // Only one ConfigMap is read, and a Configuration is no object of a cluster.
    const bool is_fetched =
        row.kind != ObjectKind::kConfigMap && row.kind != ObjectKind::kKueueConfiguration;
    if (is_fetched) add(row.name, row.group);
  }
  for (const SourceKind& kind : SourceKinds()) add(kind.kind, kind.group);
  return types;
}

ObjectIndex::ObjectIndex(Diagnostics& diagnostics, InputLimit& limit, std::size_t piece_bytes,
                         WorkBudget* budget)
    : diagnostics_(diagnostics),
      limit_(limit),
      piece_bytes_(piece_bytes),
      own_budget_(ObjectBytes(limit.bytes())),
      budget_(budget != nullptr ? *budget : own_budget_),
      text_budget_(budget != nullptr ? *budget : WorkBudget::Unlimited()) {}

tl::unexpected<Error> ObjectIndex::BeyondLimit(const std::string& file, const Error& error) const {
  if (!has_caller()) return BadInput(fmt::format("{}: {}", file, error.message));
  return tl::unexpected(
      Error{ErrorClass::kExhausted,
            fmt::format("{}: is larger than {}, unpacked; ask for less at once", file,
                        BytesText(static_cast<std::int64_t>(limit_.bytes())))});
}

ObjectIndex::File& ObjectIndex::BeginFile(const std::string& name) {
  return files_.emplace_back(File{.name = name, .errors_before = diagnostics_.error_count()});
}

Result<void> ObjectIndex::Add(const std::string& file, std::string bytes, bool may_skip) {
  File& added = BeginFile(file);
  text_budget_.Charge(static_cast<std::int64_t>(bytes.size()));
  if (IsGzip(bytes)) {
    const Stopwatch watch;
    Result<std::string> text = Gunzip(bytes, kSpare, limit_, text_budget_);
    unpack_seconds_ += watch.Seconds();
    if (!text && limit_.exceeded()) return BeyondLimit(file, text.error());
    if (!text && text_budget_.stopped()) return tl::unexpected(text.error());
    if (!text) {
      FileError(file, text.error().message, "");
      return {};
    }
    bytes = std::move(*text);
  }
  if (auto taken = limit_.Take(bytes.size()); !taken) return BeyondLimit(file, taken.error());
  bytes_ += bytes.size();
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    FileError(file, "it is UTF-16, as some shells write what a command prints",
              "UTF-8, for instance from `kubectl ... | Out-File -Encoding utf8`");
    return {};
  }
  if (bytes.starts_with(kByteOrderMark)) bytes.erase(0, kByteOrderMark.size());
  const Stopwatch watch;
  const bool is_json = LooksLikeJson(bytes);
  // JSON may be longer than what the YAML parser takes.
  const std::string_view behind_header = is_json ? bytes : BehindYamlHeader(bytes);
  if (LooksLikeJson(behind_header) && TryPieces(added, BlocksOf(behind_header))) {
    // It was added.
  } else if (is_json) {
    AddJson(added, std::move(bytes));
  } else if (const std::size_t mark = bytes.find(kLineWithMark); mark != bytes.npos) {
    FileError(file, "it is not valid YAML: " + SyntaxError(bytes, mark + 1, kByteOrderMarkInside),
              "");
  } else if (Result<std::vector<std::string>> texts =
                 YamlToJson(bytes, limit_.left(), kLongScalar, text_budget_)) {
    for (std::string& text : *texts) {
      if (auto taken = limit_.Take(text.size()); !taken) return BeyondLimit(file, taken.error());
      if (!budget_.MayContinue()) break;
      AddJson(added, std::move(text));
    }
  } else {
    FileError(file, "it is not valid YAML: " + texts.error().message, "");
  }
  parse_seconds_ += watch.Seconds();
  return Finish(added, may_skip);
}

// Reports what is left to say about a file when all of it was added.
Result<void> ObjectIndex::Finish(File& file, bool may_skip) {
  if (may_skip && file.objects == file.kindless.size() && file.objects > 0) {
    skipped_files_.push_back(file.name);
  } else {
    ReportKindless(file);
    WarnOfNothing(file, may_skip);
  }
  if (!stopped()) return {};
  if (has_caller()) return budget_.Check();
  return BadInput(
      fmt::format("{}: its objects take more than {}; want less, or a higher --max-input",
                  file.name, BytesText(ObjectBytes(limit_.bytes()))));
}

Result<bool> ObjectIndex::AddInPieces(const std::string& file, const NextBlock& next,
                                      bool may_skip) {
  const Stopwatch watch;
  std::uint64_t bytes = 0;
  const auto counted = [&] {
    const auto block = next();
    bytes += block ? block->size() : 0;
    return bytes <= limit_.left() ? block : std::nullopt;
  };
  File& added = BeginFile(file);
  const bool in_pieces = TryPieces(added, counted);
  if (!stopped() && (!in_pieces || !limit_.Take(bytes))) return false;
  bytes_ += bytes;
  parse_seconds_ += watch.Seconds();
  if (auto finished = Finish(added, may_skip); !finished) return tl::unexpected(finished.error());
  return true;
}

bool ObjectIndex::TryPieces(File& file, const NextBlock& next) {
  if (piece_bytes_ == 0) return false;
  const auto charged = [&] {
    const auto block = next();
    if (block) text_budget_.Charge(kBytesOfAParsedByte * std::ssize(*block));
    return block;
  };
  std::optional<std::vector<ParsedPiece>> pieces = ParseInPieces(charged, piece_bytes_, budget_);
  if (!pieces || !ItemsAreOfLists(*pieces)) return false;
  for (auto first = pieces->begin(); first != pieces->end();) {
    const auto document = std::find_if(first, pieces->end(), std::not_fn(&ParsedPiece::is_items));
    const JsonValue root = document->json.root();
    for (auto piece = first; piece != document; ++piece) {
      documents_.push_back({&file, std::move(piece->json), false, std::move(piece->nodes)});
      AddItems(Items(documents_.back().json.root()), TextOf(root, "kind"),
               TextOf(root, "apiVersion"), documents_.back().nodes);
    }
    if (first == document) {
      documents_.push_back({&file, std::move(document->json), false, {}});
      AddObject(documents_.back().json.root(), "", "");
    }
    first = document + 1;
  }
  return true;
}

void ObjectIndex::AddJson(File& file, std::string text) {
  text_budget_.Charge(kBytesOfAParsedByte * std::ssize(text));
  if (stopped()) return;
  simdjson::error_code error = simdjson::SUCCESS;
  if (Parse(file, text, error)) return;
  const std::vector<std::string_view> documents = SplitJsonDocuments(text);
  for (const std::string_view document : documents) {
    if (!budget_.Charge(kBytesOfAnObject)) return;
    const std::string_view not_json = "it is not valid JSON";
    std::string copy;
    copy.reserve(document.size() + kSpare);
    copy = document;
    if (documents.size() > 1 && Parse(file, copy, error)) continue;
    if (diagnostics_.errors_full()) {  // its place is not shown, and takes time to find
      FileError(file.name, std::string(not_json), "");
      continue;
    }
    const auto begin = static_cast<std::size_t>(document.data() - text.data());
    const auto fault =
        FindJsonFault(std::string_view(text).substr(0, begin + document.size()), begin)
            .value_or(JsonFault{begin, simdjson::error_message(error)});
    FileError(file.name,
              fmt::format("{}: {}", not_json, SyntaxError(text, fault.offset, fault.problem)), "");
  }
}

namespace {

// Returns whether a number of the text is one that the parser refuses. Newer versions of simdjson
// have an error of its own for integers beyond 64 bits.
template <class ErrorCode>
bool IsOfANumber(ErrorCode error) {
  if constexpr (requires { ErrorCode::BIGINT_ERROR; }) {
    if (error == ErrorCode::BIGINT_ERROR) return true;
  }
  return error == ErrorCode::NUMBER_ERROR;
}

}  // namespace

// Parses one JSON text and indexes its objects; false when it is not one valid JSON value.
bool ObjectIndex::Parse(File& file, std::string& text, simdjson::error_code& error) {
  Document& document = documents_.emplace_back();
  document.file = &file;
  JsonValue root;
  error = ParseInto(document, text, root);
  if (IsOfANumber(error)) {
    std::string marked = MarkUnreadableNumbers(text);
    document.has_marks = true;
    error = ParseInto(document, marked, root);
  }
  if (error != simdjson::SUCCESS) {
    documents_.pop_back();
    return false;
  }
  std::string().swap(text);  // the document has its own copy of every string
  AddObject(root, "", "");
  return true;
}

simdjson::error_code ObjectIndex::ParseInto(Document& document, std::string& text,
                                            JsonValue& root) {
  text.reserve(text.size() + kSpare);
  return parser_.parse_into_document(document.json, text.data(), text.size(), false).get(root);
}

void ObjectIndex::AddObject(JsonValue value, std::string_view list_kind,
                            std::string_view list_version) {
  Document& document = documents_.back();
  const auto number = static_cast<std::uint32_t>(documents_.size() - 1);
  const std::string_view kind = TextOf(value, "kind", list_kind);
  const std::string_view version = TextOf(value, "apiVersion", list_version);
  if (kind.ends_with(kList) && Member(value, "items")) {
    const ReadContext context{diagnostics_, document.file->name, value};
    std::map<std::size_t, Node> none_read;
    if (const auto items = ArrayMember(value, "items", context)) {
      AddItems(*items, kind, version, none_read);
    }
    return;
  }
  if (!budget_.Charge(kBytesOfAnObject)) return;
  const IndexedObject object{value, number, document.file->objects++};
  if (kind.empty()) return document.file->kindless.push_back(object);
  const KindRow* row = FindKind(kind, version);
  if (row != nullptr && row->kind == ObjectKind::kConfigMap && !ConfigurationText(value)) {
    ++skipped_[std::string(kind)];
    const auto metadata = Member(value, "metadata");
    if (!metadata || TextOf(*metadata, "name") != kConfigurationName) return;
    return ContextIn(*document.file, object, kind, diagnostics_)
        .Warn(value, "it does not have Kueue's Configuration, and is skipped",
              fmt::format("the text under data[{}]", kConfigurationKey));
  }
  if (row != nullptr) {
    const std::uint32_t generated = CountGenerated(row->name, value);
    return objects_[static_cast<std::size_t>(row->kind)].push_back(
        {value, number, object.position, generated});
  }
  const SourceKind* source = FindSourceKind(kind, version);
  std::string pods_at = source == nullptr ? FindPods(value, kind) : std::string();
  if (source != nullptr || !pods_at.empty()) {
    const IndexedObject source_object{value, number, object.position, CountGenerated(kind, value)};
    return source_objects_.push_back({source_object, kind, version, source, std::move(pods_at)});
  }
  CheckKind(value, kind, version);
  std::string full_name(kind);
  if (std::any_of(kKinds.begin(), kKinds.end(),
                  [&](const KindRow& known) { return known.name == kind; })) {
    full_name.append(".").append(GroupOf(version));  // a kind of that name, but of another group
  }
  ++skipped_[full_name];
}

// Warns where an object of no use looks like a misspelled one of use.
void ObjectIndex::CheckKind(JsonValue value, std::string_view kind, std::string_view version) {
  const ReadContext context{diagnostics_, documents_.back().file->name, value, kind};
  const std::string_view group = GroupOf(version);
  for (const KindRow& row : kKinds) {
    const bool same_kind = row.name == kind;
    const bool same_group = version.empty() || row.group == group;
    if (same_group && !same_kind && !NearestName(kind, std::span(&row.name, 1)).empty()) {
      return context.Warn(Member(value, "kind").value_or(value),
                          "the kind is unknown, and the object is skipped",
                          fmt::format("{}, if that is meant", row.name));
    }
    if (same_kind && !row.group.empty() && !NearestName(group, std::span(&row.group, 1)).empty()) {
      return context.Warn(
          Member(value, "apiVersion").value_or(value),
          fmt::format("there is no {} of this group, and the object is skipped", kind),
          fmt::format("{}, if that is meant", row.group));
    }
  }
}

void ObjectIndex::ReportKindless(const File& file) {
  for (const IndexedObject& object : file.kindless) {
    const JsonValue value = object.value;
    const ReadContext context = ContextIn(file, object, "Object", diagnostics_);
    if (value.is_object()) {
      context.Missing(value, "kind", "the object's kind, such as Node or List");
    } else {
      context.Error(value, "it is not a Kubernetes object", kWantedInput);
    }
  }
}

// Warns where a file that is named holds no document, as when the command that wrote it failed.
void ObjectIndex::WarnOfNothing(const File& file, bool may_skip) {
  const bool has_document = !documents_.empty() && documents_.back().file == &file;
  if (may_skip || has_document || diagnostics_.error_count() > file.errors_before) return;
  diagnostics_.AddWarning({.file = file.name,
                           .object = "",
                           .field = "",
                           .value = "",
                           .problem = "it holds nothing, or comments alone",
                           .expected = kWantedInput});
}

// Returns which one of its generateName an object without a name is; 1 for one with a name.
std::uint32_t ObjectIndex::CountGenerated(std::string_view kind, JsonValue object) {
  const auto metadata = Member(object, "metadata");
  const auto first = metadata ? GeneratedName(*metadata, 1) : std::nullopt;
  if (!first) return 1;
  std::string_view name_space = TextOf(*metadata, "namespace");
  if (name_space.empty()) name_space = kDefaultNamespace;
  return ++generated_[fmt::format("{} {}/{}", kind, name_space, *first)];
}

void ObjectIndex::AddItems(simdjson::dom::array items, std::string_view list_kind,
                           std::string_view version, std::map<std::size_t, Node>& nodes) {
  // A plain List says nothing about its items; a PodList holds Pods.
  const std::string_view item_kind = list_kind.substr(0, list_kind.size() - kList.size());
  std::vector<IndexedObject>& added = objects_[static_cast<std::size_t>(ObjectKind::kNode)];
  auto node = nodes.begin();  // the next one
  std::size_t index = 0;
  for (const JsonValue item : items) {
    if (budget_.stopped()) return;
    const std::size_t before = added.size();
    AddObject(item, item_kind, item_kind.empty() ? std::string_view() : version);
    if (node != nodes.end() && node->first == index) {
      if (added.size() > before) added.back().node = &node->second;
      ++node;
    }
    ++index;
  }
}

void ObjectIndex::Drop(ObjectKind kind, const std::vector<bool>& is_dropped) {
  std::vector<IndexedObject>& objects = objects_[static_cast<std::size_t>(kind)];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!is_dropped[i]) objects[kept++] = objects[i];
  }
  objects.resize(kept);
}

bool ObjectIndex::HasUnreadableNumber(const IndexedObject& object,
                                      const ReadContext& context) const {
  return documents_[object.document].has_marks && context.HasUnreadableNumber();
}

ReadContext ObjectIndex::ContextOf(ObjectKind kind, const IndexedObject& object,
                                   Diagnostics& diagnostics) const {
  return ContextIn(*documents_[object.document].file, object, KindName(kind), diagnostics);
}

ReadContext ObjectIndex::ContextOf(const SourceObject& object, Diagnostics& diagnostics) const {
  return ContextIn(*documents_[object.object.document].file, object.object, object.kind,
                   diagnostics);
}

ReadContext ObjectIndex::ContextIn(const File& file, const IndexedObject& object,
                                   std::string_view kind, Diagnostics& diagnostics) const {
  return {diagnostics,
          file.name,
          object.value,
          kind,
          {},
          &budget_,
          file.objects > 1 ? object.position + 1 : 0,
          object.generated};
}

std::string ObjectIndex::PlaceOf(const IndexedObject& object) const {
  const File& file = *documents_[object.document].file;
  return ObjectPlace(file.name, file.objects > 1 ? object.position + 1 : 0);
}

void ObjectIndex::FileError(const std::string& file, std::string problem, std::string expected) {
  const std::size_t line_end = std::min(problem.find('\n'), problem.size());
  std::string picture = problem.substr(line_end);
  problem.resize(line_end);
  diagnostics_.AddError({.file = file,
                         .object = "",
                         .field = "",
                         .value = "",
                         .problem = std::move(problem),
                         .expected = std::move(expected),
                         .picture = std::move(picture)});
}

}  // namespace espalier
