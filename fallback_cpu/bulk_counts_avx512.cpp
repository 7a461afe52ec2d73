#define ESPALIER_LANES 16
#include "fallback_cpu/bulk_counts_text.hpp"

namespace espalier {

BulkCounts Avx512BulkCounts() { return FormNamed("avx512"); }

}  // namespace espalier
