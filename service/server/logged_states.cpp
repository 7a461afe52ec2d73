#include "service/server/logged_states.hpp"

#include <optional>

#include <spdlog/spdlog.h>

#include "host/model/excerpt.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/holds.hpp"
#include "service/wire/message_bytes.hpp"

namespace espalier {

void LogState(const std::string& name, StateStore& store, HoldClock::TimePoint now, RequestLog& log,
              WorkBudget& budget) {
  if (store.Current()->position.generation == 0) return;
  const std::int64_t before = budget.charged();
  const auto contents = store.ContentsAt(std::nullopt, budget);
  if (!contents) {
    spdlog::warn("the log of requests lacks the state \"{}\", from here on: {}", Excerpt(name),
                 contents.error().message);
    return;
  }
  const LoadedInput& loaded = contents->loaded;
  const std::string configuration =
      loaded.configuration == nullptr ? "" : loaded.configuration->configuration.json;
  StateChunks chunks(loaded.input, contents->workloads, name, configuration);
  log.Restore(kLoadStateMethod, loaded.position, [&](grpc::ByteBuffer& bytes) {
    v1::LoadStateRequest chunk;
    const bool more = chunks.Next(chunk);
    bytes = ToBytes(chunk);
    return more;
  });
  if (!loaded.holds.empty()) {
    PagesOfHolds holds(loaded.position, loaded.holds, now, true);
    log.Restore(kListHoldsMethod, loaded.position, [&](grpc::ByteBuffer& bytes) {
      v1::ListHoldsResponse page;
      const bool more = holds.Next(page);
      bytes = ToBytes(page);
      return more;
    });
  }
  budget.Release(budget.charged() - before);
}

}  // namespace espalier
