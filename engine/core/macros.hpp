// Function qualifiers that let one source compile for host and device.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_HD __host__ __device__ __forceinline__
#else
#define SLUICE_HD inline
#endif

// Qualifies a lambda that is an executor's body: [=] SLUICE_BODY(std::uint64_t i, Lane& lane) { ... }. A
// source file is compiled for one kind of executor only.
#if defined(__CUDACC__)
#define SLUICE_BODY __device__
#else
#define SLUICE_BODY
#endif
