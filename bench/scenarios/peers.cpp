#include "bench/scenarios/peers.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "peers_text.hpp"

namespace espalier {
namespace {

std::string Text(const simdjson::dom::element& object, const char* key) {
  return std::string(object[key].get_string().value());
}

// The text is part of this program and read by a test: what is wrong there throws.
std::vector<PeerFigure> Read(std::string_view text) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(text.data(), text.size());
  std::vector<PeerFigure> figures;
  for (const simdjson::dom::element entry : root["figures"].get_array()) {
    PeerFigure& figure = figures.emplace_back();
    figure.system = fmt::format("{} {}", Text(root, "system"), Text(root, "version"));
    figure.machine = fmt::format("{}, {}", Text(root, "machine"), Text(root, "date"));
    figure.scenario = Text(entry, "scenario");
    figure.what = Text(entry, "what");
    figure.total_seconds = entry["totalMilliseconds"].get_double().value() / 1e3;
    double median = 0;
    if (entry["gangMicroseconds"]["p50"].get(median) == simdjson::SUCCESS) {
      figure.gang_seconds = median / 1e6;
    }
  }
  return figures;
}

}  // namespace

const std::vector<PeerFigure>& PeerFigures() {
  static const std::vector<PeerFigure> figures = Read(kKueuePeerText);
  return figures;
}

const PeerFigure* FindPeer(std::string_view scenario) {
  const auto it = std::ranges::find(PeerFigures(), scenario, &PeerFigure::scenario);
  return it == PeerFigures().end() ? nullptr : &*it;
}

}  // namespace espalier
