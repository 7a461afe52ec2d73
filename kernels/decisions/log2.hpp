// A logarithm with the same bits on every compiler and device: additions, multiplications and
// divisions in a fixed order, no library. Built without fused multiply-add.
#pragma once

#include <cmath>

#include "kernels/macros.hpp"

namespace espalier {

// Returns log2(x) for finite x > 0: exact for powers of two, else within 2 ulp. The method is
// fdlibm's, as in the standard library upstream uses: log(1 + f) by a series in s = f / (2 + f),
// which is folded into minimax coefficients.
ESPALIER_HD inline double Log2(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);  // [1/2, 1)
  if (fraction == 0.5) return exponent - 1;
  double shift = 0.0;  // of the fraction, to [sqrt(1/2), sqrt(2))
  if (fraction < 0.70710678118654752440) {
    fraction *= 2.0;
    shift = -1.0;
  }
  const double f = fraction - 1.0;
  const double s = f / (2.0 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double odd = s2 * (6.666666666666735130e-01 +
                           s4 * (2.857142874366239149e-01 +
                                 s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)));
  const double even = s4 * (3.999999999940941908e-01 +
                            s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
  const double half = 0.5 * f * f;
  // ln 2 in two parts, so that the larger product is exact.
  const double high = shift * 6.93147180369123816490e-01;
  const double low = shift * 1.90821492927058770002e-10;
  const double natural = high - ((half - (s * (half + (odd + even)) + low)) - f);
  return natural * (1.0 / 0.693147180559945309417) + exponent;
}

}  // namespace espalier
