#define ESPALIER_LANES 8
#include "fallback_cpu/bulk_counts_text.hpp"

namespace espalier {

BulkCounts Avx512BulkCounts() { return {CountBulk, LimitBulk, "avx512"}; }

}  // namespace espalier
