#include "service/cli/options/gang_text.hpp"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/model/quantity.hpp"

namespace espalier {
namespace {

constexpr std::string_view kWanted = "want PODSx{RESOURCE=QUANTITY,...}, as 8x{cpu=16,memory=64Gi}";

class GangParser {
 public:
  explicit GangParser(std::string_view text) : text_(text) {}

  Result<PodSetRequest> Parse() {
    const std::size_t open = text_.find('{');
    if (open == std::string_view::npos || !text_.ends_with('}')) return Wrong("it has no {...}");
    PodSetRequest gang;
    gang.name = "main";
    if (const auto count = ParseCount(text_.substr(0, open)); !count) {
      return tl::unexpected(count.error());
    } else {
      gang.count = *count;
    }
    std::string_view rest = text_.substr(open + 1, text_.size() - open - 2);
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const auto added = AddRequest(rest.substr(0, comma), gang.requests); !added) {
        return tl::unexpected(added.error());
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (gang.requests.empty()) return Wrong("it requests nothing");
    return gang;
  }

 private:
  tl::unexpected<Error> Wrong(std::string_view problem) const {
    return BadInput(fmt::format("\"{}\": {}; {}", Excerpt(text_), problem, kWanted));
  }

  Result<std::int32_t> ParseCount(std::string_view text) const {
    if (text.empty()) return 1;
    std::int32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (error != std::errc{} || count < 1 || rest != "x") {
      return Wrong(fmt::format("\"{}\" is no number of pods", Excerpt(text)));
    }
    return count;
  }

  Result<void> AddRequest(std::string_view entry, Resources& requests) const {
    const std::size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return Wrong(fmt::format("\"{}\" is no RESOURCE=QUANTITY", Excerpt(entry)));
    }
    const std::string name(entry.substr(0, equals));
    const Result<Quantity> quantity = ParseQuantity(entry.substr(equals + 1));
    if (!quantity) return Wrong(fmt::format("{}: {}", Excerpt(name), quantity.error().message));
    if (quantity->nanos() < 0) return Wrong(fmt::format("{} is negative", Excerpt(name)));
    if (requests.Contains(name)) return Wrong(fmt::format("{} is there twice", Excerpt(name)));
    requests.Set(name, Canonical(*quantity, name));
    return {};
  }

  std::string_view text_;
};

}  // namespace

Result<PodSetRequest> ParseGang(std::string_view text) { return GangParser(text).Parse(); }

}  // namespace espalier
