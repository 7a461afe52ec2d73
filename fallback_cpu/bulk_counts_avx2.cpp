#define ESPALIER_LANES 4
#include "fallback_cpu/bulk_counts_text.hpp"

namespace espalier {

BulkCounts Avx2BulkCounts() { return {CountBulk, LimitBulk, "avx2"}; }

}  // namespace espalier
