// What lets one source serve host and device: the function qualifiers.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__ __forceinline__
#else
#define SLUICE_HD inline
#endif
