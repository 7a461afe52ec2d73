#include "host/readers/piece_parser.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "host/readers/json_splitter.hpp"
#include "host/readers/json_text.hpp"
#include "host/readers/kept_fields.hpp"
#include "host/readers/key_check.hpp"
#include "host/readers/kubernetes_objects.hpp"

namespace espalier {
namespace {

constexpr std::size_t kSpare = simdjson::SIMDJSON_PADDING;

// The parsers and the buffer that one thread uses for pieces.
class PieceParser {
 public:
  explicit PieceParser(WorkBudget* budget) : budget_(budget) {}

  // Returns whether the piece was sound.
  bool Parse(const JsonPiece& piece, ParsedPiece& parsed) {
    JsonValue root;
    if (whole_.parse(piece.text.data(), piece.text.size(), false).get(root) != simdjson::SUCCESS) {
      return false;
    }
    kept_text_.clear();
    if (piece.is_items) {
      AppendItems(Items(*Member(root, "items")), parsed.nodes);
    } else {
      AppendKeptFields(root, kept_text_);
    }
    kept_text_.reserve(kept_text_.size() + kSpare);
    parsed.is_items = piece.is_items;
    return kept_.parse_into_document(parsed.json, kept_text_.data(), kept_text_.size(), false)
               .error() == simdjson::SUCCESS;
  }

 private:
  void AppendItems(simdjson::dom::array items, std::map<std::size_t, Node>& nodes) {
    kept_text_ += '[';
    std::size_t index = 0;
    for (const JsonValue item : items) {
      if (std::optional<Node> node = ReadNodeAtOnce(item)) {
        kept_text_ += R"({"apiVersion":"v1","kind":"Node","metadata":{"name":)";
        AppendJsonString(kept_text_, node->name);
        kept_text_ += "}}";
        nodes.emplace_hint(nodes.end(), index, *std::move(node));
      } else {
        AppendKeptFields(item, kept_text_);
      }
      kept_text_ += ',';
      ++index;
    }
    kept_text_.back() = ']';
  }

  // Nothing where it is no Node, or there is something to say about it.
  std::optional<Node> ReadNodeAtOnce(JsonValue item) const {
    const auto is = [&](std::string_view name, std::string_view text) {
      std::string_view found;
      return item.at_key(name).get(found) == simdjson::SUCCESS && found == text;
    };
    if (!is("kind", "Node") || !is("apiVersion", "v1")) return std::nullopt;
    Diagnostics found;
    const ReadContext context{.diagnostics = found, .file = "", .root = item, .budget = budget_};
    CheckKeys(ObjectKind::kNode, item, context);
    Node node = ReadClusterNode(item, context);
    if (!found.ok() || found.warning_count() > 0) return std::nullopt;
    return node;
  }

  WorkBudget* budget_;
  simdjson::dom::parser whole_;
  simdjson::dom::parser kept_;
  std::string kept_text_;
};

// Parses batches of pieces behind the back of whoever reads and cuts the next one.
class Batches {
 public:
  Batches(std::size_t piece_bytes, WorkBudget& budget)
      : splitter_(piece_bytes, kSpare), budget_(budget), parsers_(&budget) {}
  ~Batches() { Wait(); }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  // Waits until nothing is being parsed.
  void Wait() { group_.wait(); }

  // Returns false where the text so far is not sound.
  bool Add(std::string_view block) {
    if (!splitter_.Add(block, pieces_)) return false;
    return pieces_.size() < PiecesOfABatch() || ParseNext();
  }

  std::optional<std::vector<ParsedPiece>> Finish() {
    if (!splitter_.Complete() || !ParseNext() || !ParseNext()) return std::nullopt;
    return std::move(parsed_);
  }

 private:
  // So that threads rarely wait for each other, but in bounded memory.
  static std::size_t PiecesOfABatch() {
    constexpr std::size_t kAThread = 4;
    constexpr std::size_t kMost = 64;
    return std::min(kMost,
                    kAThread * static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
  }

  // Waits for the batch before and begins with the next.
  bool ParseNext() {
    group_.wait();
    if (!sound_) return false;
    in_work_.clear();
    in_work_.swap(pieces_);
    const std::size_t first = parsed_.size();
    parsed_.resize(first + in_work_.size());
    group_.run([this, first] {
      tbb::parallel_for(std::size_t{0}, in_work_.size(), [&](std::size_t i) {
        if (budget_.stopped() || !parsers_.local().Parse(in_work_[i], parsed_[first + i])) {
          sound_ = false;
        }
      });
    });
    return true;
  }

  JsonSplitter splitter_;
  const WorkBudget& budget_;
  std::vector<JsonPiece> pieces_;   // cut
  std::vector<JsonPiece> in_work_;  // of the batch that is being parsed
  std::vector<ParsedPiece> parsed_;
  std::atomic<bool> sound_ = true;
  tbb::enumerable_thread_specific<PieceParser> parsers_;
  tbb::task_group group_;
};

}  // namespace

std::optional<std::vector<ParsedPiece>> ParseInPieces(const NextBlock& next,
                                                      std::size_t piece_bytes, WorkBudget& budget) {
  const std::int64_t charged = budget.charged();
  Batches batches(piece_bytes, budget);
  while (const auto block = next()) {
    if (!budget.MayContinue()) break;
    if (!block->empty() && batches.Add(*block)) continue;
    auto parsed = block->empty() ? batches.Finish() : std::nullopt;
    if (parsed) return parsed;
    break;
  }
  batches.Wait();
  budget.Release(budget.charged() - charged);
  return std::nullopt;
}

}  // namespace espalier
