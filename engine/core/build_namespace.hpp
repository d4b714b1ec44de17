// A template that runs on either backend has other code in a file compiled as CUDA than in one compiled by
// the host compiler alone. Each variant has a name of its own, so that the linker never takes one for the
// other.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_BUILD_NAMESPACE with_cuda
#else
#define SLUICE_BUILD_NAMESPACE host_only
#endif
