// A template that runs on either backend compiles to different code in a CUDA file and in a file of the host
// compiler alone. Each variant is in a namespace of its own, so that the linker never confuses the two.
#pragma once

#if defined(__CUDACC__)
#define SLUICE_BUILD_NAMESPACE with_cuda
#else
#define SLUICE_BUILD_NAMESPACE host_only
#endif
