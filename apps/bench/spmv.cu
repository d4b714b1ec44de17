#include <cusparse.h>
#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "apps/bench/spmv.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::bench {

namespace {

/// The functions of cuSPARSE, loaded at run time.
class Cusparse {
 public:
  Cusparse() : library_(open()) {}
  explicit operator bool() const { return library_ != nullptr; }

  template <class Function>
  Function* get(const char* name) const {
    void* const found = dlsym(library_, name);
    if (found == nullptr) throw RunError(std::string("cuSPARSE has no function ") + name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  static void* open() {
    const std::string name = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
    return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  void* library_;
};

#define CUSPARSE_CALL(library, function, ...) \
  check_status((library).get<decltype(function)>(#function)(__VA_ARGS__), #function)

void check_status(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw RunError(std::string("cuSPARSE: ") + what + " failed with status " + std::to_string(status));
}

/// The matrix and the vectors on the device.
struct Product {
  Product(const Device& device, const Graph& graph)
      : offsets(device, graph.vertices() + 1, "a matrix"),
        columns(device, graph.edges(), "a matrix"),
        values(device, graph.edges(), "a matrix"),
        from(device, graph.vertices(), "a vector"),
        to(device, graph.vertices(), "a vector") {
    HostArray<std::int32_t> narrow(graph.vertices() + 1, "a matrix");
    std::transform(graph.out.offsets.begin(), graph.out.offsets.end(), narrow.begin(),
                   [](EdgeIndex offset) { return static_cast<std::int32_t>(offset); });
    HostArray<double> ones(std::max(graph.edges(), graph.vertices()), "a matrix");
    std::fill(ones.begin(), ones.end(), 1.0);
    copy_to_device(device, offsets.data(), narrow.data(), offsets.bytes());
    copy_to_device(device, columns.data(), graph.out.targets.data(), columns.bytes());
    copy_to_device(device, values.data(), ones.data(), values.bytes());
    copy_to_device(device, from.data(), ones.data(), from.bytes());
  }

  Buffer<std::int32_t> offsets;
  Buffer<Vertex> columns;
  Buffer<double> values, from, to;
};

std::vector<double> time_algorithm(const Cusparse& library, const Device& device, const Graph& graph,
                                   Product& product, cusparseSpMVAlg_t algorithm, unsigned repetitions) {
  const auto n = static_cast<std::int64_t>(graph.vertices()), m = static_cast<std::int64_t>(graph.edges());
  const double one = 1, zero = 0;
  const cuda::Stream stream;
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t from = nullptr, to = nullptr;
  CUSPARSE_CALL(library, cusparseCreate, &handle);
  CUSPARSE_CALL(library, cusparseSetStream, handle, stream.get());
  CUSPARSE_CALL(library, cusparseCreateCsr, &matrix, n, n, m, product.offsets.data(), product.columns.data(),
                product.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                CUDA_R_64F);
  CUSPARSE_CALL(library, cusparseCreateDnVec, &from, n, product.from.data(), CUDA_R_64F);
  CUSPARSE_CALL(library, cusparseCreateDnVec, &to, n, product.to.data(), CUDA_R_64F);
  std::size_t bytes = 0;
  const auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
  CUSPARSE_CALL(library, cusparseSpMV_bufferSize, handle, operation, &one, matrix, from, &zero, to,
                CUDA_R_64F, algorithm, &bytes);
  const Buffer<unsigned char> scratch(device, std::max<std::size_t>(bytes, 1), "scratch of cuSPARSE");
  CUSPARSE_CALL(library, cusparseSpMV_preprocess, handle, operation, &one, matrix, from, &zero, to,
                CUDA_R_64F, algorithm, scratch.data());
  std::vector<double> seconds;
  for (unsigned r = 0; r <= repetitions; ++r) {  // the first is a warm-up
    cuda::Timer timer;
    timer.start(stream);
    CUSPARSE_CALL(library, cusparseSpMV, handle, operation, &one, matrix, from, &zero, to, CUDA_R_64F,
                  algorithm, scratch.data());
    timer.stop(stream);
    stream.wait("cuSPARSE SpMV");
    if (r > 0) seconds.push_back(timer.seconds());
  }
  CUSPARSE_CALL(library, cusparseDestroyDnVec, from);
  CUSPARSE_CALL(library, cusparseDestroyDnVec, to);
  CUSPARSE_CALL(library, cusparseDestroySpMat, matrix);
  CUSPARSE_CALL(library, cusparseDestroy, handle);
  return seconds;
}

}  // namespace

std::vector<SpmvTimes> cuda_spmv(const Device& device, const Graph& graph, unsigned repetitions) {
  const Cusparse library;
  if (!library || graph.edges() > std::numeric_limits<std::int32_t>::max()) return {};
  Product product(device, graph);
  return {{"cuSPARSE SpMV, f64, CSR, algorithm 1",
           time_algorithm(library, device, graph, product, CUSPARSE_SPMV_CSR_ALG1, repetitions)},
          {"cuSPARSE SpMV, f64, CSR, algorithm 2",
           time_algorithm(library, device, graph, product, CUSPARSE_SPMV_CSR_ALG2, repetitions)}};
}

}  // namespace sluice::bench
