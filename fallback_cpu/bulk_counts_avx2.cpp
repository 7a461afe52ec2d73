#define ESPALIER_LANES 8
#include "fallback_cpu/bulk_counts_text.hpp"

namespace espalier {

BulkCounts Avx2BulkCounts() { return FormNamed("avx2"); }

}  // namespace espalier
