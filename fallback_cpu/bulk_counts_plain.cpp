#define ESPALIER_LANES 2
#include "fallback_cpu/bulk_counts_text.hpp"

namespace espalier {

BulkCounts PlainBulkCounts() { return {CountBulk, LimitBulk, "plain"}; }

}  // namespace espalier
