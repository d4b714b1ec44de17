// What lets one source serve host and device: the function qualifiers.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__ __forceinline__
#else
#define SLUICE_HD inline
#endif

// A body of an executor as a lambda: [=] SLUICE_BODY(std::uint64_t i, Lane& lane) { ... }. One source file is
// compiled for one kind of executor.
#if defined(__CUDACC__)
#define SLUICE_BODY __device__
#else
#define SLUICE_BODY
#endif
