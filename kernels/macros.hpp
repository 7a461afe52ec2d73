// The only place that asks which compiler is at work: decision text is compiled by the host
// compiler and by nvcc alike.
#pragma once

#if defined(__CUDACC__)
#define ESPALIER_HD __host__ __device__
#else
#define ESPALIER_HD
#endif
